package publish

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/sqlitefile"
)

// PublishOptions say what a published copy is like.
type Options struct {
	To           string   // the file to put in place
	Mask         *Masking // nil: nothing is masked
	KeepVersions int      // how many copies stay, the new one included; at least 1
	Wait         bool     // for another publish to the same place to end
}

// Published is what Publish made.
type Published struct {
	Path    string // of the copy, symbolic links resolved
	Size    int64  // bytes
	Earlier int    // earlier copies that stay beside it
}

// Publish puts a copy of the mirror at path in place of the one at o.To, whole or not at all:
// readers find the old file or the new one, and whoever has the old one open goes on reading that.
// Only what solarmirror published is ever replaced.
//
// Errors: those of [store.OpenReadOnly], [sqlitefile.ErrNotMirror] when o.To holds something else, [*sqlitefile.NoRoomError],
// [*sqlitefile.LockedError].
func Copy(ctx context.Context, path string, o Options) (*Published, error) {
	mirror, err := store.OpenReadOnly(ctx, path)
	if err != nil {
		return nil, err
	}
	if err := mirror.Close(); err != nil {
		return nil, err
	}
	if linked, err := filepath.EvalSymlinks(o.To); err == nil {
		o.To = linked
	}
	lock, err := sqlitefile.AcquireLock(ctx, o.To, "publish", o.Wait)
	if err != nil {
		return nil, err
	}
	published, err := publish(ctx, path, o)
	return published, errors.Join(err, lock.Release())
}

func publish(ctx context.Context, path string, o Options) (*Published, error) {
	if err := checkReplaceable(ctx, path, o.To); err != nil {
		return nil, err
	}
	if err := roomForCopy(path, o.To); err != nil {
		return nil, err
	}
	build := func(part string) error { return vacuumInto(ctx, path, part, "ro", sqlitefile.Explain) }
	if o.Mask != nil {
		build = func(part string) error { return o.Mask.copyInto(ctx, path, part) }
	}
	v := versions{path: o.To, keep: o.KeepVersions}
	if err := makeCopy(ctx, o.To, 0o644, build, v.replace); err != nil {
		return nil, fmt.Errorf("publish: %w", err)
	}
	earlier, err := v.earlier()
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(o.To)
	if err != nil {
		return nil, err
	}
	return &Published{Path: o.To, Size: info.Size(), Earlier: len(earlier)}, nil
}

// checkReplaceable returns an error unless there is nothing at path, or a copy that was published:
// its tables are the mirror's, and unlike a mirror it has no WAL. One that is damaged may go.
func checkReplaceable(ctx context.Context, mirror, path string) error {
	const remedy = "name another file with --to or [publish] path"
	if sameFile(mirror, path) {
		return fmt.Errorf("%s is the mirror itself: %s", path, remedy)
	}
	found, err := store.InspectFile(ctx, path, "ro")
	switch err := sqlitefile.Explain(path, err); {
	case errors.Is(err, sqlitefile.ErrNoDatabase), errors.Is(err, sqlitefile.ErrCorrupt):
		return nil
	case errors.Is(err, sqlitefile.ErrNotMirror), err == nil && !found.Empty() && !found.Ours():
		return fmt.Errorf("%w: %s is no copy that was published, and is left as it is: %s", sqlitefile.ErrNotMirror, path, remedy)
	case err != nil:
		return fmt.Errorf("look at the copy to replace: %w", err)
	}
	live, err := wantsWAL(path)
	if err != nil {
		return fmt.Errorf("look at the copy to replace: %w", err)
	}
	if live {
		return fmt.Errorf("%s is a mirror that is written to, not a copy of one, and is left as it is: %s", path, remedy)
	}
	return nil
}

func sameFile(a, b string) bool {
	one, errOne := os.Stat(a)
	other, errOther := os.Stat(b)
	return errOne == nil && errOther == nil && os.SameFile(one, other)
}

// wantsWAL looks at the file's own header: SQLite calls the journal a WAL also when one merely lies
// beside the file. The file must be none that this process has open, since closing it drops the
// locks SQLite holds on it.
func wantsWAL(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	const writeVersion, inWAL = 18, 2
	version := make([]byte, 1)
	n, err := f.ReadAt(version, writeVersion)
	if errors.Is(err, io.EOF) { // an empty file is a database without tables
		err = nil
	}
	return n == 1 && version[0] == inWAL, errors.Join(err, f.Close())
}

// copyPragmas are those of a file that is thrown away when anything fails.
var copyPragmas = []string{"busy_timeout(10000)", "journal_mode(OFF)", "synchronous(OFF)", "cache_size(-16384)", "temp_store(MEMORY)"}

// copyInto makes a masked copy. Personal data never gets into the new file, not even for a moment:
// the masked values are computed while the mirror's rows are read, in one transaction, so that all
// tables are of one moment. Tables that the schema does not know are left out.
func (m *Masking) copyInto(ctx context.Context, path, part string) error {
	if err := registerMasks(); err != nil {
		return err
	}
	db, err := sqlx.Open("sqlite", sqlitefile.DSN(part, copyPragmas)+"&mode=rw")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	err = m.copyTables(ctx, db, path)
	if ctx.Err() != nil {
		err = ctx.Err() // SQLite only says that it was interrupted
	}
	return errors.Join(explainCopy(path, part, err, sqlitefile.Explain), db.Close())
}

func (m *Masking) copyTables(ctx context.Context, db *sqlx.DB, path string) error {
	if _, err := db.ExecContext(ctx, "ATTACH DATABASE ? AS mirror", sqlitefile.DSN(path, nil)+"mode=ro"); err != nil {
		return fmt.Errorf("attach the mirror: %w", err)
	}
	tx, err := db.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	for _, t := range schema.All() {
		if err := m.copyTable(ctx, tx, t); err != nil {
			return errors.Join(fmt.Errorf("copy %s: %w", t.Name, err), tx.Rollback())
		}
	}
	if err := m.remarkColumns(ctx, tx); err != nil {
		return errors.Join(fmt.Errorf("write the data dictionary: %w", err), tx.Rollback())
	}
	return tx.Commit()
}

// copyTable makes the indices before there are rows: sorting them afterwards takes as long, and
// memory that grows with the table.
func (m *Masking) copyTable(ctx context.Context, tx *sqlx.Tx, t *schema.Table) error {
	for _, ddl := range append([]string{t.DDL()}, slices.Sorted(maps.Values(t.IndexDDL()))...) {
		if _, err := tx.ExecContext(ctx, ddl); err != nil {
			return err
		}
	}
	masked := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		masked[i] = m.expression(t, c)
	}
	copySQL := fmt.Sprintf("INSERT INTO main.%[1]s (%[2]s) SELECT %[3]s FROM mirror.%[1]s", t.Name, strings.Join(t.ColumnNames(), ", "), strings.Join(masked, ", "))
	_, err := tx.ExecContext(ctx, copySQL, m.parameters()...)
	return err
}

// remarkColumns has the copy's data dictionary say what is masked.
func (m *Masking) remarkColumns(ctx context.Context, tx *sqlx.Tx) error {
	for _, t := range schema.All() {
		for _, c := range t.Columns {
			remark := m.remark(t, c)
			if remark == "" {
				continue
			}
			_, err := tx.ExecContext(ctx, "UPDATE main._columns SET description = description || ? WHERE table_name = ? AND column_name = ?", remark, t.Name, c.Name)
			if err != nil {
				return err
			}
		}
	}
	return nil
}
