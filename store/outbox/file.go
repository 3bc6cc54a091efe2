package outbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"solarmirror/store/sqlitefile"
)

// ensurePrivateFile creates path and its directory when missing, and checks that they are private.
// SQLite creates the journal with the mode of the file.
func ensurePrivateFile(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("create the directory of the outbox: %w", sqlitefile.ExplainFile(dir, err))
	}
	if err := checkPrivate(path); err != nil {
		return err
	}
	// O_EXCL, so that an existing file is never opened: closing it would drop SQLite's locks on it.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("create the outbox: %w", sqlitefile.ExplainFile(path, err))
	}
	return f.Close()
}

func checkPrivate(path string) error {
	for _, name := range []string{filepath.Dir(path), path, path + "-journal", sendLogPath(path)} {
		if err := sqlitefile.CheckPrivate(name); err != nil {
			return err
		}
	}
	return nil
}
