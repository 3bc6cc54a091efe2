package marts

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jmoiron/sqlx"
	"modernc.org/sqlite"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/sqlitefile"
	"solarmirror/store/testsize"
)

// TestReads: a summary is computed after exactly the tables that SQLite reads for it.
func TestReads(t *testing.T) {
	t.Parallel()
	f := newOffice(t, store.Options{})
	db, err := sqlitefile.OpenUnguarded(f.Path(), "ro")
	must(t, err)
	defer func() { must(t, db.Close()) }()
	conn, err := db.Connx(t.Context())
	must(t, err)
	defer func() { must(t, conn.Close()) }()
	var read []string
	must(t, conn.Raw(func(c any) error {
		return c.(sqlite.AuthorizerRegisterer).RegisterAuthorizer(func(action sqlite.AuthorizerActionCode, table, _, _, _ string) sqlite.AuthorizerReturnCode {
			if found := schema.Find(table); action == sqlite.AuthRead && found != nil {
				if root := schema.RootOf(found); root != nil {
					found = root
				}
				read = append(read, found.Name)
			}
			return sqlite.AuthorizerOK
		})
	}))
	for _, s := range schema.Summaries {
		read = nil
		_, err := conn.ExecContext(t.Context(), SQL(s))
		must(t, err)
		slices.Sort(read)
		if d := cmp.Diff(slices.Compact(read), reads(s)); d != "" || len(read) == 0 {
			t.Errorf("%s (-read by SQLite +noted):\n%s", s.Name, d)
		}
		for _, name := range reads(s) {
			derived := slices.ContainsFunc(append(slices.Clone(schema.Facts), schema.Deals, schema.Marts, schema.Equipments), func(t *schema.Table) bool { return t.Name == name })
			if !derived {
				t.Errorf("%s reads %s, which no refresh notes", s.Name, name)
			}
		}
	}
}

// refreshed is what a refresh did: the summaries that it computed and the tables that it wrote.
type refreshed struct{ Computed, Written []string }

// watchedRefresh refreshes and says what it did. Written are the tables with the number of rows.
func (f *office) watchedRefresh() refreshed {
	f.Helper()
	var did refreshed
	f.exec("DELETE FROM written")
	r := &refresh{ctx: f.Context(), today: today(f.Mirror), power: store.KWp}
	must(f.T, f.WithSideConnection(f.Context(), func(side *store.Side) error {
		r.side = side
		if err := r.run(); err != nil {
			return err
		}
		// The temporary tables of the side connection name the summaries that were computed.
		return side.Update(f.Context(), func(tx *store.Tx) error {
			var names string
			_, err := tx.Get("list", &names, "SELECT coalesce(group_concat(substr(name, 11), ' '), '') FROM (SELECT name FROM temp.sqlite_master WHERE name LIKE 'differing\\_%' ESCAPE '\\' ORDER BY 1)")
			did.Computed = strings.Fields(names)
			return err
		})
	}))
	must(f.T, f.Reader().SelectContext(f.Context(), &did.Written, "SELECT name || ' ' || count(*) FROM written GROUP BY name ORDER BY name"))
	for _, name := range r.changed {
		if !slices.Contains(did.Computed, name) || !slices.ContainsFunc(did.Written, func(w string) bool { return strings.HasPrefix(w, name+" ") }) {
			f.Errorf("%s is said to have changed", name)
		}
	}
	return did
}

