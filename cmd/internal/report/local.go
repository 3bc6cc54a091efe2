package report

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"

	"solarmirror/cmd/internal/charts"
)

// local writes values as a language does.
type local struct {
	words
	charts.Language
	zone *time.Location
}

// unknown stands for an unknown value.
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

// median is that of n values; of fewer than fewest it says so instead.
func (l local) median(v float64, n int64) string {
	if n > 0 && n < fewest {
		return l.TooFew
	}
	return l.number(v, 1)
}

// signed writes a number with its sign.
func (l local) signed(v float64, decimals int) string {
	if v > 0 {
		return "+" + l.Number(v, decimals)
	}
	return l.Number(v, decimals)
}

// many writes a number of things, one or several.
func (l local) many(n float64, things [2]string) string {
	if n == 1 {
		return fmt.Sprintf(things[0], l.number(n, 0))
	}
	return fmt.Sprintf(things[1], l.number(n, 0))
}

// isolated keeps a name that is written from right to left from turning the words around it.
func isolated(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool {
		return unicode.In(r, unicode.Arabic, unicode.Hebrew, unicode.Syriac, unicode.Thaana)
	}) {
		return "\u2068" + name + "\u2069"
	}
	return name
}

// moment is in the platform's time zone; the zero time has not come yet.
func (l local) moment(t time.Time) string {
	if t.IsZero() {
		return l.Never
	}
	return t.In(l.zone).Format(l.Moment)
}

// day writes a day given as YYYY-MM-DD; "" is unknown.
func (l local) day(day string) string {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return unknown
	}
	return t.Format(l.Date)
}

// localDay writes the day of a timestamp of the marts, in the platform's time zone.
func (l local) localDay(at string) string {
	t, err := time.Parse("2006-01-02 15:04:05.000", at)
	if err != nil {
		return unknown
	}
	return t.In(l.zone).Format(l.Date)
}

// between fills the ends of a span into a text.
func (l local) between(text string, days span) string {
	return fmt.Sprintf(text, l.day(days.first), l.day(days.last))
}

// month writes a month given as YYYY-MM.
func (l local) month(month string) string {
	t, err := time.Parse(monthForm, month)
	if err != nil {
		return month
	}
	return fmt.Sprintf(l.MonthLong, l.Months[t.Month()-1], t.Year())
}

// shortMonths does so with less room, for all months of a period.
func (l local) shortMonths(p period) []string {
	list := p.months()
	for i, month := range list {
		if t, err := time.Parse(monthForm, month); err == nil {
			list[i] = fmt.Sprintf(l.MonthShort, l.Months[t.Month()-1], t.Year()%100)
		}
	}
	return list
}

// cut reports whether the report does not show the last days of its last month.
func (s scope) cut() bool {
	last, err := time.Parse(time.DateOnly, s.lastDay())
	return err == nil && last.AddDate(0, 0, 1).Day() != 1
}

// unfinished is the number of months, 0 or 1, that still run.
func (s scope) unfinished() int {
	if s.cut() && s.lastDay() == s.today.Format(time.DateOnly) {
		return 1
	}
	return 0
}

// monthRow names the line of a month, and the days of it that are shown, where they are not all.
func (l local) monthRow(f *figures, month string) string {
	name, last := l.month(month), f.lastDay()
	from, to := "", ""
	if f.Since != "" && f.Since[:7] == month && f.Since[8:] != "01" {
		from = f.Since[8:]
	}
	if f.cut() && last[:7] == month {
		to = last[8:]
	}
	switch {
	case from != "" && to != "":
		return name + fmt.Sprintf(l.FromToDay, from, to)
	case from != "":
		return name + fmt.Sprintf(l.FromDay, from)
	case to != "":
		return name + fmt.Sprintf(l.ToDay, to)
	}
	return name
}

// measured is a column of a table of totals.
type measured struct {
	name string
	text func(totals) string
}

// summed is a column of numbers.
func (l local) summed(name string, of func(totals) float64, decimals int) measured {
	return measured{name, func(t totals) string { return l.number(of(t), decimals) }}
}

// rated is a column of a share.
func (l local) rated(name string, of func(totals) float64) measured {
	return measured{name, func(t totals) string { return l.percent(of(t), 1) }}
}

func line(name string, of totals, columns []measured) []string {
	cells := []string{name}
	for _, c := range columns {
		cells = append(cells, c.text(of))
	}
	return cells
}

func header(first string, columns []measured) []column {
	list := []column{{Name: first, Words: true}}
	for _, c := range columns {
		list = append(list, column{Name: c.name})
	}
	return list
}

// calendarTable has a line for each month, and their total.
func (l local) calendarTable(f *figures, c calendar, caption, first string, columns ...measured) table {
	t := table{Caption: caption, Folded: true, Columns: header(first, columns)}
	if c.earlier != nil {
		t.Rows = append(t.Rows, line(fmt.Sprintf(l.Earlier, l.month(c.first)), c.earlier, columns))
	}
	for i, month := range c.months() {
		t.Rows = append(t.Rows, line(l.monthRow(f, month), c.inside[i], columns))
	}
	if c.later != nil {
		t.Rows = append(t.Rows, line(fmt.Sprintf(l.Later, l.day(f.lastDay())), c.later, columns))
	}
	if c.undated != nil {
		t.Rows = append(t.Rows, line(l.Undated, c.undated, columns))
	}
	total := l.Total
	if c.begin != "" {
		total = fmt.Sprintf(l.TotalSince, l.month(c.begin))
	}
	t.Total = line(total, c.all(), columns)
	return t
}

// rankTable has a line for each of the first groups, one for the others, and their total.
func (l local) rankTable(r ranking, caption, first string, columns ...measured) table {
	t := table{Caption: caption, Folded: true, Columns: header(first, columns)}
	for _, g := range r.top {
		t.Rows = append(t.Rows, line(g.name, g.of, columns))
	}
	if r.rest > 0 {
		t.Rows = append(t.Rows, line(l.others(r), r.others, columns))
	}
	t.Total = line(l.Total, r.all, columns)
	return t
}

func (l local) others(r ranking) string { return fmt.Sprintf(l.Others, l.count(int64(r.rest))) }

// rankChart has a bar for each line of rankTable.
func (l local) rankChart(title string, r ranking, of func(totals) float64) charts.Chart {
	var labels []string
	var values []float64
	for _, g := range r.top {
		labels, values = append(labels, g.name), append(values, of(g.of))
	}
	if r.rest > 0 {
		labels, values = append(labels, l.others(r)), append(values, of(r.others))
	}
	return l.bars(title, labels, values)
}

// bars are horizontal bars of one series.
func (l local) bars(title string, labels []string, values []float64) charts.Chart {
	return charts.Chart{Title: title, Kind: charts.HorizontalBars, Labels: labels, Series: []charts.Series{{Name: title, Values: values}}}
}

// named gives groups without a name one.
func named(list []group, name string) []group {
	for i := range list {
		if list[i].name == "" {
			list[i].name = name
		}
	}
	return list
}
