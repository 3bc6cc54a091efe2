package marts

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/publish"
	"solarmirror/store/sqlitefile"
)

// office is a small mirror whose records are written in SQL.
type office struct {
	*testing.T
	*store.Mirror
	time time.Time
}

func newOffice(t *testing.T, o store.Options) *office {
	t.Helper()
	f := &office{T: t, time: time.Date(2026, 3, 10, 15, 0, 0, 0, time.UTC)}
	o.Now = func() time.Time { return f.time }
	m, err := store.Open(t.Context(), mirrorPath(t), o)
	must(t, err)
	t.Cleanup(func() { must(t, m.Close()) })
	f.Mirror = m
	return f
}

// change runs statements, notes the given records as stale and refreshes.
func (f *office) change(requests, equipments []int64, statements ...string) {
	f.Helper()
	must(f.T, f.Update(f.Context(), func(tx *store.Tx) error {
		for _, s := range statements {
			if _, err := tx.Exec(s, s); err != nil {
				return err
			}
		}
		if err := tx.NoteStaleKeys(schema.Requests, requests...); err != nil {
			return err
		}
		return tx.NoteStaleKeys(schema.Equipments, equipments...)
	}))
	must(f.T, Refresh(f.Context(), f.Mirror))
}

// says compares the result of a query with want: columns joined by a space, rows by a comma.
func (f *office) says(want, columns, rest string) {
	f.Helper()
	var parts []string
	for c := range strings.SplitSeq(columns, ", ") {
		parts = append(parts, "coalesce("+c+", '-')")
	}
	var got string
	query := fmt.Sprintf("SELECT coalesce(group_concat(x, ', '), '') FROM (SELECT %s AS x %s)", strings.Join(parts, " || ' ' || "), rest)
	must(f.T, f.Reader().GetContext(context.Background(), &got, query))
	if got != want {
		f.Errorf("%s %s\n  is   %s\n  want %s", columns, rest, got, want)
	}
}

const firstMarts = `INSERT INTO requests (request_key, request_type, id, final_value, original_value, total_power, budget_created, order_created, responsible_email, removed, _deleted_at, _first_seen_at) VALUES
	(1, 'budget', 'a', 90, 100, 5, '2026-01-31 12:00:00.000', NULL, 's@x', 0, NULL, '2026-01-31 13:00:00.000'),
	(2, 'order', 'a', 80, 100, 5, '2026-01-31 12:00:00.000', '2026-02-02 12:00:00.000', 's@x', 0, NULL, '2026-02-02 13:00:00.000'),
	(3, 'budget', 'b', 70, NULL, NULL, '2026-02-01 02:30:00.000', NULL, 's@x', 1, NULL, '2026-02-01 13:00:00.000'),
	(4, 'budget', 'c', NULL, 50, 2, NULL, NULL, NULL, NULL, NULL, '2026-02-01 13:00:00.000'),
	(5, 'order', 'd', 60, 60, 0, '2026-01-10 12:00:00.000', '2026-01-14 12:00:00.000', 's@x', 0, '2026-02-20 00:00:00.000', '2026-02-01 13:00:00.000');
`

// TestDealsCountOnce: a deal with a budget and an order counts once, as the order. The funnel
// includes removed and deleted deals, the other marts do not.
func TestDealsCountOnce(t *testing.T) {
	t.Parallel()
	f := newOffice(t, store.Options{Zone: mustZone(t, "America/Sao_Paulo")})
	f.change(nil, nil, firstMarts)
	f.says("2 order a, 4 budget c", "request_key, request_type, id", "FROM bi_requests ORDER BY 1")
	f.says("2026-02-02 2026-01-31", "order_date, budget_date", "FROM bi_requests WHERE request_key = 2")
	// In the zone, a and b were created in January: b at 23:30 on the 31st. c has no date.
	f.says("- - 1 0 -, 2026-01 s@x 3 2 3.0", "cohort_month, seller_email, budgets, orders, median_days_to_order", "FROM bi_funnel ORDER BY 1")
	f.says("1", "conversion > 0.33 AND conversion < 0.34", "FROM bi_funnel WHERE cohort_month IS NOT NULL")
	f.says("2026-02 1 80.0 5.0 0.016", "month, orders, final_value, power_kwp, value_per_wp", "FROM bi_revenue_month")
	f.says("- 1 - 0, s@x 0 - 1", "seller_email, budgets, budgets_value, orders", "FROM bi_sellers ORDER BY 1")
	f.says("- 0 -, s@x 1 0.2", "seller_email, is_order, reduction", "FROM bi_discounts ORDER BY 1")
	f.says("2 2.0 -", "request_key, days_to_order, days_to_billing", "FROM bi_lead_time")

	// The order is removed, so the budget, still live, represents the deal.
	f.change([]int64{2}, nil, "UPDATE requests SET removed = 1 WHERE request_key = 2")
	f.says("1 budget a, 4 budget c", "request_key, request_type, id", "FROM bi_requests ORDER BY 1")
	f.says("- - 1 0, 2026-01 s@x 3 2", "cohort_month, seller_email, budgets, orders", "FROM bi_funnel ORDER BY 1")
	f.says("", "month", "FROM bi_revenue_month")
	f.says("0", "count(*)", "FROM _stale")
}

