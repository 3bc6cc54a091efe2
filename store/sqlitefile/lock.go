package sqlitefile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// lockPoll is the interval at which a waiting AcquireLock tries again.
const lockPoll = 200 * time.Millisecond

// Holder describes the process that holds a lock. The lock file contains it as one line of JSON.
type Holder struct {
	PID       int       `json:"pid"`
	Host      string    `json:"host"`
	Command   string    `json:"command"`
	StartedAt time.Time `json:"started_at"`
}

// Lock is an exclusive file lock beside a database. The kernel releases it when the process exits,
// even after kill -9, so a leftover lock file blocks nobody. The lock file is never deleted,
// because another process might just have opened it.
type Lock struct {
	file *flock.Flock
}

// AcquireLock takes the lock of the database at dbPath. It creates the directory and the lock file
// when missing. command names the holder to other processes. When another process holds the lock,
// AcquireLock returns [*LockedError] without wait, and with wait tries until ctx ends. Waiting
// processes take turns: one that releases the lock and waits for it again comes after those already
// waiting.
func AcquireLock(ctx context.Context, dbPath, command string, wait bool) (*Lock, error) {
	path := dbPath + ".lock"
	if err := MakeDir(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("create the directory of the lock: %w", ExplainFile(filepath.Dir(path), err))
	}
	// Opening a named pipe would wait for a writer.
	for _, name := range []string{dbPath, path, path + ".next"} {
		if info, err := os.Stat(name); err == nil && info.Mode()&fs.ModeNamedPipe != 0 {
			return nil, fmt.Errorf("%s is a named pipe and no file; move it away, or name another path", name)
		}
	}
	lock := &Lock{file: flock.New(path, flock.SetPermissions(0o644))}
	if err := lock.take(ctx, wait); err != nil {
		return nil, errors.Join(err, lock.file.Close())
	}
	if err := lock.writeHolder(command); err != nil {
		return nil, errors.Join(fmt.Errorf("sign the lock %s: %w", path, ExplainFile(path, err)), lock.file.Close())
	}
	return lock, nil
}

// Locked reports whether another process holds the lock of the database at dbPath. It creates no
// file. An AcquireLock without wait that runs at the same moment may fail.
func Locked(dbPath string) (bool, error) {
	path := dbPath + ".lock"
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	probe := flock.New(path)
	free, err := probe.TryRLock()
	if err = errors.Join(err, probe.Close()); err != nil {
		return false, fmt.Errorf("look at the lock %s: %w", path, ExplainFile(path, err))
	}
	return !free, nil
}

func (l *Lock) take(ctx context.Context, wait bool) error {
	if wait {
		if err := l.waitTurn(ctx); err != nil {
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

// waitTurn takes the lock while it holds a second one, the head of the queue. Without the queue, a
// process that releases the lock and takes it again at once would always be faster than those that
// poll.
func (l *Lock) waitTurn(ctx context.Context) error {
	head := flock.New(l.file.Path()+".next", flock.SetPermissions(0o644))
	if _, err := head.TryLockContext(ctx, lockPoll); err != nil {
		return errors.Join(err, head.Close())
	}
	_, err := l.file.TryLockContext(ctx, lockPoll)
	return errors.Join(err, head.Close())
}

// writeHolder writes this process into the lock file.
func (l *Lock) writeHolder(command string) error {
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

// Release releases the lock.
func (l *Lock) Release() error {
	// Before the lock is free, so that no other process reads a holder that has left.
	if err := os.Truncate(l.file.Path(), 0); err != nil {
		return errors.Join(fmt.Errorf("release the lock: %w", err), l.file.Close())
	}
	if err := l.file.Close(); err != nil {
		return fmt.Errorf("release the lock %s: %w", l.file.Path(), err)
	}
	return nil
}

// readHolder returns the zero Holder when it cannot read one: the holder writes the file a moment
// after it takes the lock.
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
