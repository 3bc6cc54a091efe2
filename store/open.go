package store

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
)

// bindLabel is the name under which sqlx knows SQLite's placeholders; it does not know the driver's own name.
const bindLabel = "sqlite3"

var readerPragmas = []string{"busy_timeout(10000)", "query_only(ON)", "temp_store(MEMORY)"}

// MustExist returns [ErrNoDatabase] when there is no file at path: for commands that write to a mirror but have no business making
// one.
func MustExist(path string) error {
	_, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return noDatabase(path)
	case err != nil:
		return fmt.Errorf("open mirror: %w", err)
	}
	return nil
}

func noDatabase(path string) error {
	return fmt.Errorf("%w at %s: run `solarmirror sync` first, or `solarmirror demo` to try without a platform", ErrNoDatabase, path)
}

// dsn is the driver's name for the file. Without "file:" the driver would ignore mode=ro; and a pragma given any
// other way would reach one connection of a pool only.
func dsn(path string, pragmas []string) string {
	file := url.URL{Path: filepath.ToSlash(filepath.Clean(path))}
	return "file:" + file.EscapedPath() + "?" + url.Values{"_pragma": pragmas}.Encode()
}
