package publish

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// stampLayout is the form of a time in a file name: UTC, sortable.
const stampLayout = "20060102T150405.000Z"

// versions are the copies kept for one path: the newest at path, earlier ones beside it with the
// time of their publication in the name, as in solarmirror-20260304T050607.089Z.db.
type versions struct {
	path string
	keep int         // number of versions, including the newest
	mode fs.FileMode // of the newest; 0 is that of the one before
}

// stamped returns the path of the version published at a time.
func (v versions) stamped(at time.Time) string {
	extension := filepath.Ext(v.path)
	return strings.TrimSuffix(v.path, extension) + "-" + at.UTC().Format(stampLayout) + extension
}

// replace moves part to path. The version there becomes an earlier one, or is removed when keep is
// 1. At every moment a whole file exists at path.
func (v versions) replace(part string) error {
	info, err := os.Stat(v.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return os.Rename(part, v.path)
	case err != nil:
		return err
	}
	if v.keep > 1 {
		// The link may exist already: an earlier run was killed right after this step.
		if err := os.Link(v.path, v.stamped(info.ModTime())); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("keep the earlier copy, for which the disk must know hard links (else set [publish] keep_versions = 1): %w", err)
		}
	}
	if err := os.Chmod(part, cmp.Or(v.mode, info.Mode().Perm())); err != nil {
		return fmt.Errorf("give the copy the mode of the one before: %w", err)
	}
	// SQLite would read the journal or WAL of a program that wrote to the old copy as part of the
	// new one.
	if err := removeSideFiles(v.path); err != nil {
		return err
	}
	if err := os.Rename(part, v.path); err != nil {
		return err
	}
	return v.prune(v.keep - 1)
}

// earlier lists the versions beside path, oldest first.
func (v versions) earlier() ([]string, error) {
	entries, err := os.ReadDir(filepath.Dir(v.path))
	if err != nil {
		return nil, fmt.Errorf("look for earlier copies: %w", err)
	}
	extension := filepath.Ext(v.path)
	prefix := strings.TrimSuffix(filepath.Base(v.path), extension) + "-"
	var list []string
	for _, entry := range entries {
		stamp, ours := strings.CutPrefix(strings.TrimSuffix(entry.Name(), extension), prefix)
		if _, err := time.Parse(stampLayout, stamp); ours && err == nil && strings.HasSuffix(entry.Name(), extension) {
			list = append(list, filepath.Join(filepath.Dir(v.path), entry.Name()))
		}
	}
	slices.Sort(list)
	return list, nil
}

// prune removes the oldest versions beside path until keep of them are left.
func (v versions) prune(keep int) error {
	list, err := v.earlier()
	if err != nil {
		return err
	}
	for len(list) > max(0, keep) {
		if err := removeDatabase(list[0]); err != nil {
			return fmt.Errorf("remove an earlier copy: %w", err)
		}
		list = list[1:]
	}
	return nil
}
