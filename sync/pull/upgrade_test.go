package pull

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"solarmirror/store"
	"solarmirror/sync/platform/platformtest"
)

// version4 takes from a mirror what schemas 5 and 6 brought: of each table the columns, and the tables without a list.
var version4 = map[string][]string{
	"bi_requests": {"deal_class", "state", "payment_condition", "transaction_status", "freight_type", "freight_price", "items_value", "status_since", "status_since_inferred"},
	"bi_items":    {"deal_class", "kind", "state", "seller_email", "rated_power_w", "net_value", "cost_at_order"},
	"bi_funnel":   {"won", "lost", "open", "cancelled", "budgets_value", "won_value"},
	"_deals":      {"deal_class", "final_value"}, "_meta": {"power_unit"},
	"bi_margin": nil, "bi_pipeline": nil, "bi_payments": nil, "bi_statuses": nil, "bi_price_changes": nil, "bi_revenue_seller_month": nil,
	"_absences": {"sweeps"}, "_findings": nil,
}

// TestUpgradeFillsMarts: a mirror of schema 4 is upgraded in place by the first command that writes. Records and history stay, and
// the marts are those of a build from nothing, before any sync. The next command writes nothing.
func TestUpgradeFillsMarts(t *testing.T) {
	t.Parallel()
	r := newRig(t, platformtest.Options{Seed: 5, Requests: 120, Equipments: someEquipments(5, 30), Churn: platformtest.Churn{Updates: 0.02}})
	for range 3 {
		r.sync(Options{Full: true})
		r.clock.advance(30 * time.Hour)
	}
	r.sync(Options{})
	records, marts := contents(t, r.path), r.martRows()
	if err := r.mirror.Close(); err != nil {
		t.Fatal(err)
	}
	for table, columns := range version4 {
		for _, index := range r.query("SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL AND tbl_name = ?", table) {
			r.exec("DROP INDEX " + index[0].(string))
		}
		if columns == nil {
			r.exec("DROP TABLE " + table)
		}
		for _, column := range columns {
			r.exec("ALTER TABLE " + table + " DROP COLUMN " + column)
		}
	}
	r.exec("UPDATE _meta SET schema_version = 4", "UPDATE _marts SET recipe = 'schema 4'", "DELETE FROM _columns WHERE column_name = 'deal_class'")

	var log bytes.Buffer
	open := func() {
		t.Helper()
		o := r.storeOptions()
		o.Log = zerolog.New(&log)
		mirror, err := store.Open(t.Context(), r.path, o)
		if err != nil {
			t.Fatal(err)
		}
		if err := Promote(t.Context(), mirror, o.Log); err != nil {
			t.Error(err)
		}
		if err := mirror.Close(); err != nil {
			t.Fatal(err)
		}
	}
	open()
	if n := strings.Count(log.String(), `"level":"info","anew":true`); n != 1 {
		t.Errorf("built %d times:\n%s", n, &log)
	}
	if d := diff(records, contents(t, r.path)); d != "" {
		t.Errorf("records and history (-before +after):\n%s", d)
	}
	if d := diff(marts, r.martRows()); d != "" {
		t.Errorf("marts (-before +after):\n%s", d)
	}
	r.mustEqualRebuilt()
	before := fileBytes(t, r.path)
	log.Reset()
	open()
	if !bytes.Equal(before, fileBytes(t, r.path)) || log.Len() > 0 {
		t.Errorf("the second command wrote to the file, or said %q", &log)
	}
}

func fileBytes(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// TestNoMartsDuringTheFirstLoad: a command between an interrupted first load and the next sync builds no marts of half the records.
func TestNoMartsDuringTheFirstLoad(t *testing.T) {
	t.Parallel()
	r := newRig(t, platformtest.Options{Seed: 2, Requests: 300, Equipments: someEquipments(2, 30)})
	r.engine.Paging.Limit = 20
	r.cutOff(6)
	if n := r.value("SELECT count(*) FROM requests"); n == int64(0) {
		t.Fatal("nothing is loaded")
	}
	if err := Promote(t.Context(), r.mirror, zerolog.Nop()); err != nil {
		t.Fatal(err)
	}
	if n := r.value("SELECT count(*) FROM _marts"); n != int64(0) {
		t.Error("the marts are built")
	}
}
