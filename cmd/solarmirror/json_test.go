package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// withoutTable lists the commands that print no table, so need no --json.
var withoutTable = []string{
	"backup", "completion bash", "completion fish", "completion powershell", "completion zsh", "config check", "config example", "config show",
	"demo", // a story around tables that query prints
	"export", "healthcheck", "help", "init", "marts build", "marts check", "mcp", "outbox cancel", "outbox keygen", "outbox purge", "outbox resolve", "outbox retry",
	"publish", "rejects show", "report", "restore", "run", "schema datasette", "schema ddl", "schema markdown", "schema sql", "simulate",
}

// TestTablesAreJSONToo walks the commands: one that prints a table has --json, whose help names the fields.
func TestTablesAreJSONToo(t *testing.T) {
	t.Parallel()
	visit(newRootCommand(newApp(nil, nil, nil)), func(cmd *cobra.Command) {
		if cmd.HasSubCommands() {
			return
		}
		_, path, _ := strings.Cut(cmd.CommandPath(), " ")
		flag, listed := cmd.Flags().Lookup("json"), slices.Contains(withoutTable, path)
		switch {
		case listed && flag != nil:
			t.Errorf("%q has --json, and is listed as printing no table", path)
		case !listed && flag == nil:
			t.Errorf("%q has no --json; list it in withoutTable if it prints no table", path)
		case flag != nil && !strings.Contains(flag.Usage, ": "):
			t.Errorf("the help of %q --json names no field: %s", path, flag.Usage)
		}
	})
}

// TestJSONFieldsAreInTheHelp prints JSON of each command that needs a mirror at most: every line is one object, and each of its fields is in
// the command's help.
func TestJSONFieldsAreInTheHelp(t *testing.T) {
	t.Parallel()
	config, _ := atHostilePlatform(t)
	const company = `{"name":"Ana","email":"ana@example.com","password":"x","CNPJ":"11.222.333/0001-81"}`
	for _, line := range [][]string{
		{"sync"}, {"status"}, {"runs", "list"}, {"runs", "show", "1"}, {"doctor"}, {"verify", "equipments"},
		{"rejects", "list"}, {"rejects", "replay"}, {"schema", "tables"}, {"schema", "columns"}, {"version"}, {"outbox", "list"}, {"push", "--dry-run"},
		{"outbox", "add"}, {"outbox", "list"}, {"outbox", "show", "1"}, {"push", "--dry-run"}, {"forget", "11.222.333/0001-81", "--yes"}, {"query", "SELECT type AS form FROM equipments"},
	} {
		var data, notes bytes.Buffer
		code := run(t.Context(), append([]string{"--config", config}, append(line, "--json")...), strings.NewReader(company), &data, &notes)
		cmd, _, err := newRootCommand(newApp(nil, nil, nil)).Find(line)
		if err != nil || code != exitOK && code != exitPartial {
			t.Errorf("%q: exit code %d, %v\n%s", line, code, err, &notes)
			continue
		}
		if strings.ContainsRune(data.String(), 0x1b) {
			t.Errorf("%q: JSON steers the terminal: %q", line, &data)
		}
		help := cmd.Flags().Lookup("json").Usage
		words := strings.FieldsFunc(help, func(r rune) bool { return strings.ContainsRune(" ,;:()", r) })
		decoder := json.NewDecoder(&data)
		for {
			var object map[string]any
			err := decoder.Decode(&object)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			for field := range object {
				if !slices.Contains(words, field) && field != "form" {
					t.Errorf("%q has the field %s, which its help does not name", line, field)
				}
			}
		}
	}
}
