// Package atomicfile replaces one file in one step. The new file is written beside the old one,
// under a hidden name, with mode 0600, and renamed when it is whole. Until then what was there
// before stays. A process that is killed leaves the hidden file; the next [Write] to the same path
// removes it. A running process holds a lock on its own.
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"solarmirror/store/sqlitefile"
)

// ErrNotFile tells that the path names something that is no ordinary file.
var ErrNotFile = errors.New("is there and no ordinary file")

// Mode returns the mode of the file to write: that of the one it replaces, or fresh. An error may
// be [ErrNotFile].
func Mode(path string, fresh fs.FileMode) (fs.FileMode, error) {
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return fresh, nil
	case err != nil:
		return 0, err
	case !info.Mode().IsRegular():
		return 0, ErrNotFile
	default:
		return info.Mode().Perm(), nil
	}
}

// Begins reports whether the file at path is missing, begins with start in small or capital letters,
// or is empty and has one of the extensions. An empty file of another name may be a database's lock
// or log.
func Begins(path, start string, extensions ...string) (bool, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	found := make([]byte, len(start))
	n, err := io.ReadFull(f, found)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, err
	}
	if n == 0 {
		return slices.Contains(extensions, strings.ToLower(filepath.Ext(path))), nil
	}
	return strings.EqualFold(string(found[:n]), start), nil
}

// Write replaces the file at path by what write writes.
func Write(path string, mode fs.FileMode, write func(io.Writer) error) error {
	dir, prefix := filepath.Dir(path), "."+filepath.Base(path)+"."
	removeAbandoned(dir, prefix)
	part, err := os.CreateTemp(dir, prefix+"*")
	if err != nil {
		return fmt.Errorf("%w; name a file in a directory that is there and can be written to", err)
	}
	hold(part)
	err = errors.Join(write(part), part.Chmod(mode), part.Sync(), part.Close())
	if err == nil {
		err = os.Rename(part.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part.Name()))
	}
	_ = sqlitefile.SyncDir(dir) // not every system can; then the file system's own order must do
	return nil
}

// removeAbandoned deletes the temporary files of killed processes.
func removeAbandoned(dir, prefix string) {
	entries, _ := os.ReadDir(dir) // a directory that cannot be read is an error of CreateTemp
	for _, entry := range entries {
		random, ours := strings.CutPrefix(entry.Name(), prefix)
		if !ours || !entry.Type().IsRegular() || random == "" || strings.Trim(random, "0123456789") != "" {
			continue
		}
		name := filepath.Join(dir, entry.Name())
		f, err := os.Open(name)
		if err != nil {
			continue
		}
		if hold(f) {
			_ = os.Remove(name)
		}
		_ = f.Close()
	}
}
