package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"solarmirror/schema"
	"solarmirror/store/sqlitefile"
)

func all(t *testing.T, r *Result) [][]any {
	t.Helper()
	defer func() { must(t, r.Close()) }()
	var list [][]any
	for values, err := range r.Rows() {
		must(t, err)
		list = append(list, values)
	}
	return list
}

func TestQueryGivesTheStoredValues(t *testing.T) {
	t.Parallel()
	m := openMirror(t, mirrorPath(t))
	must(t, m.Update(t.Context(), func(tx *Tx) error {
		rows := schema.Rows{Table: schema.Requests, Values: row(schema.Requests, map[string]any{
			"request_key": int64(5), "request_type": "order", "id": "x", "billing_date": "2024-02-29",
			"order_created": "2024-02-29 00:00:00.000", "budget_created": "1999-12-31 23:59:59.999", "removed": int64(1), "api_sent": int64(0),
			"final_value": 12.5, "_hash": []byte{0, 1},
		})}
		return tx.Upsert([]schema.Rows{rows}, nil)
	}))
	result, err := openReader(t, m.Path()).Query(t.Context(), ` -- a comment; with a semicolon
		SELECT request_key, id, billing_date, order_created, budget_created, removed, api_sent, final_value, notes, _hash,
			max(order_created) AS latest, ';' AS s FROM requests; `)
	must(t, err)
	columns := []ResultColumn{
		{"request_key", "INTEGER"}, {"id", "TEXT"}, {"billing_date", "DATE"}, {"order_created", "TIMESTAMP"}, {"budget_created", "TIMESTAMP"},
		{"removed", "BOOLEAN"}, {"api_sent", "BOOLEAN"}, {"final_value", "REAL"}, {"notes", "TEXT"}, {"_hash", "BLOB"}, {"latest", ""}, {"s", ""},
	}
	if diff := cmp.Diff(columns, result.Columns); diff != "" {
		t.Error(diff)
	}
	want := [][]any{{int64(5), "x", "2024-02-29", "2024-02-29 00:00:00.000", "1999-12-31 23:59:59.999", int64(1), int64(0), 12.5, nil,
		[]byte{0, 1}, "2024-02-29 00:00:00.000", ";"}}
	if diff := cmp.Diff(want, all(t, result)); diff != "" {
		t.Error(diff)
	}
}

func TestQueryOnlyReads(t *testing.T) {
	t.Parallel()
	path := mirrorPath(t)
	m := openMirror(t, path)
	other := filepath.Join(t.TempDir(), "other.db")
	for _, query := range []string{
		"", " -- nothing", "SELECT 1; SELECT 2", "SELECT 1; DELETE FROM requests", "DELETE FROM requests",
		"INSERT INTO _drift VALUES (1)", "INSERT INTO _runs (command) VALUES ('x') RETURNING run_id", "WITH x AS (SELECT 1) DELETE FROM requests",
		"UPDATE _meta SET base_url = 'x'", "DROP TABLE requests", "CREATE TABLE t (a)", "CREATE TEMP TABLE t (a)",
		"ATTACH '" + other + "' AS o", "VACUUM", "VACUUM INTO '" + other + "'", "PRAGMA query_only = OFF", "PRAGMA journal_mode = DELETE",
		"PRAGMA user_version = 3", "PRAGMA writable_schema = ON", "BEGIN", "REINDEX", "ANALYZE",
	} {
		for _, from := range []*Mirror{m, openReader(t, path)} {
			err := drain(from, query)
			if !errors.Is(err, ErrNotAQuery) {
				t.Errorf("%s: %v", query, err)
			}
		}
	}
	if _, err := os.Stat(other); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file was made: %v", err)
	}
	for _, query := range []string{
		"VALUES (1)", "EXPLAIN QUERY PLAN SELECT * FROM requests", "PRAGMA table_info(requests)", "SELECT count(*) FROM pragma_table_info('requests')",
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT sum(i) FROM n", "SELECT json_extract(extra, '$') FROM requests;;",
		"SELECT name FROM sqlite_master", "/* ; */ SELECT \"id\" AS [a;b] FROM requests WHERE id = 'it''s;' -- ;",
	} {
		if err := drain(m, query); err != nil {
			t.Errorf("%s: %v", query, err)
		}
	}
	if err := drain(m, "SELECT nosuch FROM requests"); err == nil || !strings.Contains(err.Error(), "nosuch") || errors.Is(err, ErrNotAQuery) {
		t.Errorf("a column that is not there: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Query(ended, "SELECT 1"); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
}

// drain runs a query to its end and returns its first error.
func drain(m *Mirror, query string) error {
	result, err := m.Query(context.Background(), query)
	if err != nil {
		return err
	}
	for _, err := range result.Rows() {
		if err != nil {
			return errors.Join(err, result.Close())
		}
	}
	return result.Close()
}

func TestReadOnlyMirrorDoesNotWrite(t *testing.T) {
	t.Parallel()
	path := mirrorPath(t)
	m := openMirror(t, path)
	must(t, m.Bind(t.Context(), "https://one.example"))
	r := openReader(t, path)
	if _, err := r.StartRun(t.Context(), "sync", "manual"); !errors.Is(err, ErrReadOnly) {
		t.Errorf("start a run: %v", err)
	}
	if err := r.Bind(t.Context(), "https://two.example"); !errors.Is(err, ErrReadOnly) {
		t.Errorf("bind: %v", err)
	}
}

func TestReadOnlyAfterTheWriterHasGone(t *testing.T) {
	t.Parallel()
	path := mirrorPath(t)
	m, err := Open(t.Context(), path, Options{})
	must(t, err)
	_, err = writePage(t.Context(), m, sqlitefile.FormatTime(start), somePage(1, 3))
	must(t, err)
	must(t, m.Close())
	if n := number(t, openReader(t, path), "SELECT count(*) FROM requests"); n != 3 {
		t.Errorf("%d requests", n)
	}
}
