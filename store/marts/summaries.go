package marts

import (
	"embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/sqlitefile"
)

//go:embed summaries/*.sql
var summaryFiles embed.FS

// SQL returns the SELECT that gives the rows of a summary. It runs in any SQLite from 3.40 on, in
// the mirror or a copy of it that is not masked.
//
// Halves are common in ratios, in means of two numbers and in products of prices, and versions of
// SQLite round them differently by round(x, 6) or round(x, 2), but alike by round(1e6 * x) / 1e6.
func SQL(summary *schema.Table) string {
	text, err := summaryFiles.ReadFile("summaries/" + summary.Name + ".sql")
	if err != nil {
		panic(err) // a test reads them all
	}
	return string(text)
}

var sqlWord = regexp.MustCompile(`\w+`)

// reads returns the notes in _stale that a summary is computed after: the names of the tables its
// SQL mentions, with one name for all tables of the catalogue.
func reads(summary *schema.Table) []string {
	var names []string
	for _, word := range sqlWord.FindAllString(SQL(summary), -1) {
		t := schema.Find(word)
		if t == nil {
			continue
		}
		if root := schema.RootOf(t); root != nil {
			t = root
		}
		names = append(names, t.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// sources returns the notes that any summary is computed after.
func sources() []string {
	var names []string
	for _, s := range schema.Summaries {
		names = append(names, reads(s)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// differing is the temporary table of the rows that a summary lost and gained.
func differing(summary *schema.Table) string { return "temp.differing_" + summary.Name }

// compareSQL returns the statement that fills differing.
func compareSQL(summary *schema.Table) string {
	columns := strings.Join(summary.ColumnNames(), ", ")
	id := "rowid"
	if len(summary.Key) > 0 {
		id = "NULL"
	}
	return fmt.Sprintf(`CREATE TABLE %s AS
SELECT max(is_old) AS is_old, max(id) AS id, %[2]s FROM (
  SELECT 1 AS is_old, %[3]s AS id, %[2]s FROM %[4]s
  UNION ALL
  SELECT 0, NULL, %[2]s FROM (
%[5]s
)) GROUP BY %[2]s HAVING count(*) = 1`, differing(summary), columns, id, summary.Name, SQL(summary))
}

// applySQL returns the statements that write the rows of differing.
func applySQL(summary *schema.Table) []string {
	columns, key := strings.Join(summary.ColumnNames(), ", "), strings.Join(summary.Key, ", ")
	old, gone := "rowid", "id"
	if key != "" {
		old, gone = "("+key+")", key
	}
	return []string{
		fmt.Sprintf("DELETE FROM %s WHERE %s IN (SELECT %s FROM %s WHERE is_old)", summary.Name, old, gone, differing(summary)),
		fmt.Sprintf("INSERT INTO %s (%s) SELECT %[2]s FROM %s WHERE NOT is_old", summary.Name, columns, differing(summary)),
	}
}

// summarize computes the summaries that read something that has changed, and writes the rows that
// differ. While it computes nobody waits.
func (r *refresh) summarize() error {
	var changed []string
	err := r.side.Reader().SelectContext(r.ctx, &changed, "SELECT table_name FROM _stale WHERE key = 0")
	if err != nil {
		return fmt.Errorf("read _stale: %w", sqlitefile.Explain(r.side.Path(), err))
	}
	var due []*schema.Table
	for _, s := range schema.Summaries {
		if slices.ContainsFunc(reads(s), func(name string) bool { return slices.Contains(changed, name) }) {
			due = append(due, s)
		}
	}
	for _, s := range due {
		if err := r.side.Compute(r.ctx, "compute "+s.Name, compareSQL(s)); err != nil {
			return err
		}
	}
	return r.side.Update(r.ctx, func(tx *store.Tx) error {
		for _, s := range due {
			var written int64
			for _, query := range applySQL(s) {
				rows, err := tx.ExecContext(r.ctx, "write "+s.Name, query)
				if err != nil {
					return err
				}
				written += rows
			}
			if written > 0 {
				r.changed = append(r.changed, s.Name)
			}
		}
		_, err := tx.Exec("empty _stale", "DELETE FROM _stale WHERE key = 0")
		return err
	})
}