// TestItemsFollowTheCatalogue: a NULL cost is not zero. A change of the catalogue updates the lines
// that show it, and writes nothing when no line does.
func TestItemsFollowTheCatalogue(t *testing.T) {
	t.Parallel()
	f := newOffice(t, store.Options{})
	f.change(nil, nil, firstMarts, `INSERT INTO request_products (request_key, position, type, product_code, quantity, total_price) VALUES
			(2, 1, 'module', 'M', 10, 50), (2, 2, 'inverter', 'I', 1, 30), (2, 3, 'extraItem', 'X', 1, 0), (4, 1, 'module', 'M', 2, 10)`,
		`INSERT INTO equipments (equipment_key, type, product_code, manufacturer, cost_price, nominal_max_power, inventory_current) VALUES
			(1, 'module', 'M', 'Sol', 4, 550, 20), (2, 'inverter', 'I', 'Vento', NULL, 5000, 3), (3, 'stringBox', 'M', 'Caixa', 9, NULL, NULL)`)
	items := func(want string) {
		t.Helper()
		f.says(want, "request_key, position, manufacturer, unit_cost, has_cost, power_kwp", "FROM bi_items ORDER BY request_key, position")
	}
	items("2 1 Sol 4.0 1 5.5, 2 2 Vento - 0 -, 2 3 - - 0 -, 4 1 Sol 4.0 1 1.1")
	f.exec(`CREATE TABLE touched (n)`, `CREATE TRIGGER t AFTER UPDATE ON bi_items BEGIN INSERT INTO touched VALUES (1); END`)

	f.change(nil, []int64{1, 2}, "UPDATE equipments SET inventory_current = 7")
	f.says("0", "count(*)", "FROM touched")
	f.says("1  7.0 0.0 10.0 63.0, 2  7.0 0.0 1.0 630.0, 3  7.0 0.0 0.0 -", "equipment_key, center_code, current, sold_30d, sold_90d, days_of_cover", "FROM bi_stock ORDER BY 1")

	f.change(nil, []int64{1}, "UPDATE equipments SET cost_price = 5 WHERE equipment_key = 1")
	items("2 1 Sol 5.0 1 5.5, 2 2 Vento - 0 -, 2 3 - - 0 -, 4 1 Sol 5.0 1 1.1")
	f.change(nil, []int64{2}, "UPDATE equipments SET cost_price = 0 WHERE equipment_key = 2")
	items("2 1 Sol 5.0 1 5.5, 2 2 Vento 0.0 1 -, 2 3 - - 0 -, 4 1 Sol 5.0 1 1.1")
	must(t, f.Update(t.Context(), func(tx *store.Tx) error {
		if err := tx.NoteStaleKeys(schema.Equipments, 1); err != nil {
			return err
		}
		_, err := tx.Exec("delete", "DELETE FROM equipments WHERE equipment_key = 1")
		return err
	}))
	must(t, Refresh(t.Context(), f.Mirror))
	items("2 1 - - 0 -, 2 2 Vento 0.0 1 -, 2 3 - - 0 -, 4 1 - - 0 -")
}

