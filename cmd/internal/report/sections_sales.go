package report

import (
	"fmt"
	"math"

	"solarmirror/cmd/internal/charts"
)

// salesByMonth are the orders of the days asked for, by month.
func (f *figures) salesByMonth() calendar {
	return newCalendar(byMonth(f.Orders, f.bounds(), f.lastDay()), f.lastDay()[:7], monthsShown)
}

// lastMonth are the days shown of the last month.
func (s scope) lastMonth() span { return span{max(s.lastDay()[:7]+"-01", s.Since), s.lastDay()} }

// knows reports whether the first order is not later than the first of some days. Before it there may
// have been orders that the platform does not show.
func (f *figures) knows(days span) bool {
	first := firstName(f.Orders)
	return first != "" && first <= days.first
}

// monthly is a chart of a calendar.
func (l local) monthly(f *figures, title string, kind charts.Kind, c calendar, series ...charts.Series) charts.Chart {
	return charts.Chart{Title: title, Kind: kind, Labels: l.shortMonths(c.period), Series: series, Unfinished: f.unfinished()}
}

// inPeriod names the days shown, at the head of a sentence.
func (l local) inPeriod(f *figures) string {
	if f.bounds() == (span{}) {
		return l.LastYear
	}
	return l.InPeriod
}

// revenue is what was sold by month, and what was cancelled.
func (l local) revenue(f *figures) section {
	s := section{ID: "revenue", Title: l.Revenue, Note: l.RevenueNote}
	c := f.salesByMonth()
	all := c.all()
	if all.at(orders)+all.at(cancelled) == 0 {
		s.Empty = l.NoOrders
		return s
	}
	s.Lead = l.RevenueLead
	switch {
	case f.unfinished() > 0:
		s.Lead += " " + l.Running
	case f.cut():
		s.Lead += " " + fmt.Sprintf(l.CutMonth, f.lastDay()[8:])
	}
	month := f.lastMonth()
	now := sum(f.Orders, month)
	s.Answer = fmt.Sprintf(l.RevenueAnswer, l.monthRow(f, c.last), l.number(ofOrders(value)(now), 0), l.many(now.at(orders), l.OrdersMany))
	if earlier := month.yearEarlier(); f.knows(earlier) {
		before := sum(f.Orders, earlier)
		s.Answer += " " + fmt.Sprintf(l.RevenueBefore, l.number(ofOrders(value)(before), 0), l.many(before.at(orders), l.OrdersMany))
	}
	if span := sum(f.Orders, f.shown()); span.at(cancelled) > 0 {
		s.Answer += " " + fmt.Sprintf(l.CancelledAnswer, l.inPeriod(f), l.number(span.at(cancelledValue), 0), l.many(span.at(cancelled), l.OrdersMany), l.percent(cancelledShare(span), 1))
	}
	s.Charts = []charts.Chart{
		l.monthly(f, l.RevenueChart, charts.Bars, c,
			charts.Series{Name: l.Won, Values: c.values(ofOrders(value))},
			charts.Series{Name: l.Cancelled, Values: c.values(ofOrders(cancelledValue)), Tone: charts.Muted}),
		l.monthly(f, l.PowerChart, charts.Bars, c, charts.Series{Name: l.Power, Values: c.values(ofOrders(power)), Tone: charts.Good}),
	}
	s.Tables = []table{l.calendarTable(f, c, l.Figures, l.Month,
		l.summed(l.Orders, measure(orders), 0), l.summed(l.Value, ofOrders(value), 0),
		l.summed(l.CancelledOrders, measure(cancelled), 0), l.summed(l.CancelledValue, ofOrders(cancelledValue), 0),
		l.summed(l.Power, ofOrders(power), 1), l.summed(l.Price, valuePerWp, 2))}
	return s
}

