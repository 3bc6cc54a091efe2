package sqlitefile

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Explain wraps a driver error about the file at path in one of this package's errors, with the
// next thing to do. It returns an explained error, and one that is not the driver's, unchanged.
func Explain(path string, err error) error {
	var driver *sqlite.Error
	if !errors.As(err, &driver) || Explained(err) {
		return err
	}
	switch driver.Code() & 0xff {
	case sqlite3.SQLITE_CORRUPT: // SQLite reports an unreadable disk this way too
		return fmt.Errorf("%w: %s: stop everything that writes to it, see whether the disk is failing (`dmesg`), and put the last backup back: `solarmirror restore --from DIR`; without one, move it away with its -wal and -shm and run `solarmirror sync` to read everything again (%w)", ErrCorrupt, path, err)
	case sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("%w: %s: move it away or set [mirror] path to another file, then run `solarmirror sync`; if it was the mirror, put the last backup back: `solarmirror restore --from DIR` (%w)", ErrNotMirror, path, err)
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("%w: %s: make room and run the same command again; everything committed before is kept (%w)", ErrDiskFull, path, err)
	case sqlite3.SQLITE_BUSY:
		return fmt.Errorf("%w: %s: another program has it locked; end its transaction and run the same command again (%w)", ErrBusy, path, err)
	case sqlite3.SQLITE_IOERR:
		return fmt.Errorf("%w: the system refused to %s %s: %s; everything committed before is kept (%w)", ErrIO, refusedOperation(driver.Code()), path, diskRemedy, err)
	case sqlite3.SQLITE_READONLY:
		if driver.Code() == sqlite3.SQLITE_READONLY_DBMOVED {
			return fmt.Errorf("%w: %s was moved or replaced while it was open: run the same command again (%w)", ErrNoAccess, path, err)
		}
		return fmt.Errorf("%w: %s may not be written: %s (%w)", ErrNoAccess, path, accessRemedy(path), err)
	case sqlite3.SQLITE_CANTOPEN:
		return fmt.Errorf("%w: %s, or a file beside it, cannot be opened: %s; `ulimit -n` shows whether too few files may be open at once (%w)", ErrNoAccess, path, accessRemedy(path), err)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// diskRemedy is the remedy for a refused read or write. SQLite does not report the cause.
const diskRemedy = "look for a failing disk, a quota or a limit of file size (`dmesg`, `quota`, `ulimit -f`), run `solarmirror doctor`, then the same command again"

// accessRemedy is the remedy for a database that this user cannot open or write.
func accessRemedy(path string) string {
	return fmt.Sprintf("let this user write to it, to what lies beside it under its name and to the directory (`ls -la %s`), on a file system that is not read-only, and run the same command again; who only reads needs to read it and what lies beside it ([mirror] file_mode lets the group), or a copy made with `solarmirror publish`", filepath.Dir(path))
}

// Explained reports whether err wraps one of this package's errors already.
func Explained(err error) bool {
	return slices.ContainsFunc([]error{ErrCorrupt, ErrNotMirror, ErrDiskFull, ErrBusy, ErrIO, ErrNoAccess}, func(ours error) bool {
		return errors.Is(err, ours)
	})
}

// refusedOperation names the operation that an I/O error code stands for.
func refusedOperation(code int) string {
	switch code {
	case sqlite3.SQLITE_IOERR_READ, sqlite3.SQLITE_IOERR_SHORT_READ:
		return "read"
	case sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC:
		return "sync"
	case sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_TRUNCATE, sqlite3.SQLITE_IOERR_SHMSIZE:
		return "write"
	}
	return "work on"
}

// ExplainFile wraps an error of the operating system about path, which is a directory or a file
// that is not a database, as [Explain] does.
func ExplainFile(path string, err error) error {
	is := func(causes ...syscall.Errno) bool {
		return slices.ContainsFunc(causes, func(cause syscall.Errno) bool { return errors.Is(err, cause) })
	}
	switch {
	case is(syscall.ENOSPC):
		return fmt.Errorf("%w: make room and run the same command again (%w)", ErrDiskFull, err)
	case is(syscall.EACCES, syscall.EPERM, syscall.EROFS):
		return fmt.Errorf("%w: %s (%w)", ErrNoAccess, accessRemedy(path), err)
	case is(syscall.EMFILE, syscall.ENFILE):
		return fmt.Errorf("too few files may be open at once: raise the limit (`ulimit -n`) and run the same command again (%w)", err)
	case is(syscall.EIO, syscall.EFBIG, syscall.EDQUOT):
		return fmt.Errorf("%w: %s (%w)", ErrIO, diskRemedy, err)
	}
	return err
}

// NothingToRollBack reports whether err is SQLite's answer to a ROLLBACK outside a transaction.
// SQLite may roll back by itself, for example when the disk is full. The error has no code of its
// own.
func NothingToRollBack(err error) bool {
	var driver *sqlite.Error
	return errors.As(err, &driver) && driver.Code() == sqlite3.SQLITE_ERROR && strings.Contains(driver.Error(), "no transaction is active")
}
