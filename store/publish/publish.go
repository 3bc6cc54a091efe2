package publish

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/owntables"
	"solarmirror/store/sqlitefile"
)

// Options are the parameters of [Copy].
type Options struct {
	To           string      // path of the copy
	Mask         *Masking    // nil: a full copy
	FileMode     fs.FileMode // of a new full copy, 0 is 0600; a masked one has 0644
	KeepVersions int         // number of copies to keep, including the new one; at least 1
	Wait         bool        // wait while another process publishes to the same path
}

// Published describes the copy that [Copy] made.
type Published struct {
	Path    string // with symbolic links resolved
	Size    int64  // bytes
	Earlier int    // number of earlier copies kept beside it
}

// Copy replaces the file at o.To by a copy of the mirror at path. Readers that open o.To find the
// old file or the new one, never a part. Readers that have the old file open keep reading it. Copy
// only replaces files that solarmirror published.
//
// Errors: those of [store.OpenReadOnly], [sqlitefile.ErrNotMirror] when o.To is another file,
// [*sqlitefile.NoRoomError], [*sqlitefile.LockedError].
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
	if err := checkRoom(path, o.To); err != nil {
		return nil, err
	}
	build := func(part string) error {
		if err := vacuumInto(ctx, path, part, "ro", sqlitefile.Explain); err != nil {
			return err
		}
		return sqlitefile.DropLitestream(ctx, part)
	}
	mode := o.FileMode
	if o.Mask != nil {
		mode = MaskedMode
		build = func(part string) error { return o.Mask.copyInto(ctx, path, part) }
	}
	v := versions{path: o.To, keep: o.KeepVersions}
	if o.Mask == nil && isMasked(ctx, o.To) {
		v.mode = cmp.Or(mode, 0o600) // everybody may read the copy that it replaces
	}
	if err := makeCopy(ctx, o.To, mode, build, v.replace); err != nil {
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

// isMasked reports whether there is a masked copy at path.
func isMasked(ctx context.Context, path string) bool {
	db, err := sqlitefile.OpenUnguarded(path, "ro")
	if err != nil {
		return false
	}
	defer db.Close()
	masked, err := Masked(ctx, db)
	return err == nil && masked
}

// checkReplaceable returns an error unless path is free or has a published copy. A published copy
// has the mirror's tables and, unlike a mirror, no WAL. A damaged file may be replaced.
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
	isMirror, err := isWALMode(path)
	if err != nil {
		return fmt.Errorf("look at the copy to replace: %w", err)
	}
	if isMirror {
		return fmt.Errorf("%s is a mirror that is written to, not a copy of one, and is left as it is: %s", path, remedy)
	}
	return nil
}

func sameFile(a, b string) bool {
	one, errOne := os.Stat(a)
	other, errOther := os.Stat(b)
	return errOne == nil && errOther == nil && os.SameFile(one, other)
}

// isWALMode reads the journal mode from the file header. PRAGMA journal_mode would also report WAL
// when a -wal file merely exists. This process must not have the database open: closing the file
// drops the locks that SQLite holds on it.
func isWALMode(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	const writeVersion, walVersion = 18, 2 // offset of the field, its value in WAL mode
	version := make([]byte, 1)
	n, err := f.ReadAt(version, writeVersion)
	if errors.Is(err, io.EOF) { // an empty file is a database without tables
		err = nil
	}
	return n == 1 && version[0] == walVersion, errors.Join(err, f.Close())
}

// copyPragmas are the pragmas of the new file. It needs no journal: on any error it is removed.
var copyPragmas = []string{"busy_timeout(10000)", "journal_mode(OFF)", "synchronous(OFF)", "cache_size(-16384)", "temp_store(MEMORY)"}

// copyInto writes a masked copy into part. Personal values never reach the new file: the statement
// that reads the mirror's rows masks them. One transaction copies all tables, so they are of one
// snapshot. Tables that are neither of the schema nor own marts are left out.
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
		err = ctx.Err() // SQLite's own error does not give the reason
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
	own, err := owntables.Tables(ctx, tx, "mirror")
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	tables := append(schema.All(), own...)
	for _, t := range tables {
		if err := m.copyTable(ctx, tx, t); err != nil {
			return errors.Join(fmt.Errorf("copy %s: %w", t.Name, err), tx.Rollback())
		}
	}
	if err := m.remarkColumns(ctx, tx, tables); err != nil {
		return errors.Join(fmt.Errorf("write the data dictionary: %w", err), tx.Rollback())
	}
	return tx.Commit()
}

// copyTable creates the indices before it inserts the rows. Sorting the entries afterwards takes as
// long, and memory that grows with the table.
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

// remarkColumns adds to the copy's data dictionary how each column is masked.
func (m *Masking) remarkColumns(ctx context.Context, tx *sqlx.Tx, tables []*schema.Table) error {
	for _, t := range tables {
		for _, c := range t.Columns {
			en, pt := m.remark(t, c)
			if en == "" {
				continue
			}
			const remark = `UPDATE main._columns SET description = description || ?, description_pt = description_pt || ?
				WHERE table_name = ? AND column_name = ?`
			if _, err := tx.ExecContext(ctx, remark, en, pt, t.Name, c.Name); err != nil {
				return err
			}
		}
	}
	return nil
}
