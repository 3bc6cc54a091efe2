//go:build linux || darwin || freebsd

package sqlitefile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// SQLite's locks are byte ranges of the file. These are all of them: a connection with any lock
// holds one of these bytes.
const firstLockByte, lockByteCount = 0x40000000, 512

// lockBytes takes SQLite's exclusive lock on a file that SQLite itself may be unable to read;
// [ErrBusy] when another process has the database open in WAL mode, or a transaction in another.
func lockBytes(f *os.File) error {
	err := syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &syscall.Flock_t{
		Type: syscall.F_WRLCK, Whence: io.SeekStart, Start: firstLockByte, Len: lockByteCount,
	})
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) {
		return ErrBusy
	}
	if err != nil {
		return fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return nil
}
