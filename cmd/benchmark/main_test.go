package main

import (
	"database/sql"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"solarmirror/schema"
)

// TestMain lets the tests start themselves as the child processes.
func TestMain(m *testing.M) {
	if isChild() {
		runChild()
	}
	os.Exit(m.Run())
}

// The whole command at the least size: every contender and step has its line, every target its verdict.
func TestRun(t *testing.T) {
	o, err := parseFlags([]string{"-sizes", "50,100", "-rounds", "1", "-throttled", "500", "-dir", t.TempDir()}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := run(t.Context(), o, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + out.String())
	want := map[string]int{"the hand-written program": 2, "pipeline on cgo": 2, "first load": 4*2 + 3*2, "128 MiB": 4, "limiter": 1, "publish": 4}
	for text, least := range want {
		if n := strings.Count(out.String(), text); n < least {
			t.Errorf("%q is there %d times, want %d at least", text, n, least)
		}
	}
	left, err := os.ReadDir(o.dir)
	if err != nil || len(left) > 0 {
		t.Errorf("files are left: %v, %v", left, err)
	}
}

// What is compared is only worth comparing when all contenders end with the same rows, after a first load and after a re-sync.
func TestContendersWriteTheSameRows(t *testing.T) {
	p, err := startPlatform(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := p.stop(); err != nil {
			t.Error(err)
		}
	}()
	const size = 1000
	dir := t.TempDir()
	for version, every := range []int{0, 3} {
		if err := p.set(setting{Records: size, Every: every, Version: version}); err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, name := range []string{ours, byHand, pipeline} {
			c, _ := findContender(name)
			db := filepath.Join(dir, name+".db")
			if _, err := measure(t.Context(), c, task{URL: p.URL, DB: db}, nil); err != nil {
				t.Fatal(err)
			}
			got := contentOf(t, db)
			if want == nil {
				want = got
			}
			for i := range max(len(got), len(want)) {
				if i >= len(got) || i >= len(want) || got[i] != want[i] {
					t.Fatalf("%s, 1 of %d changed: %d rows, %s has %d; they differ from here:\n%s\n%s",
						name, every, len(got), ours, len(want), lineAt(got, i), lineAt(want, i))
				}
			}
		}
		if len(want) < 10*size {
			t.Fatalf("%d rows are no mirror of %d records", len(want), size)
		}
		if n := strings.Count(strings.Join(want, "\n"), "1: "); every > 0 && n < size/every {
			t.Errorf("%d records have changed, want a third of %d", n, size)
		}
	}
}

func lineAt(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "nothing"
}

// contentOf returns what the tables of a file say, in order, but for surrogate keys, times of reading, hashes and what only a mirror keeps.
func contentOf(t *testing.T, path string) (lines []string) {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, table := range tables() {
		columns := slices.DeleteFunc(table.ColumnNames(), func(name string) bool {
			return name == "request_key" || name == "extra" || strings.HasPrefix(name, "_")
		})
		from := "requests"
		if table != schema.Requests {
			from += " JOIN " + table.Name + " USING (request_key)"
		}
		var line string
		rows, err := db.Query(fmt.Sprintf("SELECT concat_ws('|', '%s', requests.request_type, requests.id%s) AS line FROM %s ORDER BY line",
			table.Name, quoted(table.Name, columns), from))
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			if err := rows.Scan(&line); err != nil {
				t.Fatal(err)
			}
			lines = append(lines, line)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return lines
}

// quoted returns the columns as SQL literals, so that the values' types show.
func quoted(table string, columns []string) string {
	var s strings.Builder
	for _, c := range columns {
		fmt.Fprintf(&s, ", quote(%s.%s)", table, c)
	}
	return s.String()
}
