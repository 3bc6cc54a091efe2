package sqlitefile

import (
	"errors"
	"fmt"
	"time"
)

// What can be wrong with the file. The errors that wrap these name the file and what to do about
// it.
var (
	// ErrNoDatabase: there is no mirror yet.
	ErrNoDatabase = errors.New("no database")
	// ErrNotMirror: the file is something else, and was left as it is.
	ErrNotMirror = errors.New("not a solarmirror database")
	// ErrCorrupt: SQLite found the file damaged. Nothing should write to it any more.
	ErrCorrupt = errors.New("database is damaged")
	// ErrDiskFull: there was no room for the write, which was undone.
	ErrDiskFull = errors.New("disk is full")
	// ErrIO: the system refused to read or write, and not for want of room. What was being written
	// was undone.
	ErrIO = errors.New("input/output error")
	// ErrNoAccess: the file, or its directory, cannot be opened or written by this user.
	ErrNoAccess = errors.New("no access")
	// ErrBusy: another program kept the file locked longer than we wait.
	ErrBusy = errors.New("database is busy")
)

// NewerError says that the file was written by a newer solarmirror.
type NewerError struct {
	Path       string
	Have, Know int // schema version of the file, and the newest this binary knows
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("%s was written by a newer solarmirror (schema %d; this one knows %d): install the newer version, or set [mirror] path to another file",
		e.Path, e.Have, e.Know)
}

// OlderError says that the file must be migrated before this binary can read it.
type OlderError struct {
	Path       string
	Have, Want int // schema version of the file, and that of this binary
}

func (e *OlderError) Error() string {
	return fmt.Sprintf("%s was written by an older solarmirror (schema %d; this one needs %d): run `solarmirror sync` once, which brings it up to date",
		e.Path, e.Have, e.Want)
}

// NoRoomError says that a change or copy of the whole file was not begun, since the disk might not
// have room for it. It is an [ErrDiskFull].
type NoRoomError struct {
	Doing      string // what may need the room: "bringing … up to date may make it grow by"
	Need, Free int64  // bytes
}

func (e *NoRoomError) Error() string {
	return fmt.Sprintf("%s %d MB, and the disk has %d MB free: make room, then run the same command again",
		e.Doing, megabytes(e.Need), megabytes(e.Free))
}

func (e *NoRoomError) Unwrap() error { return ErrDiskFull }

// megabytes rounds up.
func megabytes(bytes int64) int64 { return (bytes + 999_999) / 1_000_000 }

// LockedError says that another run has the mirror.
type LockedError struct {
	Path   string // the lock file
	Holder Holder // zero when the holder has not said who it is
}

func (e *LockedError) Error() string {
	who := "another run"
	if e.Holder.PID != 0 {
		who = fmt.Sprintf("`solarmirror %s` (process %d on %s, since %s)",
			e.Holder.Command, e.Holder.PID, e.Holder.Host, e.Holder.StartedAt.UTC().Format(time.RFC3339))
	}
	return fmt.Sprintf("%s is held by %s: try again when it has ended, or add --wait", e.Path, who)
}
