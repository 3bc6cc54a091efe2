package report

import (
	"fmt"
	"html/template"
	"math"
	"time"

	"solarmirror/cmd/internal/charts"
)

// page is what the template shows.
type page struct {
	Words    words
	CSS      template.CSS
	Made     string   // when, and of which platform
	Complete string   // up to when the mirror holds everything
	Warnings []string // why the figures may not be what they seem
	Period   string   // of the cards
	Cards    []card
	Sections []section
	Money    string // what the figures are in
}

// card is one figure at the head of the page.
type card struct{ Name, Value string }

// section is one question. Where Empty is not "", it is all there is to say.
type section struct {
	ID, Title string
	Lead      string // what is shown, and of which time
	Empty     string
	Charts    []charts.Chart
	Drawn     []template.HTML // the charts
	Tables    []table
	Note      string // what to know when reading the figures
}

// table is a table of the page. Its first column names the row.
type table struct {
	Caption string
	Folded  bool // shows the caption only, until it is opened or printed
	Columns []column
	Rows    [][]string
	Total   []string // nil: none
}

// Short says whether the table shall stay whole on paper.
func (t table) Short() bool { return len(t.Rows) <= 15 }

type column struct {
	Name  string
	Words bool // text, not numbers
}

// newPage puts the figures into words.
func newPage(f *figures, o Options) (*page, error) {
	l := local{words: wordsOf(o.Language), Language: o.Language, zone: o.Zone}
	p := &page{Words: l.words, CSS: template.CSS(charts.CSS + pageCSS), Money: fmt.Sprintf(l.Money, o.Zone), Warnings: l.warnings(f)}
	p.Made = fmt.Sprintf(l.Made, l.moment(o.Now))
	if f.Platform != "" {
		p.Made = fmt.Sprintf(l.MadeOf, l.moment(o.Now), f.Platform)
	}
	if through := f.completeThrough(); !through.IsZero() {
		p.Complete = fmt.Sprintf(l.Complete, l.moment(through))
	}
	p.Period, p.Cards = l.cards(f)
	for _, make := range []func(*figures) section{
		l.revenue, l.funnel, l.discounts, l.makers, l.states, l.sellers, l.stay, l.stock, l.freshness,
	} {
		s := make(f)
		for _, c := range s.Charts {
			c.Language, c.Tabled = o.Language, true
			html, err := c.HTML()
			if err != nil {
				return nil, err
			}
			s.Drawn = append(s.Drawn, html)
		}
		p.Sections = append(p.Sections, s)
	}
	return p, nil
}

// completeThrough is up to when the mirror holds everything of all streams; zero if it does of none.
func (f *figures) completeThrough() time.Time {
	var least time.Time
	for i, s := range f.Streams {
		if i == 0 || s.CompleteThrough.Before(least) {
			least = s.CompleteThrough
		}
	}
	return least
}

func (l local) warnings(f *figures) (list []string) {
	switch {
	case !f.Built:
		list = append(list, l.NotBuilt)
	case f.Behind:
		list = append(list, l.Behind)
	}
	for _, s := range f.Streams {
		switch {
		case !s.CompleteThrough.IsZero():
		case math.IsNaN(s.Loaded):
			list = append(list, fmt.Sprintf(l.Loading, l.stream(s)))
		default:
			list = append(list, fmt.Sprintf(l.LoadingPart, l.stream(s), l.percent(s.Loaded/100, 0)))
		}
	}
	return list
}

// cards are the figures of the last months; none where nothing was sold.
func (l local) cards(f *figures) (period string, list []card) {
	p := f.lastMonths(monthsOfTop)
	var all sales
	for _, m := range f.Months {
		if p.holds(m.Name) {
			all = all.add(m.Of)
		}
	}
	if !all.exists() {
		return "", nil
	}
	var of cohort
	for _, c := range f.Cohorts {
		if p.holds(c.Name) {
			of = of.add(c.Of)
		}
	}
	return l.between(l.LastMonths, p), []card{
		{l.CardOrders, l.count(all.Orders)}, {l.CardValue, l.number(all.Value, 0)}, {l.CardPower, l.number(all.Power, 0)},
		{l.CardPrice, l.number(all.valuePerWp(), 2)}, {l.CardReduction, l.percent(all.reduction(), 1)}, {l.CardConversion, l.percent(of.conversion(), 1)},
	}
}

// local writes values as a language does.
type local struct {
	words
	charts.Language
	zone *time.Location
}

// unknown stands for a value nobody knows.
const unknown = "–"

func (l local) number(v float64, decimals int) string {
	if math.IsNaN(v) {
		return unknown
	}
	return l.Number(v, decimals)
}

func (l local) percent(share float64, decimals int) string {
	if math.IsNaN(share) {
		return unknown
	}
	return l.Percent(share, decimals)
}

func (l local) count(n int64) string { return l.Number(float64(n), 0) }

// moment is in the platform's time zone; the zero time has not come yet.
func (l local) moment(t time.Time) string {
	if t.IsZero() {
		return l.Never
	}
	return t.In(l.zone).Format(l.Moment)
}

// month writes a month given as YYYY-MM.
func (l local) month(month string) string {
	t, err := time.Parse(monthForm, month)
	if err != nil {
		return month
	}
	return fmt.Sprintf(l.MonthLong, l.Months[t.Month()-1], t.Year())
}

// shortMonth does so with less room.
func (l local) shortMonth(month string) string {
	t, err := time.Parse(monthForm, month)
	if err != nil {
		return month
	}
	return fmt.Sprintf(l.MonthShort, l.Months[t.Month()-1], t.Year()%100)
}

// between fills the ends of a period into a text.
func (l local) between(text string, p period) string {
	return fmt.Sprintf(text, l.month(p.first), l.month(p.last))
}