// margins is what is left of the value after the cost, by month and manufacturer.
func (l local) margins(f *figures) section {
	s := section{ID: "margin", Title: l.Margin, Note: l.MarginNote}
	c := newCalendar(byMonth(f.Lines, f.bounds(), f.lastDay()), f.lastDay()[:7], monthsShown)
	switch all := c.all(); {
	case all == nil:
		s.Empty = l.NoOrders
		return s
	case !(math.Abs(all.at(netWithCost)) > 0): // also where it is not known
		s.Empty = l.NoCost
		return s
	}
	s.Lead = l.MarginLead
	span := sum(f.Lines, f.shown())
	if rate := marginRate(span); !math.IsNaN(rate) {
		s.Answer = fmt.Sprintf(l.MarginAnswer, l.inPeriod(f), l.percent(rate, 1), l.number(margin(span), 0), l.percent(costShare(span), 1))
	}
	r := rank(named(f.AllMakers, l.NoMaker), margin)
	s.Charts = []charts.Chart{
		l.monthly(f, l.MarginChart, charts.Bars, c, charts.Series{Name: l.Margin, Values: c.values(margin), Tone: charts.Good}),
		l.rankChart(l.MarginMakers, r, margin),
	}
	columns := []measured{
		l.summed(l.Net, measure(net), 0), l.rated(l.CostKnown, costShare), l.summed(l.Margin, margin, 0), l.rated(l.MarginRate, marginRate),
	}
	s.Tables = []table{l.calendarTable(f, c, l.ByMonth, l.Month, columns...), l.rankTable(r, l.ByMaker, l.Maker, columns...)}
	return s
}

// discounts is how far prices went down by month.
func (l local) discounts(f *figures) section {
	s := section{ID: "discounts", Title: l.Discounts, Layout: pair, Note: l.DiscountsNote}
	c := f.salesByMonth()
	if c.all().at(orders) == 0 {
		s.Empty = l.NoOrders
		return s
	}
	switch r := reduction(sum(f.Orders, f.shown())); {
	case r >= 0:
		s.Answer = fmt.Sprintf(l.DiscountsAnswer, l.inPeriod(f), l.percent(r, 1))
	case r < 0:
		s.Answer = fmt.Sprintf(l.SurchargesAnswer, l.inPeriod(f), l.percent(-r, 1))
	}
	s.Charts = []charts.Chart{l.shares(f, l.DiscountsChart, c, reduction)}
	s.Tables = []table{l.calendarTable(f, c, l.Figures, l.Month,
		l.summed(l.Original, ofOrders(original), 0), l.summed(l.Discount, ofOrders(discount), 0), l.summed(l.Surcharge, ofOrders(surcharge), 0),
		l.summed(l.Value, ofOrders(value), 0), l.rated(l.Reduction, reduction))}
	s.Tables[0].Screen = true
	return s
}

// freight is its share of the value by month.
func (l local) freight(f *figures) section {
	s := section{ID: "freight", Title: l.Freight, Layout: pair, Note: l.FreightNote}
	c := f.salesByMonth()
	switch all := c.all(); {
	case all.at(orders) == 0:
		s.Empty = l.NoOrders
		return s
	case !(math.Abs(all.at(freightOf)) > 0): // also where it is not known
		s.Empty = l.NoFreight
		return s
	}
	if share := freightShare(sum(f.Orders, f.shown())); !math.IsNaN(share) {
		s.Answer = fmt.Sprintf(l.FreightAnswer, l.inPeriod(f), l.percent(share, 1))
	}
	s.Charts = []charts.Chart{l.shares(f, l.FreightChart, c, freightShare)}
	s.Tables = []table{l.calendarTable(f, c, l.Figures, l.Month, l.summed(l.FreightPrice, ofOrders(freight), 0), l.summed(l.Value, ofOrders(value), 0), l.rated(l.Share, freightShare))}
	s.Tables[0].Screen = true
	return s
}

// shares is a line of shares, in percent.
func (l local) shares(f *figures, title string, c calendar, of func(totals) float64) charts.Chart {
	chart := l.monthly(f, title, charts.Lines, c, charts.Series{Name: title, Values: c.values(func(t totals) float64 { return 100 * of(t) })})
	chart.Unit, chart.Decimals = "%", 1
	return chart
}

