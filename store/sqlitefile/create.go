package sqlitefile

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
)

// CreateFile creates an empty file with exactly the mode, whatever the umask; 0 is 0600. It never
// opens a file that exists, which is [fs.ErrExist]: closing it would drop SQLite's locks on it.
func CreateFile(path string, mode fs.FileMode) error {
	mode = cmp.Or(mode, 0o600)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(mode), f.Close())
}

// MakeDir creates the directory at path with the mode, whatever the umask. It creates missing
// parents with mode 0755, so that users reach the files below that they may read. Directories that
// exist keep their mode.
func MakeDir(path string, mode fs.FileMode) error {
	if isDir(path) {
		return nil
	}
	if parent := filepath.Dir(path); parent != path {
		if err := MakeDir(parent, 0o755); err != nil {
			return err
		}
	}
	if err := os.Mkdir(path, mode); err != nil {
		if isDir(path) { // another process was faster
			return nil
		}
		return err
	}
	made, err := os.Stat(path)
	if err != nil {
		return err
	}
	return os.Chmod(path, made.Mode()|mode) // a setgid bit of the parent stays
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// WALConnector opens connections that leave -wal and -shm in place when they are the last to close.
// Users who may only read the three files can then read the database at any time. Without -shm a
// reader has to create it and owns it, and the writer may not be able to write to it.
type WALConnector struct{ driver.Connector }

// Connect opens a connection.
func (c WALConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	control, ok := conn.(sqlite.FileControl)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the SQLite driver's %T takes no file control", conn), conn.Close())
	}
	if _, err := control.FileControlPersistWAL("main", 1); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}
