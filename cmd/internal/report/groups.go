package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// group is what belongs to one name, or month.
type group[T any] struct {
	Name string // "" = none
	Of   T
}

// adder is what groups can be added up by. Its zero value is what nothing adds up to.
type adder[T any] interface {
	add(T) T
	exists() bool // whether anything was added
}

// sum adds up. It starts from the first, so that what is unknown of all stays so.
func sum[T adder[T]](list []T) (all T) {
	for i, t := range list {
		if i == 0 {
			all = t
		} else {
			all = all.add(t)
		}
	}
	return all
}

// period is some months, both ends included, as YYYY-MM.
type period struct{ first, last string }

const monthForm = "2006-01"

// lastMonths are so many, up to today's.
func (f *figures) lastMonths(n int) period {
	running := time.Date(f.Today.Year(), f.Today.Month(), 1, 0, 0, 0, 0, time.UTC)
	return period{running.AddDate(0, 1-n, 0).Format(monthForm), running.Format(monthForm)}
}

func (p period) holds(month string) bool { return p.first <= month && month <= p.last }

// months are those of the period, in order.
func (p period) months() (list []string) {
	for at, err := time.Parse(monthForm, p.first); err == nil && at.Format(monthForm) <= p.last; at = at.AddDate(0, 1, 0) {
		list = append(list, at.Format(monthForm))
	}
	return list
}

// ordersSQL is the condition for the won orders of the period.
func (p period) ordersSQL() string {
	return fmt.Sprintf("deal_class = 'won' AND order_date BETWEEN '%s-01' AND '%s-31'", p.first, p.last)
}

// calendar is groups by month as they are shown: each month of a period, with or without a group, and the others together.
type calendar[T adder[T]] struct {
	period
	inside                  []T
	earlier, later, undated T
}

// newCalendar shows the last months, from the first that has a group.
func newCalendar[T adder[T]](f *figures, list []group[T]) calendar[T] {
	c := calendar[T]{period: f.lastMonths(monthsShown)}
	for _, g := range list { // in order of month
		if c.holds(g.Name) {
			if list[0].Name >= c.first {
				c.first = g.Name
			}
			break
		}
	}
	months := c.months()
	c.inside = make([]T, len(months))
	var earlier, later []T
	for _, g := range list {
		switch i := slices.Index(months, g.Name); {
		case i >= 0:
			c.inside[i] = g.Of
		case g.Name == "":
			c.undated = g.Of
		case g.Name < c.first:
			earlier = append(earlier, g.Of)
		default:
			later = append(later, g.Of)
		}
	}
	c.earlier, c.later = sum(earlier), sum(later)
	return c
}

// table writes the calendar as lines, and their total.
func (c calendar[T]) table(l local, cells func(name string, of T) []string) (rows [][]string, total []string) {
	var all []T
	line := func(name string, of T) {
		if of.exists() {
			all = append(all, of)
		}
		rows = append(rows, cells(name, of))
	}
	if c.earlier.exists() {
		line(fmt.Sprintf(l.Earlier, l.month(c.first)), c.earlier)
	}
	for i, month := range c.months() {
		line(l.month(month), c.inside[i])
	}
	if c.later.exists() {
		line(fmt.Sprintf(l.Later, l.month(c.last)), c.later)
	}
	if c.undated.exists() {
		line(l.Undated, c.undated)
	}
	return rows, cells(l.Total, sum(all))
}

// values are those of a chart.
func values[T any](list []T, of func(T) float64) []float64 {
	numbers := make([]float64, len(list))
	for i, t := range list {
		numbers[i] = of(t)
	}
	return numbers
}

// ranking is the first groups of a list that is in order of rank, and the others together.
type ranking[T adder[T]] struct {
	top    []group[T]
	others T
	rest   int // how many others there are
	all    T
}

func rank[T adder[T]](list []group[T]) ranking[T] {
	of := make([]T, len(list))
	for i, g := range list {
		of[i] = g.Of
	}
	n := min(len(list), topRows)
	if len(list) == n+1 {
		n++ // a line for one other says less than its own
	}
	return ranking[T]{top: list[:n], others: sum(of[n:]), rest: len(list) - n, all: sum(of)}
}

// rows writes the ranking as lines.
func (r ranking[T]) rows(l local, cells func(name string, of T) []string) (rows [][]string) {
	for _, g := range r.top {
		rows = append(rows, cells(g.Name, g.Of))
	}
	if r.rest > 0 {
		rows = append(rows, cells(fmt.Sprintf(l.Others, l.count(int64(r.rest))), r.others))
	}
	return rows
}

// labels are the names of the first groups.
func (r ranking[T]) labels() []string {
	list := make([]string, len(r.top))
	for i, g := range r.top {
		list[i] = g.Name
	}
	return list
}

// values are those of the first groups, for a chart.
func (r ranking[T]) values(of func(T) float64) []float64 {
	return values(r.top, func(g group[T]) float64 { return of(g.Of) })
}

// byValue puts groups in order: the highest value first, what is unknown last, and by name where values are equal.
func byValue[T any](value func(T) float64) func(a, b group[T]) int {
	return func(a, b group[T]) int {
		v, w := value(a.Of), value(b.Of)
		switch {
		case math.IsNaN(v) && math.IsNaN(w), v == w:
			return cmp.Compare(a.Name, b.Name)
		case math.IsNaN(v):
			return 1
		case math.IsNaN(w):
			return -1
		}
		return cmp.Compare(w, v)
	}
}

// plus adds what is known.
func plus(a, b float64) float64 {
	switch {
	case math.IsNaN(a):
		return b
	case math.IsNaN(b):
		return a
	}
	return a + b
}
