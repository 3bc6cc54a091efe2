package schema_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"solarmirror/schema"
)

// golden is a file in testdata that holds the statements of one version of the tables. Files of
// that version exist on other machines, so -update replaces a golden only by that of a later one.
type golden struct {
	file     string
	constant string // the version's name
	version  int
	ddl      []string
}

func goldens() []golden {
	outbox := slices.Concat(statements(schema.OutboxTables), slices.Sorted(maps.Values(schema.OutboxTriggers)))
	return []golden{
		{"testdata/ddl.golden", "schema.Version", schema.Version, statements(schema.All())},
		{"testdata/outbox.golden", "schema.OutboxVersion", schema.OutboxVersion, outbox},
	}
}

func statements(tables []*schema.Table) (list []string) {
	for _, t := range tables {
		list = append(list, "\n"+t.DDL())
		list = append(list, slices.Sorted(maps.Values(t.IndexDDL()))...)
	}
	return list
}

func (g golden) text() string {
	return fmt.Sprintf("-- %s %d\n%s;\n", g.constant, g.version, strings.Join(g.ddl, ";\n"))
}

// check compares the file's content with the declared tables. When they differ it says what to do,
// and whether that is to replace the file.
func (g golden) check(content string) (replace bool, err error) {
	var was int
	if _, err := fmt.Sscanf(content, "-- "+g.constant+" %d\n", &was); err != nil {
		return false, fmt.Errorf("%s does not begin with its version: restore it: %w", g.file, err)
	}
	switch diff := cmp.Diff(strings.Split(content, "\n"), strings.Split(g.text(), "\n")); {
	case diff == "":
		return false, nil
	case was == g.version:
		return false, fmt.Errorf("the tables have changed, but %[2]s is still %[3]d, of which files exist: raise it to %[4]d, then run `go test ./schema -update`. "+
			"If no release has version %[3]d yet, restore %[1]s as it was at version %[5]d in place of raising it. -%[1]s +declared:\n%[6]s",
			g.file, g.constant, g.version, g.version+1, g.version-1, diff)
	case was > g.version:
		return false, fmt.Errorf("%s is %d, but was %d: it never falls", g.constant, g.version, was)
	default:
		return true, fmt.Errorf("%s has been raised from %d to %d: run `go test ./schema -update`. -%s +declared:\n%s", g.constant, was, g.version, g.file, diff)
	}
}

// The goldens are the contract's list of tables and columns: compare a new one with the contract.
func TestDDL(t *testing.T) {
	t.Parallel()
	for _, g := range goldens() {
		replace, err := g.check(readFile(t, g.file))
		if replace && *update {
			writeFile(t, g.file, g.text())
		} else if err != nil {
			t.Error(err)
		}
	}
}

func TestGoldenIsReplacedByALaterVersionOnly(t *testing.T) {
	t.Parallel()
	was := golden{"f.golden", "schema.Version", 7, []string{"CREATE TABLE a (b TEXT)"}}
	changed := []string{"CREATE TABLE a (b TEXT, c TEXT)"}
	for name, test := range map[string]struct {
		version int
		ddl     []string
		replace bool
		says    string
	}{
		"nothing changed":         {7, was.ddl, false, ""},
		"tables":                  {7, changed, false, "raise it to 8"},
		"tables and version":      {8, changed, true, "raised from 7 to 8: run `go test ./schema -update`"},
		"version":                 {8, was.ddl, true, "raised from 7 to 8"},
		"tables, version lowered": {6, changed, false, "never falls"},
	} {
		g := golden{was.file, was.constant, test.version, test.ddl}
		replace, err := g.check(was.text())
		if replace != test.replace || (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: replace %v, %v", name, replace, err)
		}
	}
	if replace, err := was.check(""); replace || err == nil {
		t.Errorf("an empty golden: replace %v, %v", replace, err)
	}
}
