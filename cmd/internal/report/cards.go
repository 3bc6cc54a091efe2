package report

import (
	"html/template"
	"math"

	"solarmirror/cmd/internal/charts"
)

// card is one figure at the head of the page, with that of one year earlier and a line of 12 months.
type card struct {
	Name, Value, Change string
	Spark               template.HTML
}

// headline is a card before it is written.
type headline struct {
	name        string
	now, before float64 // before is Missing where nothing can be compared
	months      []float64
	unfinished  int
	decimals    int
	share       bool // its change is a difference in percentage points
}

// addCards adds the figures of the days shown; none where nothing was sold.
func (l local) addCards(p *page, f *figures) error {
	shown := f.shown()
	sold, lines := sum(f.Orders, shown), sum(f.Lines, shown)
	if sold.at(orders) == 0 {
		return nil
	}
	p.Period = l.between(l.CardsPeriod, shown)
	earlier := shown.yearEarlier()
	var soldBefore, linesBefore totals
	if f.knows(earlier) {
		soldBefore, linesBefore = sum(f.Orders, earlier), sum(f.Lines, earlier)
	}
	if soldBefore.at(orders) == 0 {
		p.Compared = l.between(l.NotCompared, earlier)
	} else {
		p.Compared = l.between(l.Compared, earlier)
	}
	last := monthsUpTo(shown.last[:7], monthsOfTop)
	series := func(days []group) []totals {
		return newCalendar(byMonth(days, span{last.first, shown.last}), last.last, monthsOfTop).inside
	}
	soldMonths, lineMonths := series(f.Orders), series(f.Lines)
	ofSold := func(name string, decimals int, of func(totals) float64) headline {
		h := headline{name: name, now: of(sold), before: charts.Missing, months: apply(soldMonths, of), unfinished: f.unfinished(), decimals: decimals}
		if soldBefore.at(orders) > 0 {
			h.before = of(soldBefore)
		}
		return h
	}
	marginCard := headline{
		name: l.CardMargin, now: marginRate(lines), before: charts.Missing, months: apply(lineMonths, marginRate),
		unfinished: f.unfinished(), decimals: 1, share: true,
	}
	if linesBefore != nil {
		marginCard.before = marginRate(linesBefore)
	}
	for _, h := range []headline{
		ofSold(l.CardValue, 0, measure(value)), ofSold(l.CardOrders, 0, measure(orders)), ofSold(l.CardPower, 0, measure(power)),
		ofSold(l.CardPrice, 2, valuePerWp), marginCard, ofSold(l.CardTicket, 0, averageTicket), l.conversionCard(f),
	} {
		c, err := l.card(h, l.shortMonths(last))
		if err != nil {
			return err
		}
		p.Cards = append(p.Cards, c)
	}
	return nil
}

// conversionCard is about the cohorts of the days shown that are old enough.
func (l local) conversionCard(f *figures) headline {
	shown := f.shown()
	months := span{shown.first[:7], min(shown.last[:7], f.lastMature())}
	h := headline{name: l.CardConversion, now: charts.Missing, before: charts.Missing, decimals: 1, share: true}
	if months.first <= months.last {
		h.now = conversion(sum(f.Cohorts, months))
	}
	before := span{monthsUpTo(months.first, 13).first, monthsUpTo(months.last, 13).first}
	if first := firstName(f.Cohorts); first != "" && first <= before.first && before.first <= before.last {
		h.before = conversion(sum(f.Cohorts, before))
	}
	last := monthsUpTo(shown.last[:7], monthsOfTop)
	calendar := newCalendar(byMonth(f.Cohorts, span{last.first, months.last}), last.last, monthsOfTop)
	h.months = calendar.values(conversion)
	return h
}

// card writes a headline. The labels are those of the last months, of which the series may lack the
// first.
func (l local) card(h headline, labels []string) (card, error) {
	write := func(v float64) string {
		if h.share {
			return l.percent(v, h.decimals)
		}
		return l.number(v, h.decimals)
	}
	c := card{Name: h.name, Value: write(h.now), Change: l.NoComparison}
	switch {
	case math.IsNaN(h.now) || math.IsNaN(h.before) || h.before == 0 && !h.share:
	case h.share:
		c.Change = l.signed(100*(h.now-h.before), 1) + l.Points + l.Before + write(h.before)
	default:
		c.Change = l.signed(100*(h.now/h.before-1), 1) + "%" + l.Before + write(h.before)
	}
	if len(h.months) < 2 {
		return c, nil
	}
	chart := charts.Chart{
		Title: h.name, Labels: labels[len(labels)-len(h.months):], Series: []charts.Series{{Name: h.name, Values: h.months}},
		Unfinished: h.unfinished, Decimals: h.decimals, Language: l.Language,
	}
	if h.share {
		chart.Unit = "%"
		for i := range h.months {
			h.months[i] *= 100
		}
	}
	spark, err := chart.Spark()
	c.Spark = spark
	return c, err
}

// firstName is that of the first group with one.
func firstName(list []group) string {
	for _, g := range list {
		if g.name != "" {
			return g.name
		}
	}
	return ""
}

func apply(list []totals, of func(totals) float64) []float64 {
	values := make([]float64, len(list))
	for i, t := range list {
		values[i] = of(t)
	}
	return values
}
