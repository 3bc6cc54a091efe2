package statuspage

import (
	"html/template"
	"time"

	"solarmirror/cmd/internal/charts"
	"solarmirror/store"
)

// outcomes are the series of the chart of runs, the good ones at the bottom.
var outcomes = []struct {
	outcome store.Outcome
	tone    charts.Tone
}{{store.OK, charts.Good}, {store.Running, charts.Neutral}, {store.Interrupted, charts.Muted}, {store.Partial, charts.Warning}, {store.Failed, charts.Bad}}

// RunsChart shows how the runs of each day ended. Outcomes that did not happen are left out, but for the good one.
func (v *view) RunsChart() (template.HTML, error) {
	days := v.days()
	c := charts.Chart{Title: v.W.RunsChart, Category: v.W.DayName, Language: v.W.Language, Kind: charts.StackedBars, Labels: days.labels(v.W.Day)}
	for _, o := range outcomes {
		values, some := days.sum(v.runs, func(r store.Run) int64 {
			if r.Outcome == o.outcome {
				return 1
			}
			return 0
		})
		if some || o.outcome == store.OK {
			c.Series = append(c.Series, charts.Series{Name: named(v.W.Outcomes, string(o.outcome)), Values: values, Tone: o.tone})
		}
	}
	return c.HTML()
}

// ChangesChart shows what the runs of each day wrote.
func (v *view) ChangesChart() (template.HTML, error) {
	days := v.days()
	c := charts.Chart{Title: v.W.ChangesChart, Category: v.W.DayName, Language: v.W.Language, Kind: charts.StackedBars, Labels: days.labels(v.W.Day)}
	for _, change := range []struct {
		name  string
		tone  charts.Tone
		count func(store.Run) int64
	}{
		{v.W.New, charts.Neutral, func(r store.Run) int64 { return r.Inserted }},
		{v.W.Changed, charts.Neutral, func(r store.Run) int64 { return r.Changed }},
		{v.W.Gone, charts.Muted, func(r store.Run) int64 { return r.Deleted }},
	} {
		values, _ := days.sum(v.runs, change.count)
		c.Series = append(c.Series, charts.Series{Name: change.name, Values: values, Tone: change.tone})
	}
	return c.HTML()
}

// calendar is the days shown, each by its midnight.
type calendar []time.Time

func (v *view) days() calendar {
	days := make(calendar, shownDays)
	first := firstDay(v.taken, v.Zone)
	for i := range days {
		days[i] = time.Date(first.Year(), first.Month(), first.Day()+i, 0, 0, 0, 0, v.Zone)
	}
	return days
}

func (c calendar) labels(layout string) []string {
	list := make([]string, len(c))
	for i, day := range c {
		list[i] = day.Format(layout)
	}
	return list
}

// sum adds up by the day on which runs started; some says whether anything but zeros came of it.
func (c calendar) sum(runs []store.Run, count func(store.Run) int64) (values []float64, some bool) {
	values = make([]float64, len(c))
	for _, r := range runs {
		day := 0
		for day+1 < len(c) && !r.StartedAt.Before(c[day+1]) {
			day++
		}
		if n := count(r); n != 0 {
			values[day] += float64(n)
			some = true
		}
	}
	return values, some
}