// TestSummariesFollowWhatChanged: a summary is computed if something that it reads has changed, and
// only rows that differ are written.
func TestSummariesFollowWhatChanged(t *testing.T) {
	t.Parallel()
	f := newOffice(t, store.Options{PowerUnit: store.KWp})
	f.change(nil, nil, `INSERT INTO requests (request_key, request_type, id, final_value, original_value, order_created, responsible_email, deal_status, _first_seen_at) VALUES
			(1, 'order', 'a', 90, 100, '2026-03-01 12:00:00.000', 'ana@x', 'Novo', '2026-03-01 12:00:00.000'), (2, 'order', 'b', 80, 80, '2026-03-02 12:00:00.000', 'rui@x', 'Novo', '2026-03-01 12:00:00.000'),
			(3, 'budget', 'c', 70, 70, NULL, 'eva@x', 'Novo', '2026-03-01 12:00:00.000')`,
		`INSERT INTO request_status_history (request_key, valid_from, deal_status, is_inferred) VALUES (3, '2026-03-01 12:00:00.000', 'Novo', 1)`,
		`INSERT INTO request_products (request_key, position, type, product_code, quantity, total_price, name) VALUES (1, 1, 'module', 'M', 1, 100, 'm'), (2, 1, 'module', 'M', 1, 80, 'm')`,
		`INSERT INTO equipments (equipment_key, type, product_code, cost_price, base_price, inventory_current) VALUES (1, 'module', 'M', 40, 60, 5), (2, 'inverter', 'I', 40, 60, 5)`,
		`INSERT INTO equipment_price_history (equipment_key, valid_from, cost_price, base_price, is_inferred) VALUES (1, '2026-02-01 00:00:00.000', 40, 60, 1), (2, '2026-02-01 00:00:00.000', 40, 60, 1)`)
	f.exec("CREATE TABLE written (name)")
	for _, table := range schema.Derived() {
		for _, event := range []string{"INSERT", "UPDATE", "DELETE"} {
			f.exec(fmt.Sprintf("CREATE TRIGGER %[1]s_%[2]s AFTER %[2]s ON %[1]s BEGIN INSERT INTO written VALUES ('%[1]s'); END", table.Name, event))
		}
	}
	readDeals := []string{"bi_customers", "bi_discounts", "bi_payments", "bi_pipeline", "bi_revenue_month", "bi_revenue_seller_month", "bi_sellers", "bi_statuses", "bi_stock"}
	for _, step := range []struct {
		what       string
		changes    string
		requests   []int64
		equipments []int64
		passes     time.Duration
		want       refreshed
	}{
		{what: "nothing"},
		{what: "a note without a change", requests: []int64{1, 2, 3}, equipments: []int64{}, want: refreshed{}},
		{what: "the stock", changes: "UPDATE equipments SET inventory_current = 6 WHERE equipment_key = 1", equipments: []int64{1},
			want: refreshed{[]string{"bi_stock"}, []string{"bi_stock 2"}}},
		{what: "a base price", changes: "INSERT INTO equipment_price_history (equipment_key, valid_from, cost_price, base_price, is_inferred) VALUES (1, '2026-03-05 00:00:00.000', 40, 61, 0)", equipments: []int64{1},
			want: refreshed{[]string{"bi_stock"}, []string{"bi_price_changes 1"}}},
		{what: "a cost", changes: "UPDATE equipments SET cost_price = 41 WHERE equipment_key = 1", equipments: []int64{1}, // that of the order's day stays
			want: refreshed{[]string{"bi_margin", "bi_stock"}, []string{"bi_items 2"}}},
		{what: "a name that no summary shows", changes: "UPDATE requests SET name = 'n' WHERE request_key = 1", requests: []int64{1},
			want: refreshed{readDeals, []string{"bi_requests 1"}}},
		{what: "the seller's name", changes: "UPDATE requests SET responsible_name = 'Ana' WHERE request_key = 1", requests: []int64{1},
			want: refreshed{readDeals, []string{"bi_discounts 2", "bi_requests 1", "bi_sellers 2"}}},
		{what: "a line's name", changes: "UPDATE request_products SET name = 'n' WHERE request_key = 1", requests: []int64{1},
			want: refreshed{[]string{"bi_margin", "bi_stock"}, []string{"bi_items 1"}}},
		{what: "a day", passes: 24 * time.Hour, want: refreshed{[]string{"bi_pipeline", "bi_stock"}, []string{"bi_pipeline 2", "bi_status_duration 1"}}},
	} {
		f.time = f.time.Add(step.passes)
		must(t, f.Update(t.Context(), func(tx *store.Tx) error {
			if step.changes != "" {
				if _, err := tx.Exec(step.what, step.changes); err != nil {
					return err
				}
			}
			if err := tx.NoteStaleKeys(schema.Requests, step.requests...); err != nil {
				return err
			}
			return tx.NoteStaleKeys(schema.Equipments, step.equipments...)
		}))
		if d := cmp.Diff(step.want, f.watchedRefresh(), cmp.Transformer("empty", func(s []string) []string { return append([]string{}, s...) })); d != "" {
			t.Errorf("%s (-want +got):\n%s", step.what, d)
		}
	}
}

// TestCostAtOrder: the cost of the moment of the order or, where none was known yet, the first one
// of that day. A line follows the history even if the catalogue is as before.
func TestCostAtOrder(t *testing.T) {
	t.Parallel()
	f := newOffice(t, store.Options{Zone: mustZone(t, "America/Sao_Paulo")})
	f.change(nil, nil, `INSERT INTO requests (request_key, request_type, id, order_created) VALUES
			(1, 'order', 'day before', '2026-03-02 02:59:59.999'), (2, 'order', 'same day', '2026-03-02 03:00:00.000'), (3, 'order', 'exact', '2026-03-02 18:00:00.000'),
			(4, 'order', 'ahead of the clock', '2026-03-12 12:00:00.000'), (5, 'budget', 'no order', '2026-03-05 12:00:00.000'), (6, 'order', 'no date', NULL)`,
		"INSERT INTO request_products (request_key, position, type, product_code) SELECT request_key, 1, 'module', 'M' FROM requests",
		"INSERT INTO equipments (equipment_key, type, product_code, cost_price) VALUES (1, 'module', 'M', 4)",
		"INSERT INTO equipment_price_history (equipment_key, valid_from, cost_price, is_inferred) VALUES (1, '2026-03-02 18:00:00.000', 4, 1)")
	costs := func(want string) {
		t.Helper()
		f.says(want, "request_key, cost_at_order", "FROM bi_items ORDER BY 1")
	}
	costs("1 -, 2 4.0, 3 4.0, 4 4.0, 5 -, 6 -")
	f.change(nil, []int64{1}, "UPDATE equipment_price_history SET valid_to = '2026-03-11 00:00:00.000'", `INSERT INTO equipment_price_history (equipment_key, valid_from, valid_to, cost_price, is_inferred) VALUES
		(1, '2026-03-11 00:00:00.000', '2026-03-13 00:00:00.000', 5, 0), (1, '2026-03-13 00:00:00.000', NULL, 4, 0)`)
	costs("1 -, 2 4.0, 3 4.0, 4 5.0, 5 -, 6 -")
}

