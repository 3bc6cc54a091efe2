package sqlitefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ModeError: other users than the owner may read or write a private file or directory.
type ModeError struct {
	Path string
	Mode fs.FileMode // as found
	Want fs.FileMode // as required
}

func (e *ModeError) Error() string {
	return fmt.Sprintf("%s is open to other users (mode %04o), and passwords are kept there: run `chmod %o %s`", e.Path, e.Mode.Perm(), e.Want, e.Path)
}

// CheckPrivate returns a [*ModeError] when users other than the owner have any permission on the
// file or directory at path. It returns nil when path does not exist.
func CheckPrivate(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	want := fs.FileMode(0o600)
	if info.IsDir() {
		want = 0o700
	}
	if info.Mode().Perm()&0o077 != 0 {
		return &ModeError{Path: path, Mode: info.Mode(), Want: want}
	}
	return nil
}

// SyncDir syncs a directory, so that the renames in it survive a power cut.
func SyncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
