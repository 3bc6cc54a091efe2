package report

import (
	"context"
	"errors"
	"fmt"
	"io"

	"solarmirror/cmd/internal/atomicfile"
	"solarmirror/store"
	"solarmirror/store/publish"
)

// FileName is where a report goes unless another file is named.
const FileName = "solarmirror-report.html"

// ErrNoFile tells that a report was to be put in the place of something that is no file.
var ErrNoFile = errors.New("is there and no ordinary file; name another, or \"-\" for standard output")

// ErrNoPage: the file to replace is no HTML page. It may be the mirror.
var ErrNoPage = errors.New("is there and no HTML page, so it is left as it is; name another file, or remove it first")

// WriteFile writes the report to a file, in one step: until it is whole, what was there before stays.
// A file that is replaced gives the new one its mode.
func WriteFile(ctx context.Context, path string, mirror *store.Mirror, o Options) error {
	mode, err := publish.ModeOf(ctx, mirror.Reader(), o.FileMode)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	switch mode, err = atomicfile.Mode(path, mode); {
	case errors.Is(err, atomicfile.ErrNotFile):
		return fmt.Errorf("%s %w", path, ErrNoFile)
	case err != nil:
		return fmt.Errorf("report: %w", err)
	}
	switch page, err := atomicfile.Begins(path, "<!doctype html", ".html", ".htm"); {
	case err != nil:
		return fmt.Errorf("look at the page to replace: %w; name another file with --out", err)
	case !page:
		return fmt.Errorf("%s %w", path, ErrNoPage)
	}
	err = atomicfile.Write(path, mode, func(w io.Writer) error { return Write(ctx, w, mirror, o) })
	if refused := (*RestrictionError)(nil); err != nil && !errors.As(err, &refused) {
		err = fmt.Errorf("write %s: %w", path, err)
	}
	return err
}
