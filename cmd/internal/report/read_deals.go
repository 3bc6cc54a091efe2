package report

import (
	"context"
	"fmt"
	"time"

	"solarmirror/cmd/internal/charts"
)

// fewest is the least number of stays or deals whose median says something.
const fewest = 5

// medianSQL is the median of a column of rows that are numbered from 1 to of_all in its order.
const medianSQL = "avg(CASE WHEN n IN ((of_all + 1) / 2, (of_all + 2) / 2) THEN %s END)"

// The sums of cohorts, as cohortsSQL has them.
const (
	budgets = iota
	won
	lost
	open
	cancelledOrders
)

var cohortsSQL = []string{"sum(budgets)", "sum(won)", "sum(lost)", "sum(open)", "sum(cancelled)"}

// conversion is as bi_funnel has it.
func conversion(t totals) float64 { return over(t.at(won), t.at(budgets)) }

// A cohort is old enough when nine of ten orders come within the days that have passed since. With
// fewer known orders than that the days are fixed.
const (
	matureShare   = 90 // percent
	matureOrders  = 20
	matureDefault = 90 // days
)

func (s *source) readCohorts(ctx context.Context, f *figures) {
	f.Cohorts = s.groups(ctx, "bi_funnel", "cohort_month", cohortsSQL, f.where("", span{}))
	f.MatureDays = matureDefault
	s.each(ctx, fmt.Sprintf(`SELECT max(of_all), min(CASE WHEN 100 * n >= %d * of_all THEN days_to_order END) FROM (
		SELECT days_to_order, row_number() OVER (ORDER BY days_to_order) AS n, count(*) OVER () AS of_all
		FROM bi_lead_time WHERE days_to_order IS NOT NULL)`, matureShare), func(r row) {
		if r.count(0) >= matureOrders {
			f.MatureDays = int(r.number(1)) + 1
		}
	})
}

// lastMature is the last month whose cohort is old enough.
func (f *figures) lastMature() string {
	day := f.today.AddDate(0, 0, -f.MatureDays)
	return time.Date(day.Year(), day.Month(), 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, -1).Format(monthForm)
}

// queue are open budgets in one status.
type queue struct {
	Status string
	Sums   totals // deals, value, kWp
	Days   float64
	Oldest float64 // days
}

// The sums of open budgets.
const (
	openDeals = iota
	openValue
	openPower
)

// readPipeline reads open budgets by status, the highest value first. Like bi_pipeline it leaves
// out closed statuses, in which nothing waits.
func (s *source) readPipeline(ctx context.Context, f *figures) {
	c := f.where("budget_date", f.bounds(), "deal_class = 'open'")
	s.each(ctx, `WITH deal AS (
			SELECT b.deal_status, b.final_value, b.power_kwp, s.days,
				row_number() OVER (PARTITION BY b.deal_status ORDER BY s.days) AS n, count(*) OVER (PARTITION BY b.deal_status) AS of_all
			FROM (SELECT request_key, nullif(deal_status, '') AS deal_status, final_value, power_kwp FROM bi_requests WHERE `+c.sql+`) AS b
			JOIN bi_status_duration AS s ON s.request_key = b.request_key AND s.is_open = 1)
		SELECT deal_status, count(*), sum(final_value) AS value, sum(power_kwp), `+fmt.Sprintf(medianSQL, "days")+`, max(days)
		FROM deal GROUP BY 1 ORDER BY value DESC, 1`, func(r row) {
		f.Pipeline = append(f.Pipeline, queue{Status: r.text(0), Sums: totals{r.number(1), r.number(2), r.number(3)}, Days: r.number(4), Oldest: r.number(5)})
	}, c.args...)
}

// payments are won orders of one means and status of payment.
type payments struct {
	Type, Status string
	Received     bool
	Sums         totals // deals, value
	Oldest       string // day of the oldest order
}

// readPayments reads won orders by payment, the highest value first.
func (s *source) readPayments(ctx context.Context, f *figures) {
	c := f.where("order_date", f.bounds(), "deal_class = 'won'")
	s.each(ctx, `SELECT nullif(payment_type, ''), nullif(payment_status, ''), count(*), sum(final_value) AS value, min(order_date)
		FROM bi_requests WHERE `+c.sql+` GROUP BY 1, 2 ORDER BY value DESC, 1, 2`, func(r row) {
		f.Payments = append(f.Payments, payments{
			Type: r.text(0), Status: r.text(1), Received: r.text(1) == "received", Sums: totals{r.number(2), r.number(3)}, Oldest: r.text(4),
		})
	}, c.args...)
}

// stays are those in one status, of budgets or of orders.
type stays struct {
	Orders          bool
	Status          string
	Open, Ended     int64
	OpenDays        float64 // median, up to today
	EndedDays       float64 // median
	EndedUnobserved int64   // of those ended: began before they were first seen
}

// readStays reads open stays, and those that ended in the days asked for; budgets before orders, and
// of each the status with the most stays first.
func (s *source) readStays(ctx context.Context, f *figures) {
	c, ended := f.where("", span{}), f.instants(f.bounds())
	c.and("(is_open = 1 OR ended_at >= ?)", ended.first)
	c.and("(is_open = 1 OR ended_at < ?)", ended.last)
	at := map[string]int{}
	s.each(ctx, `WITH ranked AS (
		SELECT request_type, deal_status, is_open, is_inferred, days,
			row_number() OVER (PARTITION BY request_type, deal_status, is_open ORDER BY days) AS n,
			count(*) OVER (PARTITION BY request_type, deal_status, is_open) AS of_all
		FROM (SELECT request_type, nullif(deal_status, '') AS deal_status, is_open, is_inferred, days FROM bi_status_duration WHERE `+c.sql+`))
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
	}, c.args...)
}

// leadTime is how long orders took from one event to another, as far as both days are known.
type leadTime struct {
	Orders int64
	Days   float64 // median
}

// readLeadTimes reads those of the orders of the days shown.
func (s *source) readLeadTimes(ctx context.Context, f *figures) {
	for i, days := range [...]string{"days_to_order", "days_to_billing", "days_in_all"} {
		c := f.where("order_date", f.shown(), days+" IS NOT NULL")
		s.each(ctx, fmt.Sprintf(`SELECT max(of_all), `+medianSQL+` FROM (
			SELECT %[1]s, row_number() OVER (ORDER BY %[1]s) AS n, count(*) OVER () AS of_all
			FROM bi_lead_time WHERE %[2]s)`, days, c.sql), func(r row) {
			f.LeadTimes[i] = leadTime{Orders: r.count(0), Days: r.number(1)}
		}, c.args...)
	}
}
