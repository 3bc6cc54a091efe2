package export

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"solarmirror/store/sqlitefile"
)

// stagingName is the directory of files that are not yet part of the set. Readers of partitioned tables ignore names with a dot.
const stagingName = ".staging"

// stage is an export under way: the set of before, and the files that will replace some of it.
type stage struct {
	dir    *os.Root
	mode   fs.FileMode       // of new files
	before map[string]File   // what can be kept, by path
	listed []string          // every file an earlier export may have left
	staged map[string]string // files to be, and where they are now
	kept   int
}

func newStage(dir *os.Root, before *Manifest, mode fs.FileMode) (*stage, error) {
	s := &stage{dir: dir, mode: mode, before: before.files(), staged: map[string]string{}}
	s.listed = append(slices.Sorted(maps.Keys(s.before)), before.Stale...)
	if before.State != complete || before.Version != manifestVersion {
		clear(s.before)
	}
	if err := errors.Join(dir.RemoveAll(stagingName), dir.Mkdir(stagingName, 0o700)); err != nil {
		return nil, fmt.Errorf("empty %s: %w", stagingName, err)
	}
	return s, nil
}

// bring returns the file of a part: the one there is, where it is still right, or a new one, staged.
func (s *stage) bring(ctx context.Context, from *source, p part, f Format) (File, error) {
	old, known := s.before[p.path]
	if known {
		var err error
		if known, err = exists(s.dir, old); err != nil {
			return File{}, err
		}
	}
	if known && p.madeFrom != "" && old.MadeFrom == p.madeFrom {
		s.kept++
		return old, nil
	}
	temporary := path.Join(stagingName, fmt.Sprintf("%d.tmp", len(s.staged)))
	file, err := s.write(ctx, temporary, from, p, f)
	if err != nil {
		return File{}, err
	}
	if known && old.SHA256 == file.SHA256 {
		s.kept++
		return file, s.dir.Remove(filepath.FromSlash(temporary))
	}
	s.staged[p.path] = temporary
	return file, nil
}

// write writes the rows of a part to a file.
func (s *stage) write(ctx context.Context, name string, from *source, p part, f Format) (file File, err error) {
	out, err := s.dir.Create(filepath.FromSlash(name))
	if err != nil {
		return File{}, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	file = File{Path: p.path, Month: p.month, MadeFrom: p.madeFrom}
	digest, counter := sha256.New(), &counter{}
	buffered := bufio.NewWriterSize(io.MultiWriter(out, digest, counter), 1<<18)
	rows := f.encoder(buffered, p.table)
	for row, err := range from.rows(ctx, p) {
		if err != nil {
			return File{}, err
		}
		if err := rows.row(row); err != nil {
			return File{}, fmt.Errorf("row %d: %w", file.Rows+1, err)
		}
		file.Rows++
	}
	if err := errors.Join(rows.close(), buffered.Flush()); err != nil {
		return File{}, err
	}
	file.Bytes, file.SHA256 = counter.bytes, hex.EncodeToString(digest.Sum(nil))
	return file, nil
}

type counter struct{ bytes int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.bytes += int64(len(p))
	return len(p), nil
}

// publish puts the new set in the place of the old one, and returns how many files it removed. Between the two manifests readers may see
// files of both.
func (s *stage) publish(m *Manifest) (removed int, err error) {
	files := m.files()
	for _, name := range s.listed {
		if _, stays := files[name]; !stays {
			m.Stale = append(m.Stale, name)
		}
	}
	for _, temporary := range s.staged {
		if err := s.settle(temporary); err != nil {
			return 0, err
		}
	}
	m.State = publishing
	if err := s.writeManifest(m); err != nil {
		return 0, err
	}
	directories := map[string]bool{".": true}
	for _, name := range slices.Sorted(maps.Keys(s.staged)) {
		if err := sqlitefile.MakeDir(filepath.Join(s.dir.Name(), filepath.FromSlash(path.Dir(name))), 0o755); err != nil {
			return 0, err
		}
		if err := s.place(s.staged[name], name); err != nil {
			return 0, err
		}
		for parent := path.Dir(name); !directories[parent]; parent = path.Dir(parent) {
			directories[parent] = true
		}
	}
	if removed, err = s.removeStale(m.Stale); err != nil {
		return removed, err
	}
	for name := range directories {
		if err := s.settleNames(name); err != nil {
			return removed, err
		}
	}
	m.State, m.Stale = complete, nil
	return removed, errors.Join(s.writeManifest(m), s.dir.Remove(stagingName))
}

// removeStale removes files, and directories that are empty without them.
func (s *stage) removeStale(names []string) (removed int, err error) {
	for _, name := range names {
		switch err := s.dir.Remove(filepath.FromSlash(name)); {
		case err == nil:
			removed++
		case !errors.Is(err, fs.ErrNotExist):
			return removed, err
		}
		for parent := path.Dir(name); parent != "."; parent = path.Dir(parent) {
			if s.dir.Remove(filepath.FromSlash(parent)) != nil { // not empty, or gone
				break
			}
		}
	}
	return removed, nil
}

func (s *stage) writeManifest(m *Manifest) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	temporary := path.Join(stagingName, ManifestName)
	if err := s.dir.WriteFile(filepath.FromSlash(temporary), append(text, '\n'), 0o600); err != nil {
		return err
	}
	if err := s.settle(temporary); err != nil {
		return err
	}
	if err := s.place(temporary, ManifestName); err != nil {
		return err
	}
	return s.settleNames(".")
}

// place moves a staged file to its name. It gets the mode of the file that it replaces.
func (s *stage) place(temporary, name string) error {
	temporary, name = filepath.FromSlash(temporary), filepath.FromSlash(name)
	mode := s.mode
	switch old, err := s.dir.Stat(name); {
	case err == nil:
		mode = old.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := s.dir.Chmod(temporary, mode); err != nil {
		return err
	}
	return s.dir.Rename(temporary, name)
}

// settle makes what a file holds last.
func (s *stage) settle(name string) error {
	file, err := s.dir.OpenFile(filepath.FromSlash(name), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// settleNames makes what was renamed in a directory last. Not every system can; then the file system's own order must do.
func (s *stage) settleNames(directory string) error {
	d, err := s.dir.Open(filepath.FromSlash(directory))
	if err != nil {
		return err
	}
	_ = d.Sync()
	return d.Close()
}
