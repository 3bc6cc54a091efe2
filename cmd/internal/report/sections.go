package report

import (
	"cmp"
	"fmt"
	"math"

	"solarmirror/cmd/internal/charts"
	"solarmirror/store"
)

// revenue is what was sold by month.
func (l local) revenue(f *figures) section {
	s := section{ID: "revenue", Title: l.Revenue, Note: l.RevenueNote}
	if len(f.Months) == 0 {
		s.Empty = l.RevenueEmpty
		return s
	}
	c := newCalendar(f, f.Months)
	s.Lead = l.between(l.RevenueLead, c.period)
	s.Charts = []charts.Chart{
		{Title: l.RevenueChart, Kind: charts.Bars, Labels: l.shortMonths(c.period), Series: []charts.Series{{Name: l.Value, Values: values(c.inside, value)}}},
		{
			Title: l.PowerChart, Kind: charts.Bars, Labels: l.shortMonths(c.period),
			Series: []charts.Series{{Name: l.Power, Values: values(c.inside, func(s sales) float64 { return s.Power }), Tone: charts.Good}},
		},
	}
	s.Tables = []table{calendarTable(l, c, []string{l.Month, l.Orders, l.Value, l.Power, l.Price}, func(name string, of sales) []string {
		return []string{name, l.count(of.Orders), l.number(of.Value, 2), l.number(of.Power, 1), l.number(of.valuePerWp(), 2)}
	})}
	return s
}

// discounts is how far prices went down by month.
func (l local) discounts(f *figures) section {
	s := section{ID: "discounts", Title: l.Discounts, Note: l.DiscountsNote}
	if len(f.Months) == 0 {
		s.Empty = l.DiscountsEmpty
		return s
	}
	c := newCalendar(f, f.Months)
	s.Lead = l.between(l.DiscountsLead, c.period)
	s.Charts = []charts.Chart{{
		Title: l.DiscountsChart, Kind: charts.Lines, Labels: l.shortMonths(c.period),
		Series: []charts.Series{{Name: l.Reduction, Values: values(c.inside, func(s sales) float64 { return 100 * s.reduction() })}},
		Unit:   "%", Decimals: 1,
	}}
	columns := []string{l.Month, l.Original, l.Discount, l.Surcharge, l.Value, l.Reduction}
	s.Tables = []table{calendarTable(l, c, columns, func(name string, of sales) []string {
		return []string{name, l.number(of.Original, 2), l.number(of.Discount, 2), l.number(of.Surcharge, 2), l.number(of.Value, 2), l.percent(of.reduction(), 1)}
	})}
	return s
}

// funnel is how many budgets were won, by the month of the budget.
func (l local) funnel(f *figures) section {
	s := section{ID: "funnel", Title: l.Funnel, Note: l.FunnelNote}
	if len(f.Cohorts) == 0 {
		s.Empty = l.FunnelEmpty
		return s
	}
	c := newCalendar(f, f.Cohorts)
	s.Lead = l.between(l.FunnelLead, c.period)
	s.Charts = []charts.Chart{{
		Title: l.FunnelChart, Kind: charts.StackedBars, Labels: l.shortMonths(c.period),
		Series: []charts.Series{
			{Name: l.Won, Values: values(c.inside, func(c cohort) float64 { return float64(c.Won) })},
			{Name: l.NotWon, Values: values(c.inside, func(c cohort) float64 { return float64(c.Budgets - c.Won) }), Tone: charts.Muted},
		},
	}}
	s.Tables = []table{calendarTable(l, c, []string{l.Cohort, l.Budgets, l.Won, l.Conversion}, func(name string, of cohort) []string {
		return []string{name, l.count(of.Budgets), l.count(of.Won), l.percent(of.conversion(), 1)}
	})}
	return s
}

// makers is whose modules and inverters were sold.
func (l local) makers(f *figures) section {
	p := f.lastMonths(monthsOfTop)
	s := section{ID: "manufacturers", Title: l.Makers, Lead: l.between(l.MakersLead, p), Note: l.MakersNote}
	for _, kind := range []struct{ is, name, chart string }{{"module", l.Modules, l.ModulesChart}, {"inverter", l.Inverters, l.InvertersChart}} {
		if len(f.Makers[kind.is]) == 0 {
			continue
		}
		r := rank(named(f.Makers[kind.is], l.NoMaker))
		s.Charts = append(s.Charts, l.rankChart(kind.chart, l.Value, r.labels(), r.values(func(of lines) float64 { return of.Value })))
		cells := func(name string, of lines) []string {
			cells := []string{name, l.number(of.Pieces, 0), l.number(of.Value, 2), l.percent(over(of.Value, r.all.Value), 1)}
			if kind.is == "module" {
				cells = append(cells, l.number(of.Power, 1))
			}
			return cells
		}
		columns := []string{l.Maker, l.Pieces, l.LinesValue, l.Share}
		if kind.is == "module" {
			columns = append(columns, l.Power)
		}
		s.Tables = append(s.Tables, table{Caption: kind.name, Folded: true, Columns: numbers(columns), Rows: r.rows(l, cells), Total: cells(l.Total, r.all)})
	}
	if len(s.Tables) == 0 {
		s.Empty = l.between(l.MakersEmpty, p)
	}
	return s
}