// TestStays: a stay ends when the status changes, the record is deleted or the order represents the
// deal. An open stay grows with the days.
func TestStays(t *testing.T) {
	t.Parallel()
	f := newOffice(t, store.Options{})
	stays := func(want string) {
		t.Helper()
		f.says(want, "request_key, deal_status, days, is_open, is_inferred", "FROM bi_status_duration ORDER BY request_key, started_at")
	}
	f.change(nil, nil, firstMarts, `INSERT INTO request_status_history (request_key, valid_from, valid_to, deal_status, final_value, removed, is_inferred) VALUES
		(1, '2026-01-31 13:00:00.000', '2026-02-01 01:00:00.000', 'Novo', 90, 0, 1), (1, '2026-02-01 01:00:00.000', NULL, 'Novo', 91, 0, 0),
		(2, '2026-02-02 13:00:00.000', '2026-03-01 00:00:00.000', 'Pedido', 80, 0, 1), (2, '2026-03-01 00:00:00.000', NULL, 'Pago', 80, 0, 0),
		(3, '2026-02-01 13:00:00.000', '2026-02-02 13:00:00.000', 'Novo', 70, 0, 1), (3, '2026-02-02 13:00:00.000', NULL, 'Novo', 70, 1, 0),
		(5, '2026-02-10 00:00:00.000', NULL, 'Pago', 60, 0, 1)`)
	stays("1 Novo 2.0 0 1, 2 Pedido 26.458333 0 1, 2 Pago 9.0 1 0, 3 Novo 1.0 0 1, 5 Pago 10.0 0 1")
	f.time = f.time.Add(12 * time.Hour)
	must(t, Refresh(t.Context(), f.Mirror))
	stays("1 Novo 2.0 0 1, 2 Pedido 26.458333 0 1, 2 Pago 10.0 1 0, 3 Novo 1.0 0 1, 5 Pago 10.0 0 1")
}

// TestConvertedBudgetDoesNotWait: where the order was seen before the budget, or with it, the budget
// has no stay.
func TestConvertedBudgetDoesNotWait(t *testing.T) {
	t.Parallel()
	for _, seen := range []string{"2026-01-30 13:00:00.000", "2026-01-31 13:00:00.000"} {
		f := newOffice(t, store.Options{})
		f.change(nil, nil, firstMarts, "UPDATE requests SET _first_seen_at = '"+seen+"' WHERE request_key = 2",
			`INSERT INTO request_status_history (request_key, valid_from, valid_to, deal_status, removed, is_inferred) VALUES
			(1, '2026-01-31 13:00:00.000', '2026-02-03 13:00:00.000', 'Novo', 0, 1), (1, '2026-02-03 13:00:00.000', NULL, 'Antigo', 0, 0)`)
		f.says("", "request_key, deal_status", "FROM bi_status_duration")
	}
}

// TestStockIgnoresTheFuture: an order dated after today is no recent sale.
func TestStockIgnoresTheFuture(t *testing.T) {
	t.Parallel()
	f := newOffice(t, store.Options{})
	f.change(nil, nil, firstMarts, "INSERT INTO equipments (equipment_key, type, product_code) VALUES (1, 'module', 'M')",
		"INSERT INTO request_products (request_key, position, type, product_code, quantity) VALUES (2, 1, 'module', 'M', 10)")
	f.says("10.0", "sold_90d", "FROM bi_stock")
	f.change([]int64{2}, nil, "UPDATE requests SET order_created = '2026-03-11 12:00:00.000' WHERE request_key = 2")
	f.says("0.0", "sold_90d", "FROM bi_stock")
}

