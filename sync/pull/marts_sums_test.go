package pull

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/sqlitefile"
	"solarmirror/store/testsize"
	"solarmirror/sync/platform/platformtest"
)

var martRequests = flag.Int("requests", 400, "requests the sums of the marts are proved on, for each of 3 seeds; 20000 is the full run")

// What the marts say is added up once more here, in Go and in whole cents, from the tables of records, and must come out the same group by group.
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
			b := r.readBooks()
			checks := map[string]func(*books) (want, got map[string]string){
				"bi_requests": (*books).requests, "bi_items": (*books).items, "bi_funnel": (*books).funnel, "bi_revenue_month": (*books).months,
				"bi_discounts": (*books).discounts, "bi_sellers": (*books).sellers, "bi_customers": (*books).customers,
				"bi_lead_time": (*books).leadTimes, "bi_stock": (*books).stock, "bi_status_duration": (*books).stays,
			}
			for _, table := range schema.MartTables {
				name, check := table.Name, checks[table.Name]
				if table == schema.BiFreshness { // computed from the runs, not from records
					continue
				}
				if check == nil {
					t.Errorf("%s: no check", name)
					continue
				}
				want, got := check(b)
				if d := diff(want, got); d != "" {
					t.Errorf("%s (-tables of records +mart):\n%s", name, d)
				}
				if len(want) == 0 {
					t.Errorf("%s is empty: that proves nothing", name)
				}
				t.Logf("%s: %d rows or groups equal", name, len(want))
			}
		})
	}
}

// deal is a row of requests with what the marts take from its neighbours.
type deal struct {
	key                                               int64
	isOrder, removed, gone                            bool
	id, kind, seller, customer, state                 string
	power, original, discount, surcharge, final       float64
	budgetCreated, orderCreated, firstSeen, deletedAt string
	billing                                           string
	partner                                           *deal // the other row of the same id
}

func (d *deal) live() bool { return !d.removed && !d.gone }

// speaks says whether the row stands for the deal among all rows, live or not.
func (d *deal) speaks() bool {
	o := d.partner
	return o == nil || (d.gone == o.gone && d.isOrder) || (!d.gone && o.gone)
}

// books are the tables of records, read once.
type books struct {
	*rig
	deals []*deal
	live  []*deal // one of each deal
	byKey map[int64]*deal
}

