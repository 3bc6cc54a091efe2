package store

import (
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jmoiron/sqlx"

	"solarmirror/schema"
	"solarmirror/store/sqlitefile"
)

// raw opens the file as any other program would. Close it before the test looks at bytes.
func raw(t *testing.T, path string) *sqlx.DB {
	t.Helper()
	db, err := sqlx.Open("sqlite", sqlitefile.DSN(path, nil))
	must(t, err)
	return db
}

func fileSum(t *testing.T, path string) [sha256.Size]byte {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	return sha256.Sum256(text)
}

func TestOpenMakesTheModel(t *testing.T) {
	t.Parallel()
	m := openMirror(t, mirrorPath(t))
	found, err := inspect(t.Context(), m.read)
	must(t, err)
	for _, table := range schema.All() {
		if diff := cmp.Diff(table.ColumnNames(), found.columns[table.Name]); diff != "" {
			t.Errorf("%s (-model +file):\n%s", table.Name, diff)
		}
	}
	if left := found.missing(m.model); len(left) > 0 {
		t.Errorf("still missing: %q", left)
	}
	if n := number(t, m, "SELECT count(*) FROM _columns"); n != int64(schema.Dictionary().Len()) {
		t.Errorf("%d rows in _columns", n)
	}
	meta, err := m.Meta(t.Context())
	must(t, err)
	if want := (Meta{SchemaVersion: schema.Version, CreatedAt: start}); meta != want {
		t.Errorf("meta %+v, want %+v", meta, want)
	}
}

func TestDeclaredTypes(t *testing.T) {
	t.Parallel()
	m := openMirror(t, mirrorPath(t))
	var columns []struct {
		Table, Column, Type string
		PK                  int
	}
	must(t, m.read.SelectContext(t.Context(), &columns, `SELECT t.name AS "table", c.name AS "column", c.type, c.pk
		FROM sqlite_master AS t JOIN pragma_table_info(t.name) AS c WHERE t.type = 'table'`))
	if len(columns) < 250 {
		t.Fatalf("only %d columns", len(columns))
	}
	allowed := []string{"TEXT", "REAL", "BIGINT", "BOOLEAN", "DATE", "TIMESTAMP", "BLOB"}
	for _, c := range columns {
		if !slices.Contains(allowed, c.Type) && (c.Type != "INTEGER" || c.PK != 1) {
			t.Errorf("%s.%s is declared %s", c.Table, c.Column, c.Type)
		}
	}
}

func TestOpenAgainWritesNothing(t *testing.T) {
	t.Parallel()
	path := mirrorPath(t)
	for range 2 { // the first makes the file, the second may find something left
		m, err := Open(t.Context(), path, Options{})
		must(t, err)
		must(t, m.Close())
	}
	before := fileSum(t, path)
	m, err := Open(t.Context(), path, Options{})
	must(t, err)
	var changes int
	must(t, m.conn.GetContext(t.Context(), &changes, "SELECT total_changes()"))
	must(t, m.Close())
	if changes != 0 || fileSum(t, path) != before {
		t.Errorf("%d changes, file the same: %v", changes, fileSum(t, path) == before)
	}
	files, err := sqlitefile.ReadFileState(path)
	if must(t, err); !files.HasWAL || !files.HasSHM || files.WAL != 0 {
		t.Errorf("readers need an empty -wal and a -shm beside the closed file: %+v", files)
	}
	// SQLite removes both when the last connection closes, so none of the Mirror's is left open.
	other, err := sqlx.Open("sqlite", path)
	must(t, err)
	_, err = other.Exec("DELETE FROM _runs")
	must(t, errors.Join(err, other.Close()))
	if left, _ := filepath.Glob(path + "-*"); len(left) > 0 {
		t.Errorf("left beside the closed file: %q", left)
	}
}

// olderModel is today's but for one table, one column and one index.
func olderModel() *model {
	root := *schema.Equipments
	root.Columns = slices.DeleteFunc(slices.Clone(root.Columns), func(c schema.Column) bool { return c.Name == "manufacturer" })
	root.Indices = nil
	root.Children = root.Children[1:]
	tables := slices.Concat(schema.Requests.Tables(), root.Tables(), schema.LedgerTables)
	dictionary := schema.Dictionary()
	dictionary.Values = slices.Clone(dictionary.Values[:len(dictionary.Table.Columns)*5])
	return newModel(schema.Version-1, tables, dictionary)
}

