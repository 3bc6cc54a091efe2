package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// endless is a statement that never ends by itself.
const endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"

func assistantIsLimited(t *testing.T, r assistantRig) {
	a := r.connect(t)
	ask := func(statement string, args map[string]any) (queryResult, string) {
		all := map[string]any{"sql": statement, "max_seconds": 1}
		for name, value := range args {
			all[name] = value
		}
		var got queryResult
		return got, a.call("query", all, &got)
	}
	for statement, want := range map[string]string{
		endless: "stopped after 1 seconds",
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i = 1 OR i < 0": "stopped after 1 seconds",
		"SELECT count(*) FROM requests a, requests b, requests c, requests d, requests e, requests f":          "stopped after 1 seconds",
		"SELECT zeroblob(1000000000)":                                       "more than 64 KB",
		"SELECT printf('%.*c', 1000000000, 'x')":                            "more than 64 KB",
		"SELECT group_concat(a.id) FROM requests a, requests b, requests c": "more than 64 KB",
		"WITH RECURSIVE n(i, x) AS (SELECT 1, zeroblob(20000) UNION SELECT i + 1, zeroblob(20000) FROM n LIMIT 9000) SELECT count(*) FROM n": "more than 64 MB of memory",
		"SELECT " + strings.Repeat("1,", 300) + "1":    "too many columns",
		"SELECT '" + strings.Repeat("x", 70_000) + "'": "more than 64 KB",
	} {
		// A loaded machine may take a second for what another limit stops.
		if _, failed := ask(statement, nil); !strings.Contains(failed, want) && !strings.Contains(failed, "stopped after 1 seconds") {
			t.Errorf("%.80s: %s, want %s", statement, failed, want)
		}
	}
	// A function is not interrupted: the call is answered without it.
	if _, failed := ask("SELECT trim(printf('%.*c', 65000, 'a'), printf('%.*c', 5400, 'b') || 'a')", nil); failed != "" && !strings.Contains(failed, "stopped after 1 seconds") {
		t.Error(failed)
	}
	if _, failed := ask("SELECT 1", map[string]any{"max_rows": 1001}); !strings.Contains(failed, "max_rows") {
		t.Errorf("1001 rows: %q", failed)
	}
	const numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000) "
	long := map[string]any{"max_seconds": 50, "max_rows": 7}
	for statement, want := range map[string]struct {
		rows int
		note string
	}{
		numbers + "SELECT i FROM n":                                        {7, "Only the first 7 rows"},
		numbers + "SELECT i FROM n ORDER BY i DESC; -- ;":                  {7, "Only the first 7 rows"},
		numbers + "SELECT i FROM n LIMIT 7":                                {7, ""},
		numbers + "SELECT i FROM n LIMIT 8":                                {7, "Only the first 7 rows"},
		"SELECT printf('%.*c', 3000, 'é')":                                 {1, "1 texts were cut to 2000 characters"},
		"SELECT " + strings.Repeat("printf('%.*c', 1999, 'x'),", 21) + "1": {0, "at most 40000 bytes"},
	} {
		got, failed := ask(statement, long)
		for strings.Contains(failed, "still under way") { // the function above may take minutes on a loaded machine
			got, failed = ask(statement, long)
		}
		if failed != "" || len(got.Rows) != want.rows || got.Cut != (want.note != "") || !strings.Contains(got.Note, want.note) {
			t.Errorf("%.80s: %s%d rows, cut %v, %q", statement, failed, len(got.Rows), got.Cut, got.Note)
		}
	}
	delete(long, "max_rows")
	if got, failed := ask(numbers+"SELECT i FROM n", long); failed != "" || len(got.Rows) != 100 || !got.Cut {
		t.Errorf("%s%d rows unless asked otherwise, cut %v", failed, len(got.Rows), got.Cut)
	}
}

