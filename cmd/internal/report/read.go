package report

import (
	"context"
	"fmt"
	"math"
	"net/url"
	"slices"
	"time"

	"solarmirror/cmd/internal/charts"
	"solarmirror/store"
)

// How far back the report looks, the running month among them.
const (
	monthsShown = 24
	monthsOfTop = 12 // of the rankings
	topRows     = 10
	nextRows    = 15
)

// figures are what the report shows, as the marts have it.
type figures struct {
	Platform string    // host of the platform; "" before the first sync
	Built    bool      // whether there are marts
	Behind   bool      // whether records have changed since they were brought up to date
	Today    time.Time // at 0:00 UTC; see the package comment

	Months    []group[sales] // by month of the order, in order; "" = without a date
	States    []group[sales] // of the last months, by value
	Sellers   []group[sales]
	Makers    map[string][]group[lines] // by kind of product: module or inverter
	Cohorts   []group[cohort]           // by month of the budgets, in order
	Stays     []stays
	LeadTimes [3]leadTime // budget to order, order to billing, budget to billing
	Stock     stock
	Streams   []store.Freshness
}

// read reads everything in one snapshot.
func read(ctx context.Context, mirror *store.Mirror, o Options) (*figures, error) {
	snapshot, err := mirror.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	f := &figures{}
	s := source{snapshot: snapshot}
	s.readState(ctx, f, o)
	s.readSales(ctx, f)
	s.readMakers(ctx, f)
	s.readCohorts(ctx, f)
	s.readStays(ctx, f)
	s.readLeadTimes(ctx, f)
	s.readStock(ctx, f)
	s.readStreams(ctx, f)
	return f, s.err
}

// source is the snapshot while it is read, and the first error of doing so, after which nothing is read any more.
type source struct {
	snapshot *store.Snapshot
	err      error
}

// each gives every row of a query to use.
func (s *source) each(ctx context.Context, query string, use func(row)) {
	if s.err != nil {
		return
	}
	result, err := s.snapshot.Query(ctx, query)
	if err != nil {
		s.err = err
		return
	}
	defer result.Close()
	for values, err := range result.Rows() {
		if err != nil {
			s.err = err
			return
		}
		use(values)
	}
}

// row is one row of a result.
type row []any

// text is "" for NULL.
func (r row) text(i int) string {
	text, _ := r[i].(string)
	return text
}

// number is Missing for NULL.
func (r row) number(i int) float64 {
	switch v := r[i].(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	}
	return charts.Missing
}

// count is 0 for NULL.
func (r row) count(i int) int64 {
	n, _ := r[i].(int64)
	return n
}

// readState reads what the figures are of. Before there are marts, today is the clock's.
func (s *source) readState(ctx context.Context, f *figures, o Options) {
	year, month, day := o.Now.In(o.Zone).Date()
	f.Today = time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	s.each(ctx, "SELECT as_of FROM _marts", func(r row) {
		if at, err := time.Parse(time.DateOnly, r.text(0)); err == nil {
			f.Today, f.Built = at, true
		}
	})
	s.each(ctx, "SELECT EXISTS (SELECT 1 FROM _stale)", func(r row) { f.Behind = f.Built && r.count(0) == 1 })
	s.each(ctx, "SELECT base_url FROM _meta", func(r row) {
		if address, err := url.Parse(r.text(0)); err == nil {
			f.Platform = address.Host
		}
	})
}

// cohort is some budgets and how many of them are won orders by now.
type cohort struct{ Budgets, Won int64 }

func (c cohort) add(d cohort) cohort { return cohort{c.Budgets + d.Budgets, c.Won + d.Won} }

func (c cohort) exists() bool { return c.Budgets > 0 }

// conversion is as bi_funnel has it.
func (c cohort) conversion() float64 { return over(float64(c.Won), float64(c.Budgets)) }

func (s *source) readCohorts(ctx context.Context, f *figures) {
	s.each(ctx, "SELECT cohort_month, sum(budgets), sum(won) FROM bi_funnel GROUP BY cohort_month ORDER BY cohort_month", func(r row) {
		f.Cohorts = append(f.Cohorts, group[cohort]{r.text(0), cohort{r.count(1), r.count(2)}})
	})
}

// stays are those in one status, of budgets or of orders.
type stays struct {
	Orders          bool
	Status          string
	Open, Ended     int64
	OpenDays        float64 // median, up to today
	EndedDays       float64 // median
	EndedUnobserved int64   // of those ended: begun before they were first seen
}

// medianSQL is the median of a column of rows that are numbered by its size from 1 to of_all.
const medianSQL = "avg(CASE WHEN n IN ((of_all + 1) / 2, (of_all + 2) / 2) THEN %s END)"