func TestMigrateFromAnOlderModel(t *testing.T) {
	t.Parallel()
	path := mirrorPath(t)
	old, err := open(t.Context(), path, Options{Now: fixedClock}, olderModel())
	must(t, err)
	_, err = writePage(t.Context(), old, sqlitefile.FormatTime(start), somePage(1, 10))
	must(t, err)
	_, err = old.conn.ExecContext(t.Context(), "ALTER TABLE _columns DROP COLUMN description_pt") // which version 6 did not have
	must(t, errors.Join(err, old.Close()))

	_, err = OpenReadOnly(t.Context(), path)
	var older *sqlitefile.OlderError
	if !errors.As(err, &older) || older.Have != schema.Version-1 || !strings.Contains(err.Error(), "solarmirror sync") {
		t.Errorf("read-only before the migration: %v", err)
	}

	m := openMirror(t, path)
	found, err := inspect(t.Context(), m.read)
	must(t, err)
	if left := found.missing(m.model); len(left) > 0 || found.version != schema.Version {
		t.Errorf("version %d, still missing %q", found.version, left)
	}
	if !slices.Contains(found.columns["equipments"], "manufacturer") {
		t.Errorf("columns of equipments: %q", found.columns["equipments"])
	}
	if n := number(t, m, "SELECT count(nullif(description_pt, '')) FROM _columns"); n != int64(schema.Dictionary().Len()) {
		t.Errorf("%d rows in _columns with a Portuguese description", n)
	}
	if n := number(t, m, "SELECT count(*) FROM requests"); n != 10 {
		t.Errorf("%d requests after the migration", n)
	}
	soundFile(t, m)
}

func TestMigrationFailsWhole(t *testing.T) {
	t.Parallel()
	path := mirrorPath(t)
	old, err := open(t.Context(), path, Options{}, olderModel())
	must(t, err)
	must(t, old.Close())
	bad := currentModel()
	bad.tables = append(slices.Clone(bad.tables), &schema.Table{Name: "broken", Columns: []schema.Column{{Name: "a", Type: "TEXT", Clause: "CHECK ("}}, Key: []string{"a"}})
	if m, err := open(t.Context(), path, Options{}, bad); err == nil {
		t.Fatal("opened", m.Close())
	}
	db := raw(t, path)
	defer db.Close()
	found, err := inspect(t.Context(), mustConn(t, db))
	must(t, err)
	if found.version != schema.Version-1 || found.columns["equipment_inventory"] != nil {
		t.Errorf("a failed migration left version %d, tables %v", found.version, len(found.columns))
	}
}

func mustConn(t *testing.T, db *sqlx.DB) *sqlx.Conn {
	t.Helper()
	conn, err := db.Connx(t.Context())
	must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func TestDictionaryIsRewrittenWhenItDiffers(t *testing.T) {
	t.Parallel()
	path := mirrorPath(t)
	dictionary := func(m *Mirror) [][]any {
		result, err := m.Query(t.Context(), "SELECT * FROM _columns ORDER BY table_name, column_name")
		must(t, err)
		return all(t, result)
	}
	m, err := Open(t.Context(), path, Options{})
	must(t, err)
	want := dictionary(m)
	for _, damage := range []string{
		"UPDATE _columns SET description = 'old words' WHERE column_name = 'notes'",
		"UPDATE _columns SET unit = NULL WHERE unit IS NOT NULL",
		"UPDATE _columns SET source_path = '/notes' WHERE table_name = '_meta'",
		"DELETE FROM _columns WHERE column_name = 'notes'",
		"UPDATE _columns SET column_name = 'remarks' WHERE column_name = 'notes'",
		"INSERT INTO _columns SELECT 'another', column_name, type, source_path, description, label_pt, unit, personal, description_pt FROM _columns WHERE table_name = '_meta'",
	} {
		_, err = m.conn.ExecContext(t.Context(), damage)
		must(t, err)
		must(t, m.Close())
		m, err = Open(t.Context(), path, Options{})
		must(t, err)
		if diff := cmp.Diff(want, dictionary(m)); diff != "" {
			t.Errorf("after %s (-want +is):\n%s", damage, diff)
		}
	}
	must(t, m.Close())
}

func TestRefusedFiles(t *testing.T) {
	t.Parallel()
	foreign := func(sql string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			db := raw(t, path)
			_, err := db.ExecContext(t.Context(), sql)
			must(t, errors.Join(err, db.Close()))
		}
	}
	tests := map[string]struct {
		make func(*testing.T, string)
		want error
		says string
	}{
		"text": {func(t *testing.T, path string) {
			must(t, os.WriteFile(path, []byte(strings.Repeat("not SQL. ", 200)), 0o600))
		}, sqlitefile.ErrNotMirror, "[mirror] path"},
		"other tables":    {foreign("CREATE TABLE songs (a TEXT)"), sqlitefile.ErrNotMirror, "songs"},
		"another's _meta": {foreign("CREATE TABLE _meta (a TEXT)"), sqlitefile.ErrNotMirror, "_meta"},
		"newer": {func(t *testing.T, path string) {
			m, err := Open(t.Context(), path, Options{})
			must(t, err)
			_, err = m.conn.ExecContext(t.Context(), "UPDATE _meta SET schema_version = 99")
			must(t, errors.Join(err, m.Close()))
		}, nil, "schema 99"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "m.db")
			tt.make(t, path)
			before := fileSum(t, path)
			_, errWrite := Open(t.Context(), path, Options{})
			_, errRead := OpenReadOnly(t.Context(), path)
			for _, err := range []error{errWrite, errRead} {
				var newer *sqlitefile.NewerError
				if tt.want != nil && !errors.Is(err, tt.want) || tt.want == nil && (!errors.As(err, &newer) || newer.Have != 99) {
					t.Errorf("got %v", err)
				} else if !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), tt.says) {
					t.Errorf("%q does not name %q and %q", err, path, tt.says)
				}
			}
			if fileSum(t, path) != before {
				t.Error("the file was touched")
			}
		})
	}
}