// states is where the orders went.
func (l local) states(f *figures) section {
	s := section{ID: "states", Title: l.States, Note: l.StatesNote}
	return l.ranked(s, f, named(f.States, l.NoState), rankWords{l.StatesLead, l.StatesEmpty, l.StatesChart, l.State})
}

// sellers is who sold.
func (l local) sellers(f *figures) section {
	s := section{ID: "sellers", Title: l.Sellers}
	return l.ranked(s, f, named(f.Sellers, l.NoSeller), rankWords{l.SellersLead, l.SellersEmpty, l.SellersChart, l.Seller})
}

type rankWords struct{ lead, empty, chart, of string }

// ranked fills a section about orders of the last months by something.
func (l local) ranked(s section, f *figures, list []group[sales], w rankWords) section {
	p := f.lastMonths(monthsOfTop)
	if len(list) == 0 {
		s.Empty = l.between(w.empty, p)
		return s
	}
	r := rank(list)
	s.Lead = l.between(w.lead, p)
	s.Charts = []charts.Chart{l.rankChart(w.chart, l.Value, r.labels(), r.values(value))}
	cells := func(name string, of sales) []string {
		return []string{
			name, l.count(of.Orders), l.number(of.Value, 2), l.percent(over(of.Value, r.all.Value), 1), l.number(of.Power, 1),
			l.number(of.valuePerWp(), 2), l.percent(of.reduction(), 1),
		}
	}
	s.Tables = []table{{
		Caption: l.Figures, Folded: true, Columns: numbers([]string{w.of, l.Orders, l.Value, l.Share, l.Power, l.Price, l.Reduction}),
		Rows: r.rows(l, cells), Total: cells(l.Total, r.all),
	}}
	return s
}

// stay is how long budgets and orders stay in each status, and how long orders take.
func (l local) stay(f *figures) section {
	s := section{ID: "status", Title: l.Status, Lead: l.StatusLead, Note: l.StatusNote}
	if len(f.Stays) == 0 {
		s.Empty = l.StatusEmpty
		return s
	}
	columns := numbers([]string{l.StatusName, l.Kind, l.Open, l.OpenDays, l.Ended, l.EndedDays, l.Unobserved})
	columns[1].Words = true
	t := table{Caption: l.Statuses, Columns: columns}
	var labels []string
	var days []float64
	for _, stays := range f.Stays {
		status, kind := stays.Status, l.Budget
		if status == "" {
			status = l.NoStatus
		}
		if stays.Orders {
			kind = l.Order
		}
		t.Rows = append(t.Rows, []string{
			status, kind, l.count(stays.Open), l.number(stays.OpenDays, 1), l.count(stays.Ended), l.number(stays.EndedDays, 1), l.count(stays.EndedUnobserved),
		})
		if !math.IsNaN(stays.EndedDays) {
			if f.statusOfBoth(stays.Status) {
				status += " (" + kind + ")"
			}
			labels, days = append(labels, status), append(days, stays.EndedDays)
		}
	}
	if len(days) > 0 {
		chart := l.rankChart(l.StatusChart, l.EndedDays, labels, days)
		chart.Decimals = 1
		s.Charts = []charts.Chart{chart}
	}
	s.Tables = []table{t, l.leadTimes(f)}
	return s
}

// statusOfBoth says whether budgets and orders have a status of this name.
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
	t := table{Caption: l.LeadTimes, Columns: numbers([]string{l.LeadTime, l.Orders, l.MedianDays})}
	for i, lead := range f.LeadTimes {
		t.Rows = append(t.Rows, []string{l.LeadTimeNames[i], l.count(lead.Orders), l.number(lead.Days, 1)})
	}
	return t
}