// readStays reads budgets before orders, and of each the status first that is met most.
func (s *source) readStays(ctx context.Context, f *figures) {
	at := map[string]int{}
	s.each(ctx, `WITH ranked AS (
		SELECT request_type, deal_status, is_open, is_inferred, days,
			row_number() OVER (PARTITION BY request_type, deal_status, is_open ORDER BY days) AS n,
			count(*) OVER (PARTITION BY request_type, deal_status, is_open) AS of_all
		FROM bi_status_duration)
		SELECT request_type, deal_status, is_open, count(*), sum(is_inferred), `+fmt.Sprintf(medianSQL, "days")+`,
			sum(count(*)) OVER (PARTITION BY request_type, deal_status) AS size
		FROM ranked GROUP BY 1, 2, 3 ORDER BY request_type, size DESC, deal_status`, func(r row) {
		key := r.text(0) + "\x00" + r.text(1)
		i, known := at[key]
		if !known {
			i = len(f.Stays)
			at[key] = i
			f.Stays = append(f.Stays, stays{Orders: r.text(0) == "order", Status: r.text(1), OpenDays: charts.Missing, EndedDays: charts.Missing})
		}
		if r.count(2) == 1 {
			f.Stays[i].Open, f.Stays[i].OpenDays = r.count(3), r.number(5)
		} else {
			f.Stays[i].Ended, f.Stays[i].EndedUnobserved, f.Stays[i].EndedDays = r.count(3), r.count(4), r.number(5)
		}
	})
}

// leadTime is how long the orders of the last months took from one event to another, as far as both are known.
type leadTime struct {
	Orders int64
	Days   float64 // median
}

func (s *source) readLeadTimes(ctx context.Context, f *figures) {
	p := f.lastMonths(monthsOfTop)
	for i, days := range [...]string{"days_to_order", "days_to_billing", "days_in_all"} {
		s.each(ctx, fmt.Sprintf(`SELECT max(of_all), `+medianSQL+` FROM (
			SELECT %[1]s, row_number() OVER (ORDER BY %[1]s) AS n, count(*) OVER () AS of_all
			FROM bi_lead_time WHERE %[1]s IS NOT NULL AND order_date BETWEEN '%[2]s-01' AND '%[3]s-31')`, days, p.first, p.last), func(r row) {
			f.LeadTimes[i] = leadTime{Orders: r.count(0), Days: r.number(1)}
		})
	}
}

// stock is how long what is in stock lasts.
type stock struct {
	Cover   []coverage // in the order of coverLimits, then what lasts longer
	Unknown int64      // without sales in 90 days, or of unknown stock
	Out     []item     // what has run out, by what it sold
	Next    []item     // what runs out next
}

// coverLimits are upper ends, in days, of the classes of items by how long they last; the first is what has run out.
var coverLimits = []float64{0, 15, 30, 60, 90}

// coverage is how many items of the stock last so long.
type coverage struct{ Items, BelowMinimum int64 }

// item is an item of the catalogue at a distribution centre.
type item struct {
	Code, Name, Center                            string
	Free, Minimum, SoldLately, SoldQuarter, Cover float64
}

func (s *source) readStock(ctx context.Context, f *figures) {
	f.Stock.Cover = make([]coverage, len(coverLimits)+1)
	class := "CASE WHEN days_of_cover IS NULL THEN NULL"
	for i, limit := range coverLimits {
		class += fmt.Sprintf(" WHEN days_of_cover <= %g THEN %d", limit, i)
	}
	class += fmt.Sprintf(" ELSE %d END", len(coverLimits))
	s.each(ctx, "SELECT "+class+", count(*), count(CASE WHEN current < minimum THEN 1 END) FROM bi_stock GROUP BY 1", func(r row) {
		if r[0] == nil {
			f.Stock.Unknown = r.count(1)
			return
		}
		f.Stock.Cover[r.count(0)] = coverage{Items: r.count(1), BelowMinimum: r.count(2)}
	})
	f.Stock.Out = s.items(ctx, "s.days_of_cover = 0", topRows)
	f.Stock.Next = s.items(ctx, "s.days_of_cover > 0", nextRows)
}

// items reads what has the shortest cover, and of the same what sold most.
func (s *source) items(ctx context.Context, where string, limit int) (list []item) {
	s.each(ctx, fmt.Sprintf(`SELECT s.product_code, e.name, s.center_code, max(0.0, s.current - coalesce(s.reserved, 0)), s.minimum, s.sold_30d, s.sold_90d, s.days_of_cover
		FROM bi_stock AS s JOIN equipments AS e USING (equipment_key) WHERE %s
		ORDER BY s.days_of_cover, s.sold_90d DESC, s.product_code, s.center_code LIMIT %d`, where, limit), func(r row) {
		list = append(list, item{
			Code: r.text(0), Name: r.text(1), Center: r.text(2),
			Free: r.number(3), Minimum: r.number(4), SoldLately: r.number(5), SoldQuarter: r.number(6), Cover: r.number(7),
		})
	})
	return list
}

// readStreams reads nothing of a mirror that no run has brought anything.
func (s *source) readStreams(ctx context.Context, f *figures) {
	if s.err != nil {
		return
	}
	var list []store.Freshness
	list, s.err = s.snapshot.Freshness(ctx)
	if slices.ContainsFunc(list, func(at store.Freshness) bool { return at.LastOutcome != "" || !math.IsNaN(at.Loaded) }) {
		f.Streams = list
	}
}
