package alerts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"solarmirror/cmd/internal/atomicfile"
	"solarmirror/store/sqlitefile"
)

// stateFormat tells our files from others, and from those of other versions.
const stateFormat = "solarmirror alerts 1"

// Queued is a message on its way.
type Queued struct {
	Number      int64
	At          time.Time
	Title, Text string
	Sent        []string // the identities of the addresses that have it
}

// PathOf is the state file beside a mirror.
func PathOf(mirror string) string { return mirror + ".alerts" }

// maxState is the size of the largest state file that is read, in bytes.
const maxState = 4 << 20

// errForeign is the reason to begin anew.
var errForeign = errors.New("is damaged or not of this program")

// readState reads the state file. A missing one is an empty state.
func readState(path string) (*State, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // of a named pipe, os.Open waits for a writer
	if errors.Is(err, fs.ErrNotExist) {
		return &State{Format: stateFormat}, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file; move it away", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxState))
	if err != nil {
		return nil, err
	}
	s := &State{}
	if json.Unmarshal(text, s) != nil || s.Format != stateFormat {
		return &State{Format: stateFormat}, errForeign
	}
	return s, nil
}

// write replaces the file in one step.
func (s *State) write(path string) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, 0o600, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// lockTime is how long the file is waited for; whoever has it keeps it for milliseconds.
const lockTime = 3 * time.Second

// update changes the state, and the file unless there is none. Without the file it goes on in
// memory: a state that is not kept must not keep a message from being sent.
func (w *Watcher) update(change func(*State)) {
	if w.Path == "" {
		change(w.memory)
		w.publish()
		return
	}
	lock := flock.New(w.Path+".lock", flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(context.Background(), lockTime)
	defer cancel()
	defer lock.Close()
	err := sqlitefile.MakeDir(filepath.Dir(w.Path), 0o755)
	if info, e := os.Lstat(lock.Path()); err == nil && e == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file; move it away", lock.Path())
	}
	if err == nil {
		_, err = lock.TryLockContext(ctx, 20*time.Millisecond)
	}
	if err == nil {
		var kept *State
		if kept, err = readState(w.Path); errors.Is(err, errForeign) {
			w.Log.Warn().Str("path", w.Path).Msg("the file of the alerts is damaged or not of this program: it is begun anew, and an incident may be told twice")
			err = nil
		}
		if kept != nil {
			w.memory = kept
		}
	}
	before, _ := json.Marshal(w.memory)
	change(w.memory)
	after, _ := json.Marshal(w.memory)
	if err == nil && string(before) != string(after) {
		err = w.memory.write(w.Path)
	}
	if err != nil && (w.fileErr == nil || w.fileErr.Error() != err.Error()) {
		w.Log.Warn().Err(err).Str("path", w.Path).Msg("what was alerted cannot be kept: after a restart it may be told twice")
	}
	w.fileErr = err
	w.publish()
}

// publish shows the open incidents to other goroutines.
func (w *Watcher) publish() {
	open := w.memory.Open()
	w.open.Store(&open)
}
