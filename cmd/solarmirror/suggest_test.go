package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"solarmirror/store/dealclass"
)

// Each suggestion is a command that exists; each word that leads to it is none, and leads to one only.
func TestWhatIsMeantExists(t *testing.T) {
	t.Parallel()
	root := newRootCommand(newApp(nil, nil, nil))
	exists := func(line string) (*cobra.Command, bool) {
		found, rest, err := root.Find(strings.Fields(line))
		return found, err == nil && len(rest) == 0 && found != root
	}
	leadsTo := map[string]string{}
	for line, words := range meant() {
		command, flag, _ := strings.Cut(line, " --")
		if found, known := exists(command); !known {
			t.Errorf("%q is no command", line)
		} else if flag != "" && flag != "help" && found.Flags().Lookup(flag) == nil {
			t.Errorf("%q has no such flag", line)
		}
		for _, word := range words {
			if _, known := exists(word); known {
				t.Errorf("%q is a command", word)
			}
			if word != dealclass.Fold(word) {
				t.Errorf("%q is never typed: case and accents are taken off", word)
			}
			if other := leadsTo[word]; other != "" {
				t.Errorf("%q leads to %q and %q", word, line, other)
			}
			leadsTo[word] = line
			group, _, below := strings.Cut(word, " ")
			if parent, known := exists(group); below && (!known || !parent.HasSubCommands()) {
				t.Errorf("%q: nothing is looked up below %q", word, group)
			}
		}
	}
}

// withoutTable lists the commands that print no table, so need no --json.
var withoutTable = []string{
	"backup", "completion bash", "completion fish", "completion powershell", "completion zsh", "config check", "config example", "config show",
	"demo", // a story around tables that query prints
	"export", "healthcheck", "help", "init", "marts build", "marts check", "outbox cancel", "outbox keygen", "outbox purge", "outbox resolve", "outbox retry",
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
		case flag != nil && !strings.Contains(flag.Usage, ": ") && !strings.Contains(flag.Usage, "as \"outbox list --json\""):
			t.Errorf("the help of %q --json names no field: %s", path, flag.Usage)
		}
	})
}
