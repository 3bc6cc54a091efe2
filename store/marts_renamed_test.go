package store

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"solarmirror/schema"
)

// After an analyst renames or drops a mart, the next Open creates it again, and the next refresh
// fills it. A renamed table is left alone.
func TestMartRenamedOrDropped(t *testing.T) {
	t.Parallel()
	for _, mart := range []*schema.Table{schema.Find("bi_funnel"), schema.Find("bi_requests"), schema.Deals, schema.BiFreshness} {
		for _, how := range []string{"ALTER TABLE %s RENAME TO mine", "DROP TABLE %s"} {
			t.Run(fmt.Sprintf(how, mart.Name), func(t *testing.T) {
				t.Parallel()
				path := mirrorPath(t)
				m := openMirror(t, path)
				_, err := writePage(t.Context(), m, FormatTime(start), somePage(1, 20))
				must(t, err)
				must(t, Refresh(t.Context(), m))
				before, rows := declared(t, m), martRows(t, m)
				_, err = m.conn.ExecContext(t.Context(), fmt.Sprintf(how, mart.Name))
				must(t, err)

				next := openMirror(t, path)
				must(t, Refresh(t.Context(), next))
				if diff := cmp.Diff(rows, martRows(t, next)); diff != "" {
					t.Errorf("rows (-before +after):\n%s", diff)
				}
				_, err = next.conn.ExecContext(t.Context(), "DROP TABLE IF EXISTS mine")
				must(t, err)
				if diff := cmp.Diff(before, declared(t, next)); diff != "" {
					t.Errorf("declarations (-before +after):\n%s", diff)
				}
				_, err = writePage(t.Context(), next, FormatTime(start), somePage(2, 20))
				must(t, err)
				must(t, Refresh(t.Context(), next))
				if found, err := inspect(t.Context(), next.conn); err != nil || len(found.missing(next.model)) > 0 {
					t.Errorf("still missing: %v, %v", found.missing(next.model), err)
				}
			})
		}
	}
}

// declared returns the SQL of every table and index.
func declared(t *testing.T, m *Mirror) (list []string) {
	t.Helper()
	must(t, m.read.SelectContext(t.Context(), &list, "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY sql"))
	return list
}

// martRows counts the rows of each mart. bi_freshness is left out: only a run writes it.
func martRows(t *testing.T, m *Mirror) map[string]int64 {
	t.Helper()
	rows := map[string]int64{}
	for _, mart := range schema.Derived() {
		rows[mart.Name] = number(t, m, "SELECT count(*) FROM "+mart.Name)
	}
	return rows
}
