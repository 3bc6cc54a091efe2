package marts

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/storetest"
)

// TestMartRenamedOrDropped: after an analyst renames or drops a mart, the next Open creates it
// again and the next refresh fills it. The renamed table is not changed.
func TestMartRenamedOrDropped(t *testing.T) {
	t.Parallel()
	for _, mart := range []*schema.Table{schema.Find("bi_funnel"), schema.Find("bi_requests"), schema.Deals, schema.BiFreshness} {
		for _, how := range []string{"ALTER TABLE %s RENAME TO mine", "DROP TABLE %s"} {
			t.Run(fmt.Sprintf(how, mart.Name), func(t *testing.T) {
				t.Parallel()
				path := mirrorPath(t)
				m := openMirror(t, path)
				writeOrders(t, m, 1, 20)
				must(t, Refresh(t.Context(), m))
				before, rows := declared(t, m), martRows(t, m)
				execute(t, m, fmt.Sprintf(how, mart.Name))

				next := openMirror(t, path)
				must(t, Refresh(t.Context(), next))
				if diff := cmp.Diff(rows, martRows(t, next)); diff != "" {
					t.Errorf("rows (-before +after):\n%s", diff)
				}
				execute(t, next, "DROP TABLE IF EXISTS mine")
				if diff := cmp.Diff(before, declared(t, next)); diff != "" {
					t.Errorf("declarations (-before +after):\n%s", diff)
				}
				writeOrders(t, next, 21, 40)
				must(t, Refresh(t.Context(), next))
			})
		}
	}
}

// writeOrders writes the orders with the keys from first to last.
func writeOrders(t *testing.T, m *store.Mirror, first, last int64) {
	t.Helper()
	must(t, m.Update(t.Context(), func(tx *store.Tx) error {
		var keys []int64
		for key := first; key <= last; key++ {
			keys = append(keys, key)
			for _, insert := range []string{
				"INSERT INTO requests (request_key, request_type, id, name) VALUES (?1, 'order', printf('%04d', ?1), 'n')",
				"INSERT INTO request_products (request_key, position, name) VALUES (?1, 1, 'p')",
			} {
				if _, err := tx.Exec("write orders", insert, key); err != nil {
					return err
				}
			}
		}
		return tx.NoteStaleKeys(schema.Requests, keys...)
	}))
}

// declared returns the SQL of every table and index.
func declared(t *testing.T, m *store.Mirror) (list []string) {
	t.Helper()
	must(t, m.Reader().SelectContext(t.Context(), &list, "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY sql"))
	return list
}

// martRows counts the rows of each mart. bi_freshness is left out: only a run writes it.
func martRows(t *testing.T, m *store.Mirror) map[string]int64 {
	t.Helper()
	rows := map[string]int64{}
	for _, mart := range schema.Derived() {
		rows[mart.Name] = storetest.Number(t, m.Reader(), "SELECT count(*) FROM "+mart.Name)
	}
	return rows
}
