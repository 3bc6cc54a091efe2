package report

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"solarmirror/cmd/internal/charts"
)

// totals are sums over rows of one query. The query defines their order by constants of its own. A
// sum over unknown values only is [charts.Missing]; nil are the totals of no rows.
type totals []float64

// at returns one of the sums; of no rows it is 0.
func (t totals) at(i int) float64 {
	if t == nil {
		return 0
	}
	return t[i]
}

func (t totals) plus(u totals) totals {
	switch {
	case t == nil:
		return u
	case u == nil:
		return t
	}
	sums := make(totals, len(t))
	for i := range sums {
		sums[i] = plus(t[i], u[i])
	}
	return sums
}

// plus adds known values.
func plus(a, b float64) float64 {
	switch {
	case math.IsNaN(a):
		return b
	case math.IsNaN(b):
		return a
	}
	return a + b
}

// over is a ratio; Missing over zero.
func over(a, b float64) float64 {
	if b == 0 {
		return charts.Missing
	}
	return a / b
}

// group are the totals of one name, day or month; the name is "" where it is not known.
type group struct {
	name string
	of   totals
}

// groups sums columns of a mart by an expression, in its order.
func (s *source) groups(ctx context.Context, table, by string, sums []string, c clause) (list []group) {
	query := fmt.Sprintf("SELECT %s, %s FROM %s WHERE %s GROUP BY 1 ORDER BY 1", by, strings.Join(sums, ", "), table, c.sql)
	s.each(ctx, query, func(r row) {
		g := group{name: r.text(0), of: make(totals, len(sums))}
		for i := range sums {
			g.of[i] = r.number(1 + i)
		}
		list = append(list, g)
	}, c.args...)
	return list
}

// sum adds up the groups whose names are in a span.
func sum(list []group, days span) (all totals) {
	for _, g := range list {
		if days.holds(g.name) {
			all = all.plus(g.of)
		}
	}
	return all
}

// byMonth adds up the days of a span by month; those after the last day are under [later].
func byMonth(days []group, within span, last string) (months []group) {
	for _, day := range days {
		name := day.name[:min(len(day.name), len(monthForm))]
		if day.name > last {
			name = later
		}
		if within.holds(day.name) {
			months = addTo(months, group{name, day.of})
		}
	}
	return months
}

// later sorts after every month.
const later = "later"

// addTo adds a group to the last of list, where the two have one name.
func addTo(list []group, g group) []group {
	if n := len(list); n > 0 && list[n-1].name == g.name {
		list[n-1].of = list[n-1].of.plus(g.of)
		return list
	}
	return append(list, g)
}

// period is a range of months, YYYY-MM, both included.
type period struct{ first, last string }

const monthForm = "2006-01"

// monthsUpTo returns the last n months up to one.
func monthsUpTo(last string, n int) period {
	t, _ := time.Parse(monthForm, last) // as cut from a day
	return period{t.AddDate(0, 1-n, 0).Format(monthForm), last}
}

// months lists the months of the period, in order.
func (p period) months() (list []string) {
	for at, err := time.Parse(monthForm, p.first); err == nil && at.Format(monthForm) <= p.last; at = at.AddDate(0, 1, 0) {
		list = append(list, at.Format(monthForm))
	}
	return list
}

// calendar is a series by month: every month of a period, with or without rows, and the totals of
// earlier, later and undated rows.
type calendar struct {
	period
	begin                   string // first month with a row
	inside                  []totals
	earlier, later, undated totals
}

// newCalendar shows the last n months up to one, from the first with a group.
func newCalendar(months []group, last string, n int) calendar {
	c := calendar{period: monthsUpTo(last, n)}
	for _, g := range months { // in order
		if g.name != "" {
			c.begin = min(g.name, c.last)
			break
		}
	}
	c.first = max(c.first, c.begin)
	names := c.months()
	c.inside = make([]totals, len(names))
	for _, g := range months {
		switch i := slices.Index(names, g.name); {
		case i >= 0:
			c.inside[i] = g.of
		case g.name == "":
			c.undated = g.of
		case g.name < c.first:
			c.earlier = c.earlier.plus(g.of)
		default:
			c.later = c.later.plus(g.of)
		}
	}
	return c
}

// all returns the totals of all rows.
func (c calendar) all() totals {
	all := c.earlier.plus(c.later).plus(c.undated)
	for _, t := range c.inside {
		all = all.plus(t)
	}
	return all
}

// values are those of a chart.
func (c calendar) values(of func(totals) float64) []float64 {
	list := make([]float64, len(c.inside))
	for i, t := range c.inside {
		list[i] = of(t)
	}
	return list
}

// measure returns the sum at an index.
func measure(i int) func(totals) float64 { return func(t totals) float64 { return t.at(i) } }

// ranking is the first groups by value, and the totals of the others.
type ranking struct {
	top    []group
	others totals
	rest   int // number of the others
	all    totals
}

// rank sorts groups by a figure, the largest first and unknown ones last.
func rank(list []group, by func(totals) float64) (r ranking) {
	slices.SortStableFunc(list, func(a, b group) int {
		v, w := by(a.of), by(b.of)
		switch {
		case math.IsNaN(v) && math.IsNaN(w), v == w:
			return cmp.Compare(a.name, b.name)
		case math.IsNaN(v):
			return 1
		case math.IsNaN(w):
			return -1
		}
		return cmp.Compare(w, v)
	})
	n := min(len(list), topRows)
	if len(list) == n+1 {
		n++ // "Others (1)" would hide a name and save no line
	}
	r.top, r.rest = list[:n], len(list)-n
	for i, g := range list {
		r.all = r.all.plus(g.of)
		if i >= n {
			r.others = r.others.plus(g.of)
		}
	}
	return r
}