// TestComputingTakesNoLock: summaries are computed while somebody else holds the write lock and the
// turn of this process, and nothing stays locked before they are written.
func TestComputingTakesNoLock(t *testing.T) {
	t.Parallel()
	f := newOffice(t, store.Options{})
	f.change(nil, nil, firstMarts)
	foreign, err := sqlx.Open("sqlite", sqlitefile.DSN(f.Path(), []string{"busy_timeout(0)"}))
	must(t, err)
	foreign.SetMaxOpenConns(1)
	defer func() { must(t, foreign.Close()) }()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	must(t, f.WithSideConnection(ctx, func(side *store.Side) error {
		tx, err := f.Begin(ctx)
		must(t, err)
		for _, s := range schema.Summaries {
			must(t, side.Compute(ctx, s.Name, compareSQL(s)))
		}
		must(t, tx.Commit())
		for _, statement := range []string{"BEGIN IMMEDIATE", "UPDATE requests SET name = 'n'", "COMMIT"} {
			_, err := foreign.ExecContext(ctx, statement)
			must(t, err)
		}
		return side.Update(ctx, func(tx *store.Tx) error { _, err := tx.Exec("write", applySQL(schema.BiSellers)[0]); return err })
	}))
}

// TestRefreshLetsOthersWrite: during a refresh somebody who pushes and waits no longer than a
// second for the write lock always gets it, and a reader always reads. It runs alone, since it
// takes the time.
func TestRefreshLetsOthersWrite(t *testing.T) {
	f := newOffice(t, store.Options{})
	numbers := "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
	requests, lines := fmt.Sprintf(numbers, testsize.Fewer(manyAtLeast)), fmt.Sprintf(numbers, testsize.Fewer(12))
	f.change(nil, nil, requests+` INSERT INTO requests (request_key, request_type, id, final_value, original_value, order_created, responsible_email)
			SELECT i, 'order', i, i, i, '2026-03-01 12:00:00.000', i % 50 FROM n`,
		lines+" INSERT INTO request_products (request_key, position, type, product_code, quantity, total_price) SELECT request_key, i, 'module', 'M', 1, i FROM requests, n")
	must(t, f.Update(t.Context(), func(tx *store.Tx) error {
		if _, err := tx.Exec("change", "UPDATE requests SET final_value = final_value + 1"); err != nil {
			return err
		}
		return tx.NoteStale(schema.Requests, "SELECT request_key FROM requests")
	}))

	wait := "busy_timeout(1000)"
	if testsize.Race { // SQLite is ten times slower
		wait = "busy_timeout(10000)"
	}
	others := []*struct {
		mode, statement string
		done            int
		err             error
	}{
		{mode: "rw", statement: "INSERT INTO company_creations (intent_id, outbox_id, state, attempts, revision, created_at) SELECT count(*), 1, 'pending', 0, 0, '2026-03-01 12:00:00.000' FROM company_creations"},
		{mode: "ro", statement: "SELECT sum(final_value) FROM bi_requests"},
	}
	ended := make(chan struct{})
	var group sync.WaitGroup
	for _, o := range others {
		db, err := sqlx.Open("sqlite", sqlitefile.DSN(f.Path(), []string{wait, "synchronous(NORMAL)"})+"&mode="+o.mode)
		must(t, err)
		defer func() { must(t, db.Close()) }()
		group.Go(func() {
			for o.err == nil {
				select {
				case <-ended:
					return
				default:
					_, o.err = db.ExecContext(context.Background(), o.statement)
					o.done++
				}
			}
		})
	}
	err := Refresh(t.Context(), f.Mirror)
	close(ended)
	group.Wait()
	must(t, err)
	for _, o := range others {
		if o.err != nil || o.done == 0 {
			t.Errorf("%s: %v after %d times", o.statement, o.err, o.done)
		}
	}
	f.says("0", "count(*)", "FROM requests AS r LEFT JOIN bi_requests AS b USING (request_key) WHERE b.final_value IS NOT r.final_value")
}
