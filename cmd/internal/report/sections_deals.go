package report

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"solarmirror/cmd/internal/charts"
)

// funnel is how many budgets became orders, by the month of the budget. Cohorts that are old enough
// and young ones have tables of their own.
func (l local) funnel(f *figures) section {
	s := section{ID: "funnel", Title: l.Funnel, Layout: beside, Note: fmt.Sprintf(l.FunnelNote, f.MatureDays)}
	months := span{f.Since, f.Until}
	if f.Since != "" {
		months.first = f.Since[:7]
	}
	if f.Until != "" {
		months.last = f.Until[:7]
	}
	last, mature := f.lastDay()[:7], f.lastMature()
	var undated, old, young []group
	for _, g := range byMonth(f.Cohorts, months, f.lastDay()) {
		switch {
		case g.name == "":
			undated = append(undated, g)
		case g.name <= mature:
			old = append(old, g)
		default:
			young = append(young, g)
		}
	}
	if len(undated)+len(old)+len(young) == 0 {
		s.Empty = l.NoBudgets
		return s
	}
	s.Lead = l.FunnelLead
	all := newCalendar(append(old[:len(old):len(old)], young...), last, monthsShown)
	columns := []measured{
		l.summed(l.Budgets, measure(budgets), 0), l.summed(l.Won, measure(won), 0), l.summed(l.Lost, measure(lost), 0),
		l.summed(l.Open, measure(open), 0), l.summed(l.Cancelled, measure(cancelledOrders), 0), l.rated(l.Conversion, conversion),
	}
	chart := charts.Chart{
		Title: l.FunnelChart, Kind: charts.StackedBars, Labels: l.shortMonths(all.period),
		Series: []charts.Series{
			{Name: l.Won, Values: all.values(measure(won))},
			{Name: l.NotWon, Values: all.values(func(t totals) float64 { return t.at(budgets) - t.at(won) }), Tone: charts.Muted},
		},
	}
	for _, month := range all.months() {
		if month > mature {
			chart.Unfinished++
		}
	}
	s.Charts = []charts.Chart{chart}
	if of := sum(f.Cohorts, f.matureMonths()); of != nil {
		s.Answer = fmt.Sprintf(l.FunnelAnswer, l.inPeriod(f), l.percent(conversion(of), 1), l.number(of.at(won), 0), l.number(of.at(budgets), 0))
	}
	if len(old) > 0 {
		c := newCalendar(old, min(last, mature), monthsShown-chart.Unfinished)
		s.Tables = append(s.Tables, l.calendarTable(f, c, l.Mature, l.Cohort, columns...))
	}
	if len(young) > 0 {
		t := l.calendarTable(f, newCalendar(young, last, chart.Unfinished), l.Young, l.Cohort, columns...)
		t.Folded = false
		s.Tables = append(s.Tables, t)
	}
	if len(undated) > 0 {
		s.Tables = append(s.Tables, table{Caption: l.Undated, Quiet: true, Columns: header(l.Cohort, columns), Rows: [][]string{line(l.Undated, undated[0].of, columns)}})
	}
	return s
}

// pipeline is what may still be sold.
func (l local) pipeline(f *figures) section {
	s := section{ID: "pipeline", Title: l.Pipeline, Layout: pair, Note: l.PipelineNote}
	if len(f.Pipeline) == 0 {
		s.Empty = l.NoPipeline
		return s
	}
	var all totals
	oldest := charts.Missing
	var labels []string
	var values []float64
	t := table{Caption: l.PipelineTable, Quiet: true, Columns: numbers(l.StatusName, l.Budgets, l.Value, l.Power, l.OpenDays, l.Oldest)}
	for _, q := range f.Pipeline {
		all = all.plus(q.Sums)
		if !(oldest >= q.Oldest) {
			oldest = q.Oldest
		}
		status := cmp.Or(q.Status, l.NoStatus)
		labels, values = append(labels, status), append(values, q.Sums.at(openValue))
		t.Rows = append(t.Rows, l.queueRow(status, q.Sums, l.median(q.Days, int64(q.Sums.at(openDeals))), q.Oldest))
	}
	t.Total = l.queueRow(l.Total, all, "", oldest)
	s.Answer = fmt.Sprintf(l.PipelineAnswer, l.number(all.at(openValue), 0), l.many(all.at(openDeals), l.BudgetsMany), l.many(math.Round(oldest), l.DaysMany))
	s.Charts = []charts.Chart{l.bars(l.PipelineChart, labels, values)}
	s.Tables = []table{t}
	return s
}

func (l local) queueRow(name string, sums totals, median string, oldest float64) []string {
	return []string{name, l.number(sums.at(openDeals), 0), l.number(sums.at(openValue), 0), l.number(sums.at(openPower), 1), median, l.number(oldest, 0)}
}