// assistantChangesNothing asks statements that try to write, to open other files and to load code.
func assistantChangesNothing(t *testing.T, r assistantRig) {
	cmd := r.server(t)
	a := r.connectTo(t, cmd)
	secret := filepath.Join(cmd.Dir, "secret.txt")
	if err := os.WriteFile(secret, []byte("hunter2"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := filesOf(t, cmd.Dir, filepath.Dir(r.copy))
	names := []string{"requests", "_meta", "bi_margin", "sqlite_master", "main.requests", "temp.x", "new_table", "company_creations", "company_outbox"}
	files := []string{secret, r.copy, r.mirror, filepath.Join(cmd.Dir, "made.db"), "made.db", "file:made.db?mode=rwc", "/etc/passwd", ":memory:", ""}
	forms := []string{
		"DELETE FROM %[1]s", "INSERT INTO %[1]s SELECT * FROM %[1]s", "REPLACE INTO %[1]s VALUES (1)", "UPDATE %[1]s SET rowid = 1 RETURNING *",
		"DROP TABLE %[1]s", "CREATE TABLE %[1]s AS SELECT 1", "CREATE TEMP TABLE x AS SELECT * FROM %[1]s", "CREATE VIEW v AS SELECT 1", "CREATE TEMP TRIGGER t AFTER INSERT ON %[1]s BEGIN SELECT 1; END",
		"CREATE VIRTUAL TABLE v USING fts5(a)", "CREATE VIRTUAL TABLE temp.v USING csv(filename='%[2]s')", "ALTER TABLE %[1]s ADD COLUMN x", "CREATE INDEX i ON %[1]s (rowid)",
		"ATTACH '%[2]s' AS other", "ATTACH DATABASE '%[2]s' AS main", "DETACH main", "VACUUM", "VACUUM INTO '%[2]s'", "VACUUM main INTO '%[2]s'", "REINDEX", "ANALYZE %[1]s",
		"SELECT readfile('%[2]s')", "SELECT writefile('%[2]s', 'x')", "SELECT load_extension('%[2]s')", "SELECT edit('x')", "SELECT fts3_tokenizer('x', x'00')", "SELECT * FROM fsdir('%[2]s')",
		"EXPLAIN DELETE FROM %[1]s",
		"PRAGMA journal_mode = WAL", "PRAGMA journal_mode(MEMORY)", "PRAGMA main.user_version = 7", "PRAGMA writable_schema = ON", "PRAGMA query_only = OFF", "PRAGMA schema_version = 9",
		"PRAGMA temp_store_directory = '%[2]s'", "PRAGMA data_store_directory = '%[2]s'", "PRAGMA wal_checkpoint", "PRAGMA optimize", "PRAGMA hard_heap_limit = 0", "PRAGMA trusted_schema = ON",
		"PRAGMA temp_store = FILE", "PRAGMA cache_spill = 1", "PRAGMA incremental_vacuum", "PRAGMA application_id = 1",
		"BEGIN IMMEDIATE", "COMMIT", "ROLLBACK", "SAVEPOINT s", "RELEASE s", "END",
		"WITH x AS (DELETE FROM %[1]s RETURNING *) SELECT * FROM x", "WITH x AS (SELECT 1) DELETE FROM %[1]s", "SELECT * FROM pragma_journal_mode", "SELECT * FROM pragma_user_version(7)",
		"UPDATE sqlite_dbpage SET data = zeroblob(4096)", "INSERT INTO dbstat DEFAULT VALUES", "UPDATE sqlite_master SET sql = ''",
	}
	harmless := []string{"SELECT * FROM %[1]s", "SELECT count(*) FROM %[1]s", "SELECT * FROM pragma_table_info('%[1]s')", "VALUES ('%[1]s')", "SELECT * FROM sqlite_dbpage"}
	rapid.Check(t, func(t *rapid.T) {
		var statements []string
		refused := false
		for range rapid.IntRange(1, 2).Draw(t, "statements") {
			form := rapid.SampledFrom(slices.Concat(forms, harmless)).Draw(t, "form")
			refused = refused || slices.Contains(forms, form)
			text := fmt.Sprintf(form+"%[3]s", rapid.SampledFrom(names).Draw(t, "table"), rapid.SampledFrom(files).Draw(t, "file"), "")
			for _, edit := range []struct{ from, to string }{{" ", "/**/ "}, {"E", "e"}, {" ", "\n"}, {"(", "( "}} {
				if rapid.Bool().Draw(t, "disguise") {
					text = strings.ReplaceAll(text, edit.from, edit.to)
				}
			}
			statements = append(statements, text)
		}
		joined := strings.Join(statements, rapid.SampledFrom([]string{";", ";;\n", "--\n;"}).Draw(t, "between"))
		var got queryResult
		failed := a.call("query", map[string]any{"sql": joined}, &got)
		if failed == "" && (refused || len(statements) > 1) {
			t.Fatalf("%q is answered: %v", joined, got.Rows)
		}
		if strings.Contains(fmt.Sprint(got.Rows), "hunter2") || strings.Contains(fmt.Sprint(got.Rows), "root:") {
			t.Fatalf("%q reads another file: %v", joined, got.Rows)
		}
	})
	if _, failed := a.query("SELECT count(*) FROM requests"); failed != "" {
		t.Errorf("afterwards: %s", failed)
	}
	if d := cmp.Diff(before, filesOf(t, cmd.Dir, filepath.Dir(r.copy))); d != "" {
		t.Errorf("files are changed, made or gone: %s", d)
	}
}

// filesOf reads all files of directories, by path.
func filesOf(t *testing.T, dirs ...string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			content, err := os.ReadFile(filepath.Join(dir, entry.Name()))
			if err != nil {
				t.Fatal(err)
			}
			found[filepath.Join(dir, entry.Name())] = string(content)
		}
	}
	return found
}
