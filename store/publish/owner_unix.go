//go:build unix

package publish

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// giveTo gives a file the owner and group of another one, as far as the user may: whoever worked
// with the file that it replaces goes on doing so.
func giveTo(path string, like fs.FileInfo) error {
	owner, known := like.Sys().(*syscall.Stat_t)
	if !known {
		return nil
	}
	err := os.Chown(path, int(owner.Uid), int(owner.Gid))
	if errors.Is(err, fs.ErrPermission) {
		err = os.Chown(path, -1, int(owner.Gid))
	}
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}