// A table of records that another program dropped or renamed is not made anew: it would be empty,
// and no later sync would fill it.
func TestLostTableIsRefused(t *testing.T) {
	t.Parallel()
	for _, change := range []string{"DROP TABLE request_products", "ALTER TABLE requests RENAME TO mine"} {
		path := mirrorPath(t)
		m, err := Open(t.Context(), path, Options{})
		must(t, err)
		_, err = m.conn.ExecContext(t.Context(), change)
		must(t, errors.Join(err, m.Close()))
		_, err = Open(t.Context(), path, Options{})
		_, errReading := OpenReadOnly(t.Context(), path)
		for _, err := range []error{err, errReading} {
			if !errors.Is(err, sqlitefile.ErrCorrupt) || !strings.Contains(err.Error(), "has dropped or renamed the table request") {
				t.Errorf("after %s: %v", change, err)
			}
		}
	}
}

func TestOpenReadOnlyCreatesNothing(t *testing.T) {
	t.Parallel()
	path := mirrorPath(t)
	_, err := OpenReadOnly(t.Context(), path)
	if !errors.Is(err, sqlitefile.ErrNoDatabase) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "solarmirror sync") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Dir(path)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory: %v", err)
	}
	empty := filepath.Join(t.TempDir(), "empty.db")
	must(t, os.WriteFile(empty, nil, 0o600))
	if _, err := OpenReadOnly(t.Context(), empty); !errors.Is(err, sqlitefile.ErrNoDatabase) {
		t.Errorf("an empty file: %v", err)
	}
}

func TestCorruptFile(t *testing.T) {
	t.Parallel()
	path := mirrorPath(t)
	m, err := Open(t.Context(), path, Options{Now: fixedClock})
	must(t, err)
	for i := range 5 {
		_, err := writePage(t.Context(), m, sqlitefile.FormatTime(start), somePage(i, 100))
		must(t, err)
	}
	must(t, m.Close())
	text, err := os.ReadFile(path)
	must(t, err)
	for i := 100; i < len(text); i++ {
		text[i] = 0xA5
	}
	must(t, os.WriteFile(path, text, 0o600))
	_, errWrite := Open(t.Context(), path, Options{})
	_, errRead := OpenReadOnly(t.Context(), path)
	for _, err := range []error{errWrite, errRead} {
		if !errors.Is(err, sqlitefile.ErrCorrupt) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "solarmirror restore --from DIR") {
			t.Errorf("got %v", err)
		}
	}
}

func TestOddFileNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a b.db", "what?mode=memory.db", "50%20#1.db", "ação.db", "a&b=c.db"} {
		path := filepath.Join(dir, name)
		openMirror(t, path)
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
		openReader(t, path)
	}
}

// TestViewInPlaceOfATable: a view that took a table's name is named with its remedy, and stays.
func TestViewInPlaceOfATable(t *testing.T) {
	t.Parallel()
	path := mirrorPath(t)
	m, err := Open(t.Context(), path, Options{})
	must(t, err)
	must(t, m.Update(t.Context(), func(tx *Tx) error {
		_, err := tx.Exec("replace", "DROP TABLE bi_margin")
		if err == nil {
			_, err = tx.Exec("replace", "CREATE VIEW bi_margin AS SELECT 1 AS mine")
		}
		return err
	}))
	must(t, m.Close())
	if _, err := Open(t.Context(), path, Options{}); err == nil || !strings.Contains(err.Error(), "DROP VIEW bi_margin") {
		t.Errorf("got %v", err)
	}
}
