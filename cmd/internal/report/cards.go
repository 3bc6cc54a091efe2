package report

import (
	"fmt"
	"html/template"
	"math"

	"solarmirror/cmd/internal/charts"
)

// card is one figure at the head of the page, with that of one year earlier and a line of 12 months.
type card struct {
	Name, Value, Change string
	Running             string // the same of the running month
	Spark               template.HTML
}

// Long reports whether the value needs smaller figures on a phone.
func (c card) Long() bool { return len(c.Value) > 11 }

// headline is a card before it is written.
type headline struct {
	name        string
	now, before float64 // before is Missing where nothing can be compared
	months      []float64
	unfinished  int
	decimals    int
	share       bool // its change is a difference in percentage points
}

// addCards adds the figures of the days shown; none where nothing was ever ordered.
func (l local) addCards(p *page, f *figures) error {
	shown := f.shown()
	sold, lines := sum(f.Orders, shown), sum(f.Lines, shown)
	if len(f.Orders) == 0 {
		return nil
	}
	p.Period = l.between(l.CardsPeriod, shown)
	earlier := shown.yearEarlier()
	soldBefore, linesBefore, comparable := sum(f.Orders, earlier), sum(f.Lines, earlier), f.knows(earlier)
	p.Compared = l.between(l.NotCompared, earlier)
	if comparable {
		p.Compared = l.between(l.Compared, earlier)
	}
	last := monthsUpTo(shown.last[:7], monthsOfTop)
	series := func(days []group) []totals {
		return newCalendar(byMonth(days, span{last.first, shown.last}, shown.last), last.last, monthsOfTop).inside
	}
	soldMonths, lineMonths := series(f.Orders), series(f.Lines)
	ofSold := func(name string, decimals int, of func(totals) float64) headline {
		h := headline{name: name, now: of(sold), before: charts.Missing, months: apply(soldMonths, of), unfinished: f.unfinished(), decimals: decimals}
		if comparable {
			h.before = of(soldBefore)
		}
		return h
	}
	marginCard := headline{
		name: l.CardMargin, now: marginRate(lines), before: charts.Missing, months: apply(lineMonths, marginRate),
		unfinished: f.unfinished(), decimals: 1, share: true,
	}
	if comparable {
		marginCard.before = marginRate(linesBefore)
	}
	for _, h := range []headline{
		ofSold(l.CardValue, 0, ofOrders(value)), ofSold(l.CardOrders, 0, measure(orders)), ofSold(l.CardPower, 0, ofOrders(power)),
		ofSold(l.CardPrice, 2, valuePerWp), marginCard, ofSold(l.CardTicket, 0, averageTicket), l.conversionCard(f),
	} {
		c, err := l.card(h, l.shortMonths(last))
		if err != nil {
			return err
		}
		p.Cards = append(p.Cards, c)
	}
	if month := f.lastMonth(); f.unfinished() > 0 && month != shown {
		h := headline{now: ofOrders(value)(sum(f.Orders, month)), before: charts.Missing}
		if earlier := month.yearEarlier(); f.knows(earlier) {
			h.before = ofOrders(value)(sum(f.Orders, earlier))
		}
		p.Cards[0].Running = fmt.Sprintf("%s: %s, %s", l.monthRow(f, month.last[:7]), l.number(h.now, 0), l.change(h))
	}
	return nil
}

// matureMonths are those of the days shown whose cohorts are old enough.
func (f *figures) matureMonths() span {
	shown := f.shown()
	return span{shown.first[:7], min(shown.last[:7], f.lastMature())}
}

func (l local) conversionCard(f *figures) headline {
	shown, months := f.shown(), f.matureMonths()
	h := headline{name: l.CardConversion, now: charts.Missing, before: charts.Missing, decimals: 1, share: true}
	if months.first <= months.last {
		h.now = conversion(sum(f.Cohorts, months))
	}
	before := span{monthsUpTo(months.first, 13).first, monthsUpTo(months.last, 13).first}
	if first := firstName(f.Cohorts); first != "" && first <= before.first && before.first <= before.last {
		h.before = conversion(sum(f.Cohorts, before))
	}
	last := monthsUpTo(shown.last[:7], monthsOfTop)
	calendar := newCalendar(byMonth(f.Cohorts, span{last.first, months.last}, months.last), last.last, monthsOfTop)
	h.months = calendar.values(conversion)
	return h
}

// card writes a headline. The labels are those of the last months, of which the series may lack the
// first.
func (l local) card(h headline, labels []string) (card, error) {
	c := card{Name: h.name, Value: l.headed(h, h.now), Change: l.change(h)}
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

func (l local) headed(h headline, v float64) string {
	if h.share {
		return l.percent(v, h.decimals)
	}
	return l.number(v, h.decimals)
}

// change compares a headline with the year before. From zero there is no percentage.
func (l local) change(h headline) string {
	before := l.Before + l.headed(h, h.before)
	switch {
	case math.IsNaN(h.now) || math.IsNaN(h.before):
		return l.NoComparison
	case h.share:
		return l.signed(100*(h.now-h.before), 1) + l.Points + " " + before
	case h.before == 0:
		return before
	}
	return l.signed(100*(h.now/h.before-1), 1) + "% " + before
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
