package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"solarmirror/cmd/internal/terminal"
	"solarmirror/cmd/internal/testtools"
	"solarmirror/schema"
	"solarmirror/store"
)

// unexplained lists the columns of a file that its own dictionary says too little of.
const unexplained = `
SELECT m.name, i.name, i.type, c.* FROM sqlite_master m JOIN pragma_table_info(m.name) i
LEFT JOIN _columns c ON c.table_name = m.name AND c.column_name = i.name AND c.type = i.type
WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite\_%' ESCAPE '\'
  AND (ifnull(c.description, '') = '' OR ifnull(c.label_pt, '') = '' OR i.type IN ('REAL', 'TIMESTAMP') AND ifnull(c.unit, '') = '' OR c.personal IS NULL);`

// readWithShell uses SQLite's own shell: the file is sound, explains itself, holds what our own reader finds in it, and its schema makes
// the same tables again.
func readWithShell(t *testing.T, file string) {
	shell := func(file, input string) string {
		cmd := exec.Command(testtools.Program(t, "sqlite3", "sqlite3"), "-bail", file)
		cmd.Stdin = strings.NewReader(input)
		return string(output(t, cmd))
	}
	if got := shell(file, "PRAGMA integrity_check; PRAGMA foreign_key_check;"); got != "ok\n" {
		t.Errorf("integrity_check and foreign_key_check say %s", got)
	}
	if got := shell(file, unexplained); got != "" {
		t.Errorf("columns that _columns does not explain:\n%s", got)
	}
	var counts []string
	for _, table := range schema.All() {
		counts = append(counts, fmt.Sprintf("SELECT '%s', count(*) FROM %[1]s", table.Name))
	}
	count := strings.Join(counts, " UNION ALL ")
	if diff := cmp.Diff(ownAnswer(t, file, count), shell(file, count+";")); diff != "" {
		t.Errorf("rows (-ours +sqlite3's):\n%s", diff)
	}

	again := filepath.Join(t.TempDir(), "again.db")
	ddl := shell(file, ".schema")
	shell(again, ddl)
	if diff := cmp.Diff(ddl, shell(again, ".schema")); diff != "" {
		t.Errorf(".schema of what .schema makes (-want +got):\n%s", diff)
	}
	tables := strings.Fields(shell(again, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY 1;"))
	if diff := cmp.Diff(slices.Sorted(slices.Values(tableNames(schema.All()))), tables); diff != "" {
		t.Errorf("tables (-want +got):\n%s", diff)
	}
}

// readSummaries pastes what "schema sql" prints into SQLite's own shell: it gives the rows of each summary.
func readSummaries(t *testing.T, file string) {
	shell := func(input string) []string {
		cmd := exec.Command(testtools.Program(t, "sqlite3", "sqlite3"), "-bail", "-header", "-readonly", file)
		cmd.Stdin = strings.NewReader(input)
		lines := strings.SplitAfter(string(output(t, cmd)), "\n")
		slices.Sort(lines)
		return lines
	}
	isEmpty := ownAnswer(t, file, "SELECT count(*) FROM bi_requests") == "0\n"
	for _, summary := range schema.Summaries {
		var printed strings.Builder
		cmd := newSchemaSQLCommand(&app{stdout: &printed})
		cmd.SetArgs([]string{summary.Name})
		if err := cmd.Execute(); err != nil {
			t.Fatal(err)
		}
		rows := shell("SELECT * FROM " + summary.Name + ";")
		if diff := cmp.Diff(rows, shell(printed.String())); diff != "" {
			t.Errorf("%s (-table +SELECT):\n%s", summary.Name, diff)
		}
		if len(rows) == 1 && !isEmpty {
			t.Errorf("%s has no rows", summary.Name)
		}
		for line := range strings.Lines(printed.String()) {
			if strings.HasPrefix(line, "--") && len(line) > 101 {
				t.Errorf("a comment of %d bytes: %s", len(line), line)
			}
		}
	}
}

// ownAnswer is the result of a query in the form of the shell.
func ownAnswer(t *testing.T, file, query string) string {
	t.Helper()
	mirror, err := store.OpenReadOnly(context.Background(), file)
	if err != nil {
		t.Fatal(err)
	}
	defer mirror.Close()
	result, err := mirror.Query(context.Background(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer result.Close()
	var b strings.Builder
	for row, err := range result.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = terminal.Plain(v)
		}
		b.WriteString(strings.Join(cells, "|") + "\n")
	}
	return b.String()
}