func str(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

func num(v any) float64 {
	switch v := v.(type) {
	case float64:
		return v
	case int64:
		return float64(v)
	}
	return 0
}

func (r *rig) readBooks() *books {
	b := &books{rig: r, byKey: map[int64]*deal{}}
	rows := map[string]*deal{}
	for _, v := range r.query(`SELECT r.request_key, r.request_type = 'order', coalesce(r.removed, 0), r._deleted_at IS NOT NULL, r.id, r.kind, r.responsible_email,
		(SELECT coalesce(nullif(cnpj, ''), nullif(cpf, '')) FROM request_companies c WHERE c.request_key = r.request_key),
		coalesce((SELECT nullif(address_state, '') FROM request_freights f WHERE f.request_key = r.request_key), (SELECT address_state FROM request_companies c WHERE c.request_key = r.request_key)),
		r.total_power, r.original_value, r.discount, r.surcharge, r.final_value, +r.budget_created, +r.order_created, +r._first_seen_at, +r._deleted_at, +r.billing_date
		FROM requests r ORDER BY 1`) {
		d := &deal{
			key: v[0].(int64), isOrder: v[1] == int64(1), removed: v[2] == int64(1), gone: v[3] == int64(1), id: str(v[4]), kind: str(v[5]), seller: str(v[6]),
			customer: str(v[7]), state: str(v[8]), power: num(v[9]), original: num(v[10]), discount: num(v[11]), surcharge: num(v[12]), final: num(v[13]),
			budgetCreated: str(v[14]), orderCreated: str(v[15]), firstSeen: str(v[16]), deletedAt: str(v[17]), billing: str(v[18]),
		}
		if o := rows[d.id]; o != nil {
			d.partner, o.partner = o, d
		}
		rows[d.id], b.byKey[d.key] = d, d
		b.deals = append(b.deals, d)
	}
	both := 0
	for _, d := range b.deals {
		if d.partner != nil && d.live() && d.partner.live() {
			both++
		}
		if d.live() && (d.isOrder || d.partner == nil || !d.partner.live()) {
			b.live = append(b.live, d)
		}
	}
	if both == 0 {
		r.t.Error("no deal is listed as a budget and as an order: that proves little")
	}
	return b
}

// localDay is the local day of a TIMESTAMP, "" when there is none.
func localDay(at string) string {
	t, err := sqlitefile.ParseTime(at)
	if err != nil {
		return ""
	}
	return t.In(saoPaulo).Format(time.DateOnly)
}

func monthOf(at string) string { return localDay(at)[:min(7, len(localDay(at)))] }

// daysBetween is rounded as the marts round it.
func daysBetween(from, to string) float64 {
	a, errA := sqlitefile.ParseTime(from)
	b, errB := sqlitefile.ParseTime(to)
	if errA != nil || errB != nil {
		return math.NaN()
	}
	return math.Round(1e6*b.Sub(a).Hours()/24) / 1e6
}

func cents(x float64) int64 { return int64(math.Round(100 * x)) }
func milli(x float64) int64 { return int64(math.Round(1000 * x)) }

// sums collects figures by group, exactly.
type sums map[string][]int64

func (s sums) add(group string, figures ...int64) {
	if s[group] == nil {
		s[group] = make([]int64, len(figures))
	}
	for i, f := range figures {
		s[group][i] += f
	}
}

func (s sums) texts() map[string]string {
	all := map[string]string{}
	for group, figures := range s {
		all[group] = fmt.Sprint(figures)
	}
	return all
}

// read gives the mart's rows: the first columns are the group, the others figures, in cents or thousandths as the query has them.
func (b *books) read(group int, query string) map[string]string {
	all := sums{}
	for _, row := range b.query(query) {
		var key []string
		for _, v := range row[:group] {
			key = append(key, str(v))
		}
		var figures []int64
		for _, v := range row[group:] {
			figures = append(figures, int64(math.Round(num(v))))
		}
		name := strings.Join(key, "|")
		if all[name] != nil {
			b.t.Errorf("two rows for %q in %s", name, query)
		}
		all.add(name, figures...)
	}
	return all.texts()
}

func (b *books) requests() (want, got map[string]string) {
	all := sums{}
	for _, d := range b.live {
		all.add(fmt.Sprintf("%d|%s|%s|%s", d.key, d.id, localDay(d.budgetCreated), localDay(d.orderCreated)), cents(d.original), cents(d.discount), cents(d.surcharge), cents(d.final), milli(d.power))
	}
	return all.texts(), b.read(4, `SELECT request_key, id, +budget_date, +order_date, 100 * original_value, 100 * discount, 100 * surcharge, 100 * final_value, 1000 * power_kwp FROM bi_requests`)
}

func (b *books) items() (want, got map[string]string) {
	lines := map[int64][][]any{}
	for _, v := range b.query("SELECT request_key, position, quantity, total_price, type, product_code FROM request_products") {
		lines[v[0].(int64)] = append(lines[v[0].(int64)], v)
	}
	catalogue := map[string][]any{}
	for _, v := range b.query(`SELECT e.type || '/' || e.product_code, e.cost_price, coalesce(m.rated_maximum_power, e.nominal_max_power), e.manufacturer
		FROM equipments e LEFT JOIN module_specifications m USING (equipment_key)`) {
		catalogue[v[0].(string)] = v
	}
	all := sums{}
	for _, d := range b.live {
		for _, v := range lines[d.key] {
			item := catalogue[str(v[4])+"/"+str(v[5])]
			var cost, watts float64
			known, maker := int64(0), ""
			if item != nil {
				maker = str(item[3])
				if item[1] != nil {
					known, cost = 1, num(item[1])
				}
				if v[4] == "module" {
					watts = num(v[2]) * num(item[2])
				}
			}
			all.add(fmt.Sprintf("%d|%d|%s", d.key, v[1], maker), cents(num(v[2])), cents(num(v[3])), known, cents(cost), int64(math.Round(watts)))
		}
	}
	return all.texts(), b.read(3, "SELECT request_key, position, manufacturer, 100 * quantity, 100 * total_price, has_cost, 100 * unit_cost, 1000 * power_kwp FROM bi_items")
}

func (b *books) funnel() (want, got map[string]string) {
	all, times := sums{}, map[string][]float64{}
	for _, d := range b.deals {
		if !d.speaks() {
			continue
		}
		order := d
		if !d.isOrder {
			order = d.partner
		}
		group := strings.Join([]string{monthOf(d.budgetCreated), d.seller, d.state}, "|")
		orders := int64(0)
		if order != nil {
			orders = 1
			if took := daysBetween(d.budgetCreated, order.orderCreated); !math.IsNaN(took) {
				times[group] = append(times[group], took)
			}
		}
		all.add(group, 1, orders, 0)
	}
	for group, list := range times {
		slices.Sort(list)
		middle := (list[(len(list)-1)/2] + list[len(list)/2]) / 2
		all[group][2] = milli(middle)
	}
	return all.texts(), b.read(3, "SELECT cohort_month, seller_email, state, budgets, orders, 1000 * median_days_to_order FROM bi_funnel")
}

func (b *books) months() (want, got map[string]string) {
	all := sums{}
	for _, d := range b.live {
		if d.isOrder {
			all.add(strings.Join([]string{monthOf(d.orderCreated), d.state, d.kind}, "|"), 1, cents(d.final), milli(d.power))
		}
	}
	return all.texts(), b.read(3, "SELECT month, state, kind, orders, 100 * final_value, 1000 * power_kwp FROM bi_revenue_month")
}

func (b *books) discounts() (want, got map[string]string) {
	all := sums{}
	for _, d := range b.live {
		kind := "0"
		if d.isOrder {
			kind = "1"
		}
		all.add(strings.Join([]string{d.seller, d.customer, kind}, "|"), 1, cents(d.original), cents(d.discount), cents(d.surcharge), cents(d.final))
	}
	return all.texts(), b.read(3, "SELECT seller_email, company_tax_id, is_order, deals, 100 * original_value, 100 * discount, 100 * surcharge, 100 * final_value FROM bi_discounts")
}

func (b *books) portfolios(of func(*deal) string) map[string]string {
	all := sums{}
	for _, d := range b.live {
		if d.isOrder {
			all.add(of(d), 0, 0, 1, cents(d.final), milli(d.power))
		} else {
			all.add(of(d), 1, cents(d.final), 0, 0, 0)
		}
	}
	return all.texts()
}

const portfolioSQL = ", budgets, 100 * budgets_value, orders, 100 * orders_value, 1000 * orders_power_kwp FROM "

func (b *books) sellers() (want, got map[string]string) {
	return b.portfolios(func(d *deal) string { return d.seller }), b.read(1, "SELECT seller_email"+portfolioSQL+"bi_sellers")
}

func (b *books) customers() (want, got map[string]string) {
	return b.portfolios(func(d *deal) string { return d.customer }), b.read(1, "SELECT company_tax_id"+portfolioSQL+"bi_customers")
}

func (b *books) leadTimes() (want, got map[string]string) {
	all := sums{}
	for _, d := range b.live {
		if !d.isOrder {
			continue
		}
		billed := int64(0)
		if d.billing != "" {
			from, _ := time.Parse(time.DateOnly, localDay(d.orderCreated))
			to, _ := time.Parse(time.DateOnly, d.billing)
			billed = int64(to.Sub(from).Hours() / 24)
		}
		all.add(fmt.Sprint(d.key, "|", d.billing), milli(daysBetween(d.budgetCreated, d.orderCreated)), billed)
	}
	return all.texts(), b.read(2, "SELECT request_key, +billing_date, 1000 * days_to_order, days_to_billing FROM bi_lead_time")
}

func (b *books) stock() (want, got map[string]string) {
	keys, all := map[string]int64{}, sums{}
	for _, v := range b.query("SELECT equipment_key, type || '/' || product_code FROM equipments WHERE _deleted_at IS NULL") {
		keys[v[1].(string)] = v[0].(int64)
	}
	for _, v := range b.query("SELECT equipment_key, center_code, current, reserved, minimum FROM equipment_inventory JOIN equipments USING (equipment_key) WHERE _deleted_at IS NULL") {
		all.add(fmt.Sprintf("%d|%s", v[0], str(v[1])), int64(num(v[2])), int64(num(v[3])), int64(num(v[4])), 0, 0)
	}
	today, _ := time.Parse(time.DateOnly, b.clock.now().In(saoPaulo).Format(time.DateOnly))
	for _, v := range b.query("SELECT i.product_type || '/' || i.product_code, i.center_code, i.quantity, i.request_key FROM bi_items i") {
		d := b.byKey[v[3].(int64)]
		ordered, err := time.Parse(time.DateOnly, localDay(d.orderCreated))
		if key, known := keys[str(v[0])]; known && d.isOrder && err == nil {
			ago := today.Sub(ordered).Hours() / 24
			if ago < 90 {
				recent := int64(0)
				if ago < 30 {
					recent = int64(num(v[2]))
				}
				all.add(fmt.Sprintf("%d|%s", key, str(v[1])), 0, 0, 0, recent, int64(num(v[2])))
			}
		}
	}
	return all.texts(), b.read(2, "SELECT equipment_key, center_code, current, reserved, minimum, sold_30d, sold_90d FROM bi_stock")
}

// stays walks through each record's history as a person would, and adds up days, stays and open ones by status.
func (b *books) stays() (want, got map[string]string) {
	all := sums{}
	midnight, _ := time.ParseInLocation(time.DateOnly, b.clock.now().In(saoPaulo).Format(time.DateOnly), saoPaulo)
	var last struct {
		key     int64
		status  string
		removed bool
		from    string // of the stay
		days    int64  // of the stay up to this piece, in thousandths
	}
	for _, v := range b.query("SELECT request_key, coalesce(deal_status, ''), coalesce(removed, 0), +valid_from, +valid_to FROM request_status_history ORDER BY 1, 4") {
		d, from, to := b.byKey[v[0].(int64)], str(v[3]), str(v[4])
		end := d.deletedAt
		if !d.gone && !d.speaks() && d.partner.firstSeen > d.firstSeen {
			end = d.partner.firstSeen
		}
		if end != "" && from >= end {
			continue
		}
		if to == "" || end != "" && to > end {
			to = end
		}
		status, removed := v[1].(string), v[2] == int64(1)
		var stays, open int64
		if last.key != d.key || last.status != status || last.removed != removed {
			stays = 1
			last.key, last.status, last.removed, last.from, last.days = d.key, status, removed, from, 0
		}
		if removed {
			continue
		}
		if to == "" {
			open, to = 1, sqlitefile.FormatTime(midnight)
		}
		days := max(0, milli(daysBetween(last.from, to)))
		all.add(fmt.Sprintf("%d|%s", d.key, status), stays, open, days-last.days)
		last.days = days
	}
	return all.texts(), b.stayRows().texts()
}

func (b *books) stayRows() sums {
	all := sums{}
	for _, v := range b.query("SELECT request_key, coalesce(deal_status, ''), is_open, days FROM bi_status_duration") {
		all.add(fmt.Sprintf("%d|%s", v[0], v[1]), 1, v[2].(int64), milli(num(v[3])))
	}
	return all
}
