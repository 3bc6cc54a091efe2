package report

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"solarmirror/store"
	"solarmirror/store/publish"
)

// FileName is where a report goes unless another file is named.
const FileName = "solarmirror-report.html"

// ErrNoFile tells that a report was to be put in the place of something that is no file.
var ErrNoFile = errors.New("is there and no ordinary file; name another, or \"-\" for standard output")

// ErrNoPage: the file to replace is no HTML page. It may be the mirror.
var ErrNoPage = errors.New("is there and no HTML page, so it is left as it is; name another file, or remove it first")

// checkPage returns [ErrNoPage] for a file that neither begins as a report does nor is empty.
func checkPage(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at the page to replace: %w; name another file with --out", err)
	}
	defer f.Close()
	const doctype = "<!doctype html"
	start := make([]byte, len(doctype))
	n, err := io.ReadFull(f, start)
	switch {
	case errors.Is(err, io.EOF): // empty
		return nil
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("look at the page to replace: %w; name another file with --out", err)
	case !strings.EqualFold(string(start[:n]), doctype):
		return fmt.Errorf("%s %w", path, ErrNoPage)
	}
	return nil
}

// WriteFile writes the report to a file, in one step: until it is whole, what was there before stays.
// A file that is replaced gives the new one its mode.
func WriteFile(ctx context.Context, path string, mirror *store.Mirror, o Options) error {
	mode, err := publish.ModeOf(ctx, mirror.Reader(), o.FileMode)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf("report: %w", err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s %w", path, ErrNoFile)
	default:
		mode = info.Mode().Perm()
	}
	if err := checkPage(path); err != nil {
		return err
	}
	dir, prefix := filepath.Dir(path), "."+filepath.Base(path)+"."
	removeAbandoned(dir, prefix)
	part, err := os.CreateTemp(dir, prefix+"*")
	if err != nil {
		return fmt.Errorf("write %s: %w; --out names a file in a directory that is there and can be written to", path, err)
	}
	hold(part)
	err = errors.Join(Write(ctx, part, mirror, o), part.Chmod(mode), part.Sync(), part.Close())
	if err == nil {
		err = os.Rename(part.Name(), path)
	}
	if refused := (*RestrictionError)(nil); err != nil && !errors.As(err, &refused) {
		err = fmt.Errorf("write %s: %w", path, err)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part.Name()))
	}
	return nil
}

// removeAbandoned deletes the temporary files of killed processes. A running process holds a lock
// on its own.
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
