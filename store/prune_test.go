package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"solarmirror/schema"
)

// A pruned record leaves nothing behind in any table, and takes nothing of another along.
func TestPrune(t *testing.T) {
	t.Parallel()
	m, err := Open(t.Context(), mirrorPath(t), Options{Now: fixedClock})
	must(t, err)
	defer m.Close()
	for key, gone := range map[int]string{1: "2026-01-01 00:00:00.000", 2: "2026-02-01 00:00:00.000", 3: "", 5: "2026-01-01 00:00:00.000", 9: "2026-01-01 00:00:00.000"} {
		kind := map[bool]string{true: "budget", false: "order"}[key == 5]
		for _, s := range []string{
			fmt.Sprintf("INSERT INTO requests (request_key, request_type, id, _deleted_at) VALUES (%d, '%s', '%d', nullif('%s', ''))", key, kind, key, gone),
			fmt.Sprintf("INSERT INTO request_products (request_key, position, product_code) VALUES (%d, 1, 'p')", key),
			fmt.Sprintf("INSERT INTO request_uploaded_files (request_key, file_position, position) VALUES (%d, 1, 1)", key),
			fmt.Sprintf("INSERT INTO request_status_history (request_key, valid_from, is_inferred) VALUES (%d, '2026-01-01 00:00:00.000', 1)", key),
		} {
			if _, err := m.conn.ExecContext(t.Context(), s); err != nil {
				t.Fatalf("%v in %s", err, s)
			}
		}
	}
	for _, step := range []struct {
		partition string
		before    time.Time
		pruned    int64
		left      []int
	}{
		{"", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), 0, []int{1, 2, 3, 5, 9}},
		{"order", time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), 1, []int{2, 3, 5, 9}}, // 9 has the greatest key
		{"", time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), 2, []int{3, 9}},
	} {
		tx, err := m.Begin(t.Context())
		must(t, err)
		pruned, err := tx.Prune(schema.Requests, step.partition, step.before)
		must(t, err)
		must(t, tx.Commit())
		if pruned != step.pruned {
			t.Errorf("before %v: %d pruned, want %d", step.before, pruned, step.pruned)
		}
		for _, table := range []string{"requests", "request_products", "request_uploaded_files", "request_status_history"} {
			var left []int
			must(t, m.read.SelectContext(t.Context(), &left, "SELECT request_key FROM "+table+" ORDER BY 1"))
			if diff := cmp.Diff(step.left, left); diff != "" {
				t.Errorf("before %v, %s (-want +got):\n%s", step.before, table, diff)
			}
		}
	}
}
