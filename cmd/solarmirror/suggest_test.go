package main

import (
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
