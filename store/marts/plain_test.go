package marts

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"solarmirror/store/sqlitefile"
)

// plainRows returns a function that runs a query in SQLite without functions of ours and returns
// its rows, sorted: in the program sqlite3 or, where it is not installed, on a connection of the
// driver.
func plainRows(t *testing.T, path string) func(query string) []string {
	t.Helper()
	shell, err := exec.LookPath("sqlite3")
	if err == nil {
		return func(query string) []string {
			cmd := exec.Command(shell, "-readonly", "-bail", "-batch", path)
			// This mode shows 15 digits. The last bit of round(x, 6) differs between versions.
			cmd.Stdin = strings.NewReader(".mode list\n.nullvalue NULL\n" + query + "\n;\n")
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%s: %v in %s", out, err, query)
			}
			return slices.Sorted(strings.Lines(string(out)))
		}
	}
	if os.Getenv("TEST_TOOLS") == "all" {
		t.Fatal("sqlite3 is missing, and TEST_TOOLS=all")
	}
	db, err := sqlitefile.OpenUnguarded(path, "ro")
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	return func(query string) (list []string) {
		rows, err := db.QueryxContext(t.Context(), query)
		must(t, err)
		defer rows.Close()
		for rows.Next() {
			row, err := rows.SliceScan()
			must(t, err)
			list = append(list, fmt.Sprintf("%#v", row))
		}
		must(t, rows.Err())
		slices.Sort(list)
		return list
	}
}
