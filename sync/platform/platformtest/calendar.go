package platformtest

import (
	"slices"
	"sort"
	"time"
)

const (
	minuteMS = int64(time.Minute / time.Millisecond)
	hourMS   = 60 * minuteMS
	dayMS    = 24 * hourMS
)

// seasons weigh the months: slow around carnival, busy before the year ends.
var seasons = [12]float64{0.85, 0.75, 0.95, 0.95, 1, 1, 1.05, 1.1, 1.1, 1.15, 1.2, 0.9}

// weekdays weigh the days of a week, from Sunday.
var weekdays = [7]float64{0.12, 1.2, 1.3, 1.3, 1.25, 1.2, 0.4}

// hours weigh the hours of a day.
var hours = []int{1, 0, 0, 0, 0, 1, 3, 12, 40, 70, 80, 72, 40, 55, 80, 82, 75, 60, 32, 20, 14, 10, 6, 3}

func dayWeight(day time.Time) float64 {
	return seasons[day.Month()-1] * weekdays[day.Weekday()]
}

// drawTimeOfDay returns the milliseconds since midnight of something that people do.
func drawTimeOfDay(d *dice) int64 {
	return int64(d.weighted(hours))*hourMS + int64(d.below(int(hourMS)))
}

// midnight returns when the local day of a moment began.
func midnight(ms int64, zone *time.Location) time.Time {
	year, month, day := time.UnixMilli(ms).In(zone).Date()
	return time.Date(year, month, day, 0, 0, 0, 0, zone)
}

// history returns n moments within the two years before start, in order: growing through the years, with
// seasons, weekends and office hours.
func history(seed uint64, n int, start int64, zone *time.Location) []int64 {
	last := midnight(start, zone)
	first := last.AddDate(-2, 0, 0)
	var days []int64
	var reached []float64 // cumulative weights of the days
	total := 0.0
	for day := first; !day.After(last); day = day.AddDate(0, 0, 1) {
		grown := 0.6 + 0.4*day.Sub(first).Hours()/last.Sub(first).Hours()
		total += dayWeight(day) * grown
		days = append(days, day.UnixMilli())
		reached = append(reached, total)
	}
	d := throw(seed, streamHistory)
	moments := make([]int64, n)
	for i := range moments {
		x := d.float() * total
		at := days[sort.SearchFloat64s(reached, x)] + drawTimeOfDay(&d)
		if at >= start { // later on the first day
			at = start - 1 - int64(d.below(int(hourMS)))
		}
		moments[i] = at
	}
	slices.Sort(moments)
	return moments
}

// arrivals returns the moments of a local day at which new budgets are made, in no order.
func arrivals(seed uint64, day time.Time, perDay float64) []int64 {
	d := throw(seed, streamDay, uint64(day.Unix()))
	moments := make([]int64, d.poisson(perDay*dayWeight(day)))
	for i := range moments {
		moments[i] = day.UnixMilli() + drawTimeOfDay(&d)
	}
	return moments
}
