package sqlitefile

import (
	"errors"
	"fmt"
	"time"
)

// Causes of a failure. The errors that wrap them name the file and the next thing to do.
var (
	// ErrNoDatabase: there is no mirror at the path.
	ErrNoDatabase = errors.New("no database")
	// ErrNotMirror: the file is not a mirror. It was not changed.
	ErrNotMirror = errors.New("not a solarmirror database")
	// ErrCorrupt: SQLite found the file damaged. No program should write to it any more.
	ErrCorrupt = errors.New("database is damaged")
	// ErrDiskFull: the disk had no room for a write. The transaction was rolled back.
	ErrDiskFull = errors.New("disk is full")
	// ErrIO: the system refused a read or write for another reason than a full disk. The
	// transaction was rolled back.
	ErrIO = errors.New("input/output error")
	// ErrNoAccess: this user cannot open or write the file or its directory.
	ErrNoAccess = errors.New("no access")
	// ErrBusy: another program kept the file locked for longer than busy_timeout.
	ErrBusy = errors.New("database is busy")
)

// NewerError: a newer solarmirror wrote the file.
type NewerError struct {
	Path       string
	Have, Know int // schema versions: the file's, and the newest that this binary knows
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("%s was written by a newer solarmirror (schema %d; this one knows %d): install the newer version, or set [mirror] path to another file",
		e.Path, e.Have, e.Know)
}

// OlderError: the file must be migrated before this binary can read it.
type OlderError struct {
	Path       string
	Have, Want int // schema versions: the file's, and this binary's
}

func (e *OlderError) Error() string {
	return fmt.Sprintf("%s was written by an older solarmirror (schema %d; this one needs %d): run `solarmirror sync` once, which brings it up to date",
		e.Path, e.Have, e.Want)
}

// NoRoomError: a change or copy of the whole file was not started, because the disk might not have
// room for it. It wraps [ErrDiskFull].
type NoRoomError struct {
	Doing      string // begins the message: "bringing … up to date may make it grow by"
	Need, Free int64  // bytes
}

func (e *NoRoomError) Error() string {
	return fmt.Sprintf("%s %d MB, and the disk has %d MB free: make room, then run the same command again",
		e.Doing, megabytes(e.Need), megabytes(e.Free))
}

func (e *NoRoomError) Unwrap() error { return ErrDiskFull }

// megabytes rounds up.
func megabytes(bytes int64) int64 { return (bytes + 999_999) / 1_000_000 }

// LockedError: another process holds the lock.
type LockedError struct {
	Path   string // the lock file
	Holder Holder // zero when the lock file does not name it
}

func (e *LockedError) Error() string {
	who := "another run"
	if e.Holder.PID != 0 {
		who = fmt.Sprintf("`solarmirror %s` (process %d on %s, since %s)",
			e.Holder.Command, e.Holder.PID, e.Holder.Host, e.Holder.StartedAt.UTC().Format(time.RFC3339))
	}
	return fmt.Sprintf("%s is held by %s: try again when it has ended, or add --wait", e.Path, who)
}
