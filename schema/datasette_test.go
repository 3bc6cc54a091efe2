package schema_test

import (
	"encoding/json"
	"strings"
	"testing"

	"solarmirror/schema"
)

// Read back into the shape that Datasette documents: databases → NAME → tables → NAME → description, columns, hidden.
func TestDatasette(t *testing.T) {
	t.Parallel()
	text, err := schema.Datasette("sales")
	if err != nil {
		t.Fatal(err)
	}
	var metadata struct {
		Databases map[string]struct {
			Tables map[string]struct {
				Description string
				Columns     map[string]string
				LabelColumn string `json:"label_column"`
				SortDesc    string `json:"sort_desc"`
				Hidden      bool
				Units       map[string]string
			}
		}
	}
	if err := json.Unmarshal(text, &metadata); err != nil {
		t.Fatal(err)
	}
	tables := metadata.Databases["sales"].Tables
	for _, table := range schema.All() {
		got := tables[table.Name]
		if !strings.Contains(got.Description, table.Label) || !strings.Contains(got.Description, table.Doc) {
			t.Errorf("%s is described as %q", table.Name, got.Description)
		}
		if want := strings.HasPrefix(table.Name, "_"); got.Hidden != want {
			t.Errorf("%s: hidden is %v", table.Name, got.Hidden)
		}
		for _, named := range []string{got.LabelColumn, got.SortDesc} {
			if named != "" && table.Column(named) == nil {
				t.Errorf("%s has no column %s", table.Name, named)
			}
		}
		if got.Units != nil {
			t.Errorf("%s has units, which Datasette reads with Pint", table.Name)
		}
		for _, c := range table.Columns {
			for _, part := range []string{c.Label, c.Doc, c.Unit} {
				if !strings.Contains(got.Columns[c.Name], part) {
					t.Errorf("%s.%s is described as %q, without %q", table.Name, c.Name, got.Columns[c.Name], part)
				}
			}
		}
	}
	if len(tables) != len(schema.All()) {
		t.Errorf("%d tables, want %d", len(tables), len(schema.All()))
	}
}
