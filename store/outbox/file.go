package outbox

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"solarmirror/store/sqlitefile"
)

// ensurePrivateFile creates path and its directory when missing, and checks that they are private.
// SQLite creates the journal with the mode of the file.
func ensurePrivateFile(path string) error {
	dir := filepath.Dir(path)
	if err := sqlitefile.MakeDir(dir, 0o700); err != nil {
		return fmt.Errorf("create the directory of the outbox: %w", sqlitefile.ExplainFile(dir, err))
	}
	if err := checkPrivate(path); err != nil {
		return err
	}
	if err := sqlitefile.CreateFile(path, 0o600); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("create the outbox: %w", sqlitefile.ExplainFile(path, err))
	}
	return nil
}

func checkPrivate(path string) error {
	for _, name := range []string{filepath.Dir(path), path, path + "-journal", sendLogPath(path)} {
		if err := sqlitefile.CheckPrivate(name); err != nil {
			return err
		}
	}
	return nil
}