// makers is whose modules and inverters were sold.
func (l local) makers(f *figures) section {
	s := section{ID: "manufacturers", Title: l.Makers, Layout: list, Lead: l.between(l.MakersLead, f.shown()), Note: l.MakersNote}
	for _, kind := range []struct{ is, name, chart string }{{"module", l.Modules, l.ModulesChart}, {"inverter", l.Inverters, l.InvertersChart}} {
		if len(f.Makers[kind.is]) == 0 {
			continue
		}
		r := rank(named(f.Makers[kind.is], l.NoMaker), measure(linesValue))
		s.Charts = append(s.Charts, l.rankChart(kind.chart, r, measure(linesValue)))
		columns := []measured{l.summed(l.Pieces, measure(pieces), 0), l.summed(l.LinesValue, measure(linesValue), 0), l.shareOf(r, linesValue)}
		if kind.is == "module" {
			columns = append(columns, l.summed(l.Power, measure(linesPower), 1))
		}
		t := l.rankTable(r, kind.name, l.Maker, columns...)
		t.Screen = true
		s.Tables = append(s.Tables, t)
	}
	if len(s.Tables) == 0 {
		s.Empty = l.between(l.MakersEmpty, f.shown())
	}
	return s
}

// states is where the orders went.
func (l local) states(f *figures) section {
	s := section{ID: "states", Title: l.States, Lead: l.between(l.StatesLead, f.shown()), Layout: tall, Note: l.StatesNote}
	return l.ranked(s, f, rank(named(f.States, l.NoState), measure(value)), l.StatesChart, l.State)
}

// sellers is who sold. In a masked copy they have numbers, and the table has their pseudonyms.
func (l local) sellers(f *figures) section {
	s := section{ID: "sellers", Title: l.Sellers, Lead: l.between(l.SellersLead, f.shown()), Layout: tall}
	r := rank(f.Sellers, measure(value))
	pseudonyms, numbered := make([]string, len(r.top)), 0
	for i, g := range r.top {
		pseudonyms[i] = g.name
		switch {
		case g.name == "":
			r.top[i].name = l.NoSeller
		case f.Masked && f.Restriction.Seller == "":
			numbered++
			r.top[i].name = fmt.Sprintf(l.SellerNumber, numbered)
		default:
			r.top[i].name = l.sellerName(f, g.name)
		}
	}
	s = l.ranked(s, f, r, l.SellersChart, l.Seller)
	if f.Masked && s.Empty == "" {
		s.Note = l.SellersNote
		t := &s.Tables[0]
		t.Columns = append(t.Columns, column{Name: l.Pseudonym, Words: true})
		for i := range t.Rows {
			pseudonym := ""
			if i < len(pseudonyms) {
				pseudonym = pseudonyms[i]
			}
			t.Rows[i] = append(t.Rows[i], pseudonym)
		}
		t.Total = append(t.Total, "")
	}
	return s
}

// ranked fills a section about the orders of the days shown.
func (l local) ranked(s section, f *figures, r ranking, chart, of string) section {
	if r.all == nil {
		s.Empty = l.between(l.NoOrdersBetween, f.shown())
		return s
	}
	if len(r.top) > 3 {
		var first totals
		for _, g := range r.top[:3] {
			first = first.plus(g.of)
		}
		s.Answer = fmt.Sprintf(l.TopThree, isolated(r.top[0].name), isolated(r.top[1].name), isolated(r.top[2].name), l.percent(over(first.at(value), r.all.at(value)), 0))
	}
	s.Charts = []charts.Chart{l.rankChart(chart, r, measure(value))}
	s.Tables = []table{l.rankTable(r, l.Figures, of,
		l.summed(l.Orders, measure(orders), 0), l.summed(l.Value, measure(value), 0), l.shareOf(r, value), l.summed(l.Power, measure(power), 1),
		l.summed(l.Price, valuePerWp, 2), l.rated(l.Reduction, reduction))}
	return s
}

// shareOf is a column of the shares of a sum in that of all groups.
func (l local) shareOf(r ranking, i int) measured {
	return l.rated(l.Share, func(t totals) float64 { return over(t.at(i), r.all.at(i)) })
}
