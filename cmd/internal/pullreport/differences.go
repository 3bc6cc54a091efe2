package pullreport

import (
	"strings"

	"solarmirror/cmd/internal/terminal"
	"solarmirror/sync/pull"
)

type differenceJSON struct {
	Type   string   `json:"type"`
	Key    string   `json:"key"`
	Kind   string   `json:"kind"`
	Tables []string `json:"tables,omitempty"`
	State  string   `json:"state,omitempty"` // absent of a repair
}

func differencesJSON(list []pull.Difference) []differenceJSON {
	out := make([]differenceJSON, len(list))
	for i, d := range list {
		out[i] = differenceJSON{Type: d.Key[0], Key: d.Key[1], Kind: d.Kind, Tables: d.Tables, State: string(d.State)}
	}
	return out
}

const shownDifferences = 50 // in a table; --json lists all

func newDifferenceTable() *terminal.Table {
	return terminal.NewTable("stream", "type", "key", "how", "tables")
}

// addDifferences adds rows until the table has shownDifferences.
func addDifferences(t *terminal.Table, list []pull.Difference) {
	for _, d := range list[:min(len(list), shownDifferences-t.Len())] {
		t.Add(d.Stream, d.Key[0], terminal.Cell(d.Key[1]), d.Kind, strings.Join(d.Tables, ", "))
	}
}
