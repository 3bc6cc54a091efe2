package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"solarmirror/schema"
)

// shellCommand is the sqlite3 shell, at work on a file with commands of ours.
func shellCommand(ctx context.Context, db, script string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sqlite3", "-bail", db)
	cmd.Stdin = strings.NewReader(script)
	return cmd
}

func csvFile(dir string, t *schema.Table) string { return filepath.Join(dir, t.Name+".csv") }

// writeCSV writes the tables of a mirror to files for the shell to import.
func writeCSV(ctx context.Context, db, dir string) error {
	script := ".mode csv\n"
	for _, t := range tables() {
		columns := t.ColumnNames()
		if i := slices.Index(columns, "_hash"); i >= 0 {
			columns[i] = "hex(_hash)"
		}
		script += fmt.Sprintf(".once '%s'\nSELECT %s FROM %s;\n", csvFile(dir, t), strings.Join(columns, ", "), t.Name)
	}
	_, err := measureCommand(shellCommand(ctx, db, script))
	return err
}

func removeCSV(dir string) {
	for _, t := range tables() {
		_ = os.Remove(csvFile(dir, t))
	}
}

// importByShell is what an administrator would type who has the rows as CSV files: the tables, .import, the indices. The shell reads every
// value as text, so NULLs arrive as empty strings, and constraints would have to be left out.
func importByShell(ctx context.Context, db, dir string) (outcome, error) {
	var script strings.Builder
	for _, p := range pragmas {
		fmt.Fprintf(&script, "PRAGMA %s;\n", p)
	}
	for _, t := range tables() {
		bare := *t
		bare.Columns = slices.Clone(t.Columns)
		for i := range bare.Columns {
			bare.Columns[i].Clause = ""
		}
		fmt.Fprintf(&script, "%s;\n", bare.DDL())
	}
	script.WriteString(".mode csv\n")
	for _, t := range tables() {
		fmt.Fprintf(&script, ".import '%s' %s\n", csvFile(dir, t), t.Name)
	}
	script.WriteString(strings.Join(indexDDL(), ";\n") + ";\nPRAGMA wal_checkpoint(TRUNCATE);\n")
	return measureCommand(shellCommand(ctx, db, script.String()))
}
