package charts

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// value is v as it stands in the table.
func (c Chart) value(v float64) string {
	if !known(v) {
		return "–"
	}
	return c.written(1, c.Decimals)(v)
}

// written returns how a drawing writes numbers: in a unit, all with the same decimals.
func (c Chart) written(unit float64, decimals int) func(float64) string {
	suffix := ""
	if c.Unit == "%" {
		suffix = "%"
	}
	return func(v float64) string { return c.Language.Number(v/unit, decimals) + suffix }
}

// heights are the values that are drawn, each at its label: those of a stack are added up.
func (c Chart) heights() (all [][]float64) {
	if c.Kind != StackedBars {
		for _, s := range c.Series {
			all = append(all, s.Values)
		}
		return all
	}
	unknown := []float64{Missing}
	below, above := slices.Repeat(unknown, len(c.Labels)), slices.Repeat(unknown, len(c.Labels))
	for _, s := range c.Series {
		for i, v := range s.Values {
			if known(v) {
				if !known(above[i]) {
					below[i], above[i] = 0, 0
				}
				below[i] += min(v, 0)
				above[i] += max(v, 0)
			}
		}
	}
	return [][]float64{below, above}
}

// extremes are the lowest and highest place that is drawn. 0 lies between them, except for lines
// that are farther from it than from each other.
func (c Chart) extremes() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, values := range c.heights() {
		for _, v := range values {
			if known(v) {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	if far := max(low, -high); c.Kind == Lines && far > high-low && high-low > far/1e6 {
		return low, high
	}
	return min(low, 0), max(high, 0)
}

// unit is what the numbers in the drawings are divided by, and the decimals of the numbers at bars
// and points. The smallest value that is finished must not look like zero, as long as the largest
// stays short.
func (c Chart) unit() (unit float64, decimals int) {
	least, most := math.Inf(1), 0.0
	for _, values := range c.heights() {
		for i, v := range values {
			if size := math.Abs(v); known(v) && size > 0 {
				most = max(most, size)
				if i < len(values)-c.Unfinished {
					least = min(least, size)
				}
			}
		}
	}
	unit = 1
	for _, from := range []float64{1e4, 1e6, 1e9, 1e12} {
		if most >= from {
			unit *= 1e3
		}
	}
	for unit > 1 && least/unit < 0.05 && most/unit < 100 {
		unit /= 1e3
	}
	decimals = c.Decimals
	switch {
	case unit > 1 && most/unit < 10:
		decimals = 2 // two digits tell bars apart that one makes equal
	case unit > 1:
		decimals = 1
	}
	switch {
	case most/unit >= 100 && least/unit >= 1:
		decimals = 0
	case most/unit >= 10:
		decimals = min(decimals, 1)
	}
	return unit, decimals
}

// ticks are the ends of an axis from low to high, which hold 0, and its step: 1, 2 or 5 times a
// power of ten, and at least least.
func ticks(low, high, least float64) (from, to, step float64) {
	const atMost, tolerance = 5, 1e-9
	if high-low < tolerance {
		return 0, 1, 1
	}
	size := max((high-low)/atMost, least)
	power := math.Pow10(int(math.Floor(math.Log10(size) + tolerance)))
	step = 10 * power
	for _, times := range []float64{5, 2, 1} {
		if power*times >= size*(1-tolerance) {
			step = power * times
		}
	}
	from = math.Floor(low/step+tolerance) * step
	return from, max(math.Ceil(high/step-tolerance)*step, from+step), step
}

// describe says in words what matters in the drawing.
func (c Chart) describe() string {
	w := c.Language.words()
	var said []string
	for _, s := range c.Series {
		lowest, highest, last := -1, -1, -1
		for i, v := range s.Values {
			if !known(v) {
				continue
			}
			last = i
			if i >= len(s.Values)-c.Unfinished && highest >= 0 {
				continue // what is not finished is no record
			}
			if highest < 0 || v > s.Values[highest] {
				highest = i
			}
			if lowest < 0 || v < s.Values[lowest] {
				lowest = i
			}
		}
		if last < 0 {
			continue
		}
		at := func(what string, i int) string {
			return fmt.Sprintf("%s: %s, %s", what, c.Labels[i], c.value(s.Values[i]))
		}
		facts := []string{at(w.Highest, highest), at(w.Lowest, lowest)}
		if c.Kind != HorizontalBars {
			facts = append(facts, at(w.Last, last))
		}
		text := strings.Join(facts, "; ") + "."
		if len(c.Series) > 1 {
			text = s.Name + " – " + text
		}
		said = append(said, text)
	}
	if n := c.Unfinished; n > 0 {
		said = append(said, fmt.Sprintf("%s: %s.", w.StillOpen, strings.Join(c.Labels[len(c.Labels)-n:], ", ")))
	}
	return strings.Join(said, " ")
}
