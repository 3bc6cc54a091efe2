package sqlitefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// FileState describes the files of a database and the free disk space.
type FileState struct {
	Dir            string // absolute; the file's directory or its nearest existing parent
	Exists         bool   // the database file exists
	Size           int64  // of the database file, in bytes
	WAL            int64  // of the -wal file, in bytes
	HasWAL, HasSHM bool   // the -wal, the -shm file exists
	Free           int64  // bytes available to unprivileged users on Dir's file system
	FreeKnown      bool   // false where the system does not report Free
}

// ReadFileState returns the state of the database at path. It opens no file: closing one would drop
// the locks that SQLite holds on it for this process.
func ReadFileState(path string) (FileState, error) {
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return FileState{}, err
	}
	if dir, err = existingDir(dir); err != nil {
		return FileState{}, fmt.Errorf("look for the directory of %s: %w", path, err)
	}
	f := FileState{Dir: dir}
	if f.Exists, f.Size, err = fileSize(path); err != nil {
		return FileState{}, err
	}
	if f.HasWAL, f.WAL, err = fileSize(path + "-wal"); err != nil {
		return FileState{}, err
	}
	if f.HasSHM, _, err = fileSize(path + "-shm"); err != nil {
		return FileState{}, err
	}
	if f.Free, f.FreeKnown, err = FreeBytes(dir); err != nil {
		return FileState{}, fmt.Errorf("look at the free disk of %s: %w", dir, err)
	}
	return f, nil
}

func fileSize(path string) (exists bool, size int64, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, 0, nil
	case err != nil:
		return false, 0, fmt.Errorf("look at the size of %s: %w", path, err)
	}
	return true, info.Size(), nil
}

// existingDir returns dir or its nearest existing parent.
func existingDir(dir string) (string, error) {
	for {
		_, err := os.Stat(dir)
		if err == nil || !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return dir, err
		}
		dir = filepath.Dir(dir)
	}
}