// TestRefreshWhenDue: before the marts are built no key is noted, a refresh without changes writes
// nothing, and another recipe rebuilds everything.
func TestRefreshWhenDue(t *testing.T) {
	t.Parallel()
	f := newOffice(t, store.Options{})
	must(t, f.Update(t.Context(), func(tx *store.Tx) error {
		if _, err := tx.Exec("fill", firstMarts); err != nil {
			return err
		}
		return tx.NoteStaleKeys(schema.Requests, 1)
	}))
	f.says("0", "count(*)", "FROM _stale")
	must(t, Refresh(t.Context(), f.Mirror))
	f.says("5.0 2026-02-02", "power_kwp, order_date", "FROM bi_requests WHERE request_key = 2")
	before := f.version()
	must(t, Refresh(t.Context(), f.Mirror))
	if f.version() != before {
		t.Error("a refresh of nothing wrote to the file")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	inWp, err := store.Open(t.Context(), f.Path(), store.Options{PowerUnit: store.Wp, Now: f.Now})
	must(t, err)
	defer func() { must(t, inWp.Close()) }()
	f.Mirror = inWp
	before = f.version()
	if err := Refresh(ended, f.Mirror); err == nil {
		t.Error("a refresh goes on although it was told to stop")
	}
	must(t, Refresh(t.Context(), f.Mirror))
	f.says("0.005", "power_kwp", "FROM bi_requests WHERE request_key = 2")
	if f.version() == before {
		t.Error("a rebuild wrote nothing, so the version proves nothing")
	}
}

// TestManyChangesBuildAnew: more than manyAtLeast changes rebuild everything, fewer do not.
func TestManyChangesBuildAnew(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	f := newOffice(t, store.Options{Log: zerolog.New(&log)})
	f.change(nil, nil, `INSERT INTO requests (request_key, request_type, id, final_value, removed)
		WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 6000) SELECT i, 'budget', i, 1, 0 FROM n`)
	for _, c := range []struct {
		changed int
		value   string
		anew    string
	}{{manyAtLeast, "2.0", `"anew":false`}, {manyAtLeast + 1, "3.0", `"anew":true`}} {
		keys := make([]int64, c.changed)
		for i := range keys {
			keys[i] = int64(i + 1)
		}
		log.Reset()
		f.change(keys, nil, fmt.Sprintf("UPDATE requests SET final_value = %s WHERE request_key <= %d", c.value, c.changed))
		f.says(fmt.Sprintf("%d", c.changed), "count(*)", "FROM bi_requests WHERE final_value = "+c.value)
		f.says("6000", "budgets", "FROM bi_sellers")
		f.says("0", "count(*)", "FROM _stale")
		if !strings.Contains(log.String(), c.anew) {
			t.Errorf("%d changed: logged %s, want %s", c.changed, &log, c.anew)
		}
	}
}

// TestMartsJoinInMaskedCopies: marts normalize sellers and companies. So in a masked copy, where
// each has one pseudonym, marts join one another and the record tables without counting a row
// twice.
func TestMartsJoinInMaskedCopies(t *testing.T) {
	t.Parallel()
	f := newOffice(t, store.Options{})
	f.change(nil, nil, firstMarts, "UPDATE requests SET responsible_email = ' S@X' WHERE request_key IN (2, 3)",
		`INSERT INTO request_companies (request_key, cnpj, cpf) VALUES (1, '11222333000181', NULL), (2, '11.222.333/0001-81', ''), (4, '', '11222333000181')`)
	f.says("2 s@x 11.222.333/0001-81, 4 - 11.222.333/0001-81", "request_key, seller_email, company_tax_id", "FROM bi_requests ORDER BY 1")
	to := filepath.Join(t.TempDir(), "published.db")
	key, err := publish.EnsurePseudonymKey(t.Context(), filepath.Join(t.TempDir(), "key"))
	must(t, err)
	_, err = publish.Copy(t.Context(), f.Path(), publish.Options{To: to, KeepVersions: 1, Mask: &publish.Masking{Key: key}})
	must(t, err)
	db, err := sqlitefile.OpenUnguarded(to, "ro")
	must(t, err)
	defer db.Close()
	for query, want := range map[string]string{
		"SELECT count(*) || ' ' || min(c.orders + c.budgets) FROM bi_requests AS b JOIN bi_customers AS c USING (company_tax_id)":                   "2 2",
		"SELECT count(*) || ' ' || min(s.orders + s.budgets) FROM bi_requests AS b JOIN bi_sellers AS s USING (seller_email)":                       "1 1",
		"SELECT count(*) FROM bi_requests AS b JOIN bi_discounts AS d ON d.seller_email IS b.seller_email AND d.company_tax_id IS b.company_tax_id": "2",
		"SELECT group_concat(seller_email = responsible_email) FROM bi_requests JOIN requests USING (request_key) WHERE seller_email IS NOT NULL":   "1",
		"SELECT group_concat(company_tax_id = coalesce(nullif(cnpj, ''), cpf)) FROM bi_requests JOIN request_companies USING (request_key)":         "1,1",
		"SELECT count(*) FROM bi_funnel AS f JOIN bi_sellers AS s USING (seller_email)":                                                             "2",
	} {
		var got string
		must(t, db.GetContext(t.Context(), &got, query))
		if got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}

func mustZone(t testing.TB, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	must(t, err)
	return zone
}

func (f *office) exec(statements ...string) {
	f.Helper()
	execute(f.T, f.Mirror, statements...)
}

// version changes with every write, on the writing connection or another.
func (f *office) version() string {
	f.Helper()
	var version string
	must(f.T, f.Update(f.Context(), func(tx *store.Tx) error {
		_, err := tx.Get("read the version", &version, "SELECT total_changes() || ' ' || data_version FROM pragma_data_version")
		return err
	}))
	return version
}

func TestStartOfDay(t *testing.T) {
	t.Parallel()
	zone := mustZone(t, "America/Sao_Paulo")
	if at, err := startOfDay("2018-11-04", zone); err != nil || at.Before(time.Date(2018, 11, 4, 2, 0, 0, 0, time.UTC)) || at.After(time.Date(2018, 11, 4, 3, 0, 0, 0, time.UTC)) {
		t.Errorf("the day without a midnight starts at %v, %v", at, err)
	}
}
