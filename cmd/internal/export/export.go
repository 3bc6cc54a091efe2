package export

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/publish"
	"solarmirror/store/sqlitefile"
)

// ErrDirectory says that the directory holds something else than an export of the format asked for. Nothing in it was changed.
var ErrDirectory = errors.New("not a directory for this export")

// Options say what is exported where.
type Options struct {
	Dir      string // made when it is missing
	Format   Format
	FileMode fs.FileMode      // of new files with personal data; masked ones have [publish.MaskedMode]
	Fresh    bool             // go by no fingerprints: read every row, because the mirror is a copy that may have been made in another way
	Wait     bool             // until another export to the same directory has ended
	Now      func() time.Time // the clock; nil is time.Now
}

// Report is what an export did.
type Report struct {
	Tables                 int
	Rows, Bytes            int64 // of all files
	Written, Kept, Removed int   // files
}

// Run brings the directory up to date with the mirror. Errors: [ErrDirectory], [*sqlitefile.LockedError], and those of reading the mirror.
func Run(ctx context.Context, mirror *store.Mirror, o Options) (report Report, err error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if err := sqlitefile.MakeDir(o.Dir, 0o755); err != nil {
		return Report{}, err
	}
	if err := mayHold(o.Dir); err != nil {
		return Report{}, err
	}
	lock, err := sqlitefile.AcquireLock(ctx, filepath.Join(o.Dir, ManifestName), "export", o.Wait)
	if err != nil {
		return Report{}, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	dir, err := os.OpenRoot(o.Dir)
	if err != nil {
		return Report{}, err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()

	before, err := readManifest(dir)
	if err != nil {
		return Report{}, err
	}
	if before.Format != "" && before.Format != o.Format.Name {
		return Report{}, fmt.Errorf("%w: %s holds an export as %s; name another directory for %s", ErrDirectory, o.Dir, before.Format, o.Format.Name)
	}
	return run(ctx, mirror, dir, before, o)
}

// mayHold refuses a directory with files in it that no export made.
func mayHold(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	foreign := false
	for _, e := range entries {
		switch e.Name() {
		case ManifestName:
			return nil
		case stagingName, ManifestName + ".lock": // of an export that did not end
		default:
			foreign = true
		}
	}
	if foreign {
		return fmt.Errorf("%w: %s is not empty and holds no %s; name a new directory, or an empty one", ErrDirectory, dir, ManifestName)
	}
	return nil
}

func run(ctx context.Context, mirror *store.Mirror, dir *os.Root, before *Manifest, o Options) (report Report, err error) {
	mode, err := publish.ModeOf(ctx, mirror.Reader(), o.FileMode)
	if err != nil {
		return Report{}, err
	}
	s, err := newStage(dir, before, mode)
	if err != nil {
		return Report{}, err
	}
	snapshot, err := mirror.Snapshot(ctx)
	if err != nil {
		return Report{}, err
	}
	defer func() { err = errors.Join(err, snapshot.Close()) }()
	after := &Manifest{Version: manifestVersion, Format: o.Format.Name, ExportedAt: o.Now().UTC().Truncate(time.Second), Schema: schema.Version}
	source, err := newSource(ctx, snapshot)
	if err != nil {
		return Report{}, err
	}
	after.BaseURL = source.baseURL
	for _, t := range source.tables() {
		table := describe(t)
		for _, p := range source.parts(t, o.Format) {
			if o.Fresh {
				p.madeFrom = ""
			}
			file, err := s.bring(ctx, source, p, o.Format)
			if err != nil {
				return Report{}, fmt.Errorf("export %s: %w", p.path, err)
			}
			if p.month != "" {
				table.PartitionedBy = "month"
			}
			table.Rows += file.Rows
			table.Files = append(table.Files, file)
			report.Rows += file.Rows
			report.Bytes += file.Bytes
		}
		after.Tables = append(after.Tables, table)
	}
	report.Tables, report.Written, report.Kept = len(after.Tables), len(s.staged), s.kept
	report.Removed, err = s.publish(after)
	if err != nil {
		return Report{}, fmt.Errorf("publish the export: %w; run the same command again", err)
	}
	return report, nil
}

// exists says whether a file is there with its size.
func exists(dir *os.Root, f File) (bool, error) {
	info, err := dir.Stat(filepath.FromSlash(f.Path))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return info.Size() == f.Bytes, nil
}