// payments is what was sold and is not paid.
func (l local) payments(f *figures) section {
	s := section{ID: "payments", Title: l.Payments, Layout: pair, Note: l.PaymentsNote}
	var all, waiting totals
	t := table{Caption: l.PaymentsTable, Quiet: true, Columns: numbers(l.PaymentType, l.PaymentStatus, l.Orders, l.Value, l.OldestOrder, l.Days)}
	t.Columns[1].Words = true
	oldest := ""
	for _, p := range f.Payments {
		all = all.plus(p.Sums)
		if p.Received {
			continue
		}
		waiting = waiting.plus(p.Sums)
		if oldest == "" || p.Oldest != "" && p.Oldest < oldest {
			oldest = p.Oldest
		}
		kind, status := cmp.Or(l.PaymentTypes[p.Type], p.Type, l.NoStatus), cmp.Or(l.PaymentStatuses[p.Status], p.Status, l.NoStatus)
		t.Rows = append(t.Rows, []string{kind, status, l.number(p.Sums.at(0), 0), l.number(p.Sums.at(1), 0), l.day(p.Oldest), l.daysSince(f, p.Oldest)})
	}
	switch {
	case all == nil:
		s.Empty = l.NoOrders
		return s
	case waiting == nil:
		s.Empty = l.AllPaid
		return s
	}
	t.Total = []string{l.Total, "", l.number(waiting.at(0), 0), l.number(waiting.at(1), 0), l.day(oldest), l.daysSince(f, oldest)}
	of := l.OfAllOrders
	switch {
	case f.Since != "":
		of = l.between(l.OfSoldBetween, f.shown())
	case f.Until != "":
		of = fmt.Sprintf(l.OfSoldUpTo, l.day(f.Until))
	}
	s.Answer = fmt.Sprintf(l.PaymentsAnswer, l.number(waiting.at(1), 0), l.many(waiting.at(0), l.OrdersMany), l.percent(over(waiting.at(1), all.at(1)), 1), of)
	s.Tables = []table{t}
	return s
}

// daysSince counts days up to today; a later day is not yet any.
func (l local) daysSince(f *figures, day string) string {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return unknown
	}
	return l.number(max(0, f.today.Sub(t).Hours()/24), 0)
}

// stay is how long budgets and orders stay in each status, and how long orders take.
func (l local) stay(f *figures) section {
	s := section{ID: "status", Title: l.Status, Lead: l.StatusLead, Layout: beside, Note: l.StatusNote}
	if len(f.Stays) == 0 {
		s.Empty = l.StatusEmpty
		return s
	}
	if f.bounds() != (span{}) {
		s.Lead += " " + l.StatusBounds
	}
	t := table{Caption: l.Statuses, Columns: numbers(l.StatusName, l.Kind, l.InItNow, l.OpenDays, l.Ended, l.EndedDays, l.Unobserved)}
	t.Columns[1].Words = true
	var labels []string
	var days []float64
	for _, stays := range f.Stays {
		status, kind := cmp.Or(stays.Status, l.NoStatus), l.Budget
		if stays.Orders {
			kind = l.Order
		}
		t.Rows = append(t.Rows, []string{
			status, kind, l.count(stays.Open), l.median(stays.OpenDays, stays.Open), l.count(stays.Ended), l.median(stays.EndedDays, stays.Ended),
			l.count(stays.EndedUnobserved),
		})
		if !math.IsNaN(stays.EndedDays) && stays.Ended >= fewest {
			if f.statusOfBoth(stays.Status) {
				status += " (" + kind + ")"
			}
			labels, days = append(labels, status), append(days, stays.EndedDays)
		}
	}
	if len(days) > 0 {
		chart := l.bars(l.StatusChart, labels, days)
		chart.Decimals = 1
		s.Charts = []charts.Chart{chart}
	}
	s.Tables = []table{t, l.leadTimes(f)}
	return s
}

// statusOfBoth reports whether budgets and orders have a status of this name.
func (f *figures) statusOfBoth(status string) bool {
	var kinds int
	for _, s := range f.Stays {
		if s.Status == status {
			kinds++
		}
	}
	return kinds > 1
}

func (l local) leadTimes(f *figures) table {
	t := table{Caption: l.between(l.LeadTimes, f.shown()), Columns: numbers(l.LeadTime, l.Orders, l.EndedDays)}
	for i, lead := range f.LeadTimes {
		t.Rows = append(t.Rows, []string{l.LeadTimeNames[i], l.count(lead.Orders), l.median(lead.Days, lead.Orders)})
	}
	return t
}

// numbers are columns of numbers, but for the first.
func numbers(names ...string) []column {
	columns := make([]column, len(names))
	for i, name := range names {
		columns[i] = column{Name: name, Words: i == 0}
	}
	return columns
}
