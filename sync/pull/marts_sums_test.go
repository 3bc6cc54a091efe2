package pull

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/marts/martstest"
	"solarmirror/store/testsize"
	"solarmirror/sync/platform/platformtest"
)

var martRequests = flag.Int("requests", 400, "requests the sums of the marts are proved on, for each of 3 seeds; 20000 is the full run")

// TestMartsReconcile: every row of every mart follows from the tables of records, money to the
// cent.
func TestMartsReconcile(t *testing.T) {
	t.Parallel()
	for seed := range uint64(testsize.Fewer(3)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, platformtest.Options{Seed: seed, Requests: testsize.Fewer(*martRequests), Equipments: someEquipments(seed, 120), Churn: platformtest.Churn{Updates: 0.01}})
			r.engine.Paging.Limit = 500
			r.sync(Options{})
			r.platform.SetChurn(platformtest.Churn{Inserts: 1, Updates: 2, Removals: 1, Conversions: 2, Restores: 1})
			for range 3 {
				r.clock.advance(16 * 24 * time.Hour)
				_, _ = r.engine.Sync(t.Context(), Options{Streams: Streams(), Full: true, AcceptDeletions: true, Trigger: store.TriggerManual})
			}
			result := r.reconcile()
			for _, table := range schema.Derived() {
				if result.Rows[table.Name] == 0 {
					t.Errorf("%s is empty: that proves nothing", table.Name)
				}
				t.Logf("%s: %d rows equal", table.Name, result.Rows[table.Name])
			}
			for what, query := range map[string]string{
				"live as a budget and as an order": `SELECT count(*) FROM requests AS b JOIN requests AS o USING (id)
					WHERE b.request_type = 'budget' AND o.request_type = 'order' AND b.removed = 0 AND o.removed = 0 AND b._deleted_at IS NULL AND o._deleted_at IS NULL`,
				"open":                          "SELECT count(*) FROM bi_requests WHERE deal_class = 'open'",
				"lost":                          "SELECT count(*) FROM bi_requests WHERE deal_class = 'lost'",
				"won":                           "SELECT count(*) FROM bi_requests WHERE deal_class = 'won'",
				"cancelled":                     "SELECT count(*) FROM bi_requests WHERE deal_class = 'cancelled'",
				"dead":                          "SELECT (SELECT count(*) FROM _deals) - (SELECT count(*) FROM bi_requests)",
				"a line with the cost at order": "SELECT count(*) FROM bi_items WHERE cost_at_order IS NOT NULL",
			} {
				if r.value(query) == int64(0) {
					t.Errorf("no deal is %s: that proves little", what)
				}
			}
		})
	}
}

// reconcile proves the marts on the tables of records.
func (r *rig) reconcile() martstest.Result {
	r.t.Helper()
	result, err := martstest.Reconcile(r.t.Context(), r.mirror, store.KWp)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, d := range result.Differences {
		r.t.Error(d)
	}
	return result
}
