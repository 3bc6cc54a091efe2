package sqlitefile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// lockPoll is how often a waiting AcquireLock tries again.
const lockPoll = 200 * time.Millisecond

// Holder is who holds the lock, as the lock file says in one line of JSON.
type Holder struct {
	PID       int       `json:"pid"`
	Host      string    `json:"host"`
	Command   string    `json:"command"`
	StartedAt time.Time `json:"started_at"`
}

// Lock is the right to write to a mirror. The operating system takes it back when the process ends,
// however it ends, so a lock file left behind holds nobody up. The file is never deleted: another
// process might just have opened it.
type Lock struct {
	file *flock.Flock
}

// AcquireLock takes the lock of the database at dbPath, creating the directory and the lock file
// beside it. command is what others are told. When another process has it: without wait
// [*LockedError]; with wait it tries until ctx ends. Those who wait take turns: whoever gives the
// lock back and waits for it again comes after who waits already.
func AcquireLock(ctx context.Context, dbPath, command string, wait bool) (*Lock, error) {
	path := dbPath + ".lock"
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("create the directory of the lock: %w", ExplainFile(filepath.Dir(path), err))
	}
	lock := &Lock{file: flock.New(path, flock.SetPermissions(0o644))}
	if err := lock.take(ctx, wait); err != nil {
		return nil, errors.Join(err, lock.file.Close())
	}
	if err := lock.sign(command); err != nil {
		return nil, errors.Join(fmt.Errorf("sign the lock %s: %w", path, ExplainFile(path, err)), lock.file.Close())
	}
	return lock, nil
}

func (l *Lock) take(ctx context.Context, wait bool) error {
	if wait {
		if err := l.queue(ctx); err != nil {
			return fmt.Errorf("wait for the lock %s: %w", l.file.Path(), ExplainFile(l.file.Path(), err))
		}
		return nil
	}
	taken, err := l.file.TryLock()
	if err != nil {
		return fmt.Errorf("take the lock %s: %w", l.file.Path(), ExplainFile(l.file.Path(), err))
	}
	if !taken {
		return &LockedError{Path: l.file.Path(), Holder: readHolder(l.file.Path())}
	}
	return nil
}

// queue waits at the head of the queue, which is a lock of its own: who wants the lock back cannot
// take it from under one who asks for it only every so often.
func (l *Lock) queue(ctx context.Context) error {
	head := flock.New(l.file.Path()+".next", flock.SetPermissions(0o644))
	if _, err := head.TryLockContext(ctx, lockPoll); err != nil {
		return errors.Join(err, head.Close())
	}
	_, err := l.file.TryLockContext(ctx, lockPoll)
	return errors.Join(err, head.Close())
}

func (l *Lock) sign(command string) error {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	line, err := json.Marshal(Holder{PID: os.Getpid(), Host: host, Command: command, StartedAt: time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	return os.WriteFile(l.file.Path(), append(line, '\n'), 0o644)
}

// Release gives the lock back.
func (l *Lock) Release() error {
	// The name goes first: nobody shall be told of a holder that has left.
	if err := os.Truncate(l.file.Path(), 0); err != nil {
		return errors.Join(fmt.Errorf("release the lock: %w", err), l.file.Close())
	}
	if err := l.file.Close(); err != nil {
		return fmt.Errorf("release the lock %s: %w", l.file.Path(), err)
	}
	return nil
}

// readHolder returns the zero Holder when the file says nothing sensible: it is written a moment
// after the lock is taken.
func readHolder(path string) Holder {
	text, err := os.ReadFile(path)
	if err != nil {
		return Holder{}
	}
	var h Holder
	if err := json.Unmarshal(bytes.TrimSpace(text), &h); err != nil {
		return Holder{}
	}
	return h
}