// stock is how long what is in stock lasts, and what runs out next.
func (l local) stock(f *figures) section {
	s := section{ID: "stock", Title: l.Stock, Note: fmt.Sprintf(l.StockNote, l.count(f.Stock.Unknown))}
	if len(f.Stock.Out)+len(f.Stock.Next) == 0 {
		s.Empty = l.StockEmpty
		return s
	}
	s.Lead = fmt.Sprintf(l.StockLead, f.Today.Format(l.Date))
	chart := l.rankChart(l.StockChart, l.Items, l.CoverClasses[:], values(f.Stock.Cover, func(c coverage) float64 { return float64(c.Items) }))
	s.Charts = []charts.Chart{chart}
	cover := table{Caption: l.Figures, Folded: true, Columns: numbers([]string{l.Cover, l.Items, l.BelowMinimum})}
	for i, c := range f.Stock.Cover {
		cover.Rows = append(cover.Rows, []string{l.CoverClasses[i], l.count(c.Items), l.count(c.BelowMinimum)})
	}
	s.Tables = []table{cover}
	if len(f.Stock.Next) > 0 {
		s.Tables = append(s.Tables, l.items(l.NextOut, f.Stock.Next))
	}
	if len(f.Stock.Out) > 0 {
		caption := fmt.Sprintf(l.RunOut, l.count(f.Stock.Cover[0].Items))
		if len(f.Stock.Out) < int(f.Stock.Cover[0].Items) {
			caption = fmt.Sprintf(l.RunOutMost, l.count(f.Stock.Cover[0].Items))
		}
		s.Tables = append(s.Tables, l.items(caption, f.Stock.Out))
	}
	return s
}

func (l local) items(caption string, list []item) table {
	columns := numbers([]string{l.Product, l.CoverDays, l.Free, l.Minimum, l.SoldLately, l.SoldQuarter, l.Center, l.Code})
	columns[6].Words, columns[7].Words = true, true
	t := table{Caption: caption, Columns: columns}
	for _, i := range list {
		t.Rows = append(t.Rows, []string{
			i.Name, l.number(i.Cover, 1), l.number(i.Free, 0), l.number(i.Minimum, 0), l.number(i.SoldLately, 0), l.number(i.SoldQuarter, 0), i.Center, i.Code,
		})
	}
	return t
}

// freshness is how far the figures can be trusted.
func (l local) freshness(f *figures) section {
	s := section{ID: "freshness", Title: l.Fresh, Lead: l.FreshLead, Note: l.FreshNote}
	if len(f.Streams) == 0 {
		s.Empty = l.FreshEmpty
		return s
	}
	columns := []column{{l.Stream, true}, {l.CompleteThrough, true}, {l.FullScan, true}, {l.LastRun, true}, {l.Outcome, true}, {l.Rejects, false}}
	t := table{Caption: l.Fresh, Columns: columns}
	for _, stream := range f.Streams {
		outcome := l.Outcomes[string(stream.LastOutcome)]
		if outcome == "" {
			outcome = unknown
		}
		t.Rows = append(t.Rows, []string{
			l.stream(stream), l.moment(stream.CompleteThrough), l.moment(stream.LastFullScanAt), l.moment(stream.LastRunAt), outcome, l.count(stream.Rejects),
		})
	}
	s.Tables = []table{t}
	return s
}

// stream is what people call it.
func (l local) stream(f store.Freshness) string {
	return cmp.Or(l.Streams[f.Stream.Name], f.Stream.Name)
}

func value(s sales) float64 { return s.Value }

func (l local) shortMonths(p period) []string {
	list := p.months()
	for i, month := range list {
		list[i] = l.shortMonth(month)
	}
	return list
}

// rankChart is lying bars with the value at the end of each.
func (l local) rankChart(title, series string, labels []string, values []float64) charts.Chart {
	return charts.Chart{Title: title, Kind: charts.HorizontalBars, Labels: labels, Series: []charts.Series{{Name: series, Values: values}}}
}

// named gives what has no name one.
func named[T any](list []group[T], name string) []group[T] {
	out := make([]group[T], len(list))
	for i, g := range list {
		if out[i] = g; g.Name == "" {
			out[i].Name = name
		}
	}
	return out
}

// calendarTable is folded away: it is as long as there are months.
func calendarTable[T adder[T]](l local, c calendar[T], columns []string, cells func(name string, of T) []string) table {
	rows, total := c.table(l, cells)
	return table{Caption: l.Figures, Folded: true, Columns: numbers(columns), Rows: rows, Total: total}
}

// numbers are columns of numbers, but for the first.
func numbers(names []string) []column {
	columns := make([]column, len(names))
	for i, name := range names {
		columns[i] = column{Name: name, Words: i == 0}
	}
	return columns
}
