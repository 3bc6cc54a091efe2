package flatten_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"
	"pgregory.net/rapid"

	"solarmirror/schema"
)

// The declared tables hold a record's rows so that it can be rebuilt of what is read back from a real file.
func TestRebuildFromSQLite(t *testing.T) {
	t.Parallel()
	eachRoot(t, func(t *testing.T, root *schema.Table) {
		db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "mirror.db"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		for _, table := range root.Tables() {
			if _, err := db.Exec(table.DDL()); err != nil {
				t.Fatalf("%s: %v", table.DDL(), err)
			}
		}
		rapid.Check(t, func(t *rapid.T) {
			record, _ := drawRecord(t, root, true)
			raw := write(record, 0)
			b, err := flattenOne(root, raw)
			if err != nil {
				t.Fatalf("Flatten(%s): %v", raw, err)
			}
			checkRebuild(t, root, raw, throughSQLite(t, db, b.Rows))
		})
	})
}

// throughSQLite writes rows, reads them back and leaves no trace.
func throughSQLite(t *rapid.T, db *sql.DB, rows []schema.Rows) []schema.Rows {
	tx, err := db.Begin()
	if err != nil {
		t.Fatalf("begin: %v", err)
	}
	defer tx.Rollback()
	back := make([]schema.Rows, len(rows))
	for i, r := range rows {
		marks := strings.TrimSuffix(strings.Repeat("?,", len(r.Table.Columns)), ",")
		insert := "INSERT INTO " + r.Table.Name + " (" + strings.Join(r.Table.ColumnNames(), ", ") + ") VALUES (" + marks + ")"
		for n := range r.Len() {
			if _, err := tx.Exec(insert, r.Row(n)...); err != nil {
				t.Fatalf("%s: %v", insert, err)
			}
		}
		back[i] = schema.Rows{Table: r.Table, Values: readTable(t, tx, r.Table)}
	}
	return back
}

// readTable reads all rows. The sign before each column keeps the driver from making times and booleans of them.
func readTable(t *rapid.T, tx *sql.Tx, table *schema.Table) []any {
	rows, err := tx.Query("SELECT +" + strings.Join(table.ColumnNames(), ", +") + " FROM " + table.Name)
	if err != nil {
		t.Fatalf("reading %s: %v", table.Name, err)
	}
	defer rows.Close()
	var all []any
	for rows.Next() {
		row := make([]any, len(table.Columns))
		into := make([]any, len(row))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatalf("scanning %s: %v", table.Name, err)
		}
		all = append(all, row...)
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("reading %s: %v", table.Name, err)
	}
	return all
}
