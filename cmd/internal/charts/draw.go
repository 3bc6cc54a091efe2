package charts

import (
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/go-analyze/charts"
)

// sheet is the room for a drawing, in CSS pixels.
type sheet struct {
	width, height int
	runes         int // of a lying one: the longest label
}

var (
	wide   = sheet{width: 620, height: 230, runes: 30}
	narrow = sheet{width: 340, height: 210, runes: 15}
)

const (
	// textSize is what the library lays text out for, in points. The style sheet draws it a tenth smaller: the reader's font
	// may be wider than the one the library measures with.
	textSize = 10.0
	// letterWidth is about that of a letter in CSS pixels, labelGap what keeps two labels apart.
	letterWidth = 7
	labelGap    = 16
	// rowHeight is that of one lying bar, rowMargin what lies around all of them.
	rowHeight = 30
	rowMargin = 16
	// thickest is the most a bar may measure, or a chart of one day would be one block.
	thickest = 48
)

// draw returns the library's SVG.
func (c Chart) draw(on sheet) ([]byte, error) {
	if c.lies() {
		on.height = rowMargin + rowHeight*len(c.Labels)
	}
	p := charts.NewPainter(charts.PainterOptions{OutputFormat: charts.ChartOutputSVG, Width: on.width, Height: on.height, Theme: c.theme()})
	if err := c.paint(p, on); err != nil {
		return nil, fmt.Errorf("draw: %w", err)
	}
	return p.Bytes()
}

// lies says whether the bars run from left to right.
func (c Chart) lies() bool { return c.Kind == HorizontalBars || c.Kind == Funnel }

func (c Chart) paint(p *charts.Painter, on sheet) error {
	if c.Kind == Lines || len(c.Labels) == 1 && !c.lies() {
		c = c.spaced()
	}
	switch {
	case c.Kind == Lines:
		axis := c.categories(on)
		// Where points are dense the library decides so anyway. It begins each label at its tick then, which the style sheet mends.
		axis.BoundaryGap = charts.Ptr(false)
		return p.LineChart(charts.LineChartOption{
			Theme: c.theme(), Padding: padding(18), SeriesList: charts.NewSeriesListLine(c.values()), Legend: hiddenLegend(),
			XAxis: axis, YAxis: c.scale(), LineStrokeWidth: 2,
		})
	case c.lies():
		return p.BarChart(c.lying(on))
	}
	return p.BarChart(charts.BarChartOption{
		Theme: c.theme(), Padding: padding(18), SeriesList: charts.NewSeriesListBar(c.values()), Legend: hiddenLegend(),
		CategoryAxis: c.categories(on), ValueAxis: c.scale(), StackSeries: charts.Ptr(c.Kind == StackedBars),
		BarSize: c.thickness(on.width),
	})
}

func padding(right int) charts.Box {
	return charts.Box{Left: 4, Top: 8, Right: right, Bottom: 4, IsSet: true}
}

func hiddenLegend() charts.LegendOption { return charts.LegendOption{Show: charts.Ptr(false)} }

// spaced has an empty place on both sides: for lines, and for an only label, which the library would put to the left.
func (c Chart) spaced() Chart {
	c.Labels = slices.Concat([]string{""}, c.Labels, []string{""})
	c.Series = slices.Clone(c.Series)
	for i, s := range c.Series {
		c.Series[i].Values = slices.Concat([]float64{Missing}, s.Values, []float64{Missing})
	}
	return c
}

// categories is the axis of the labels. Where they would stand in each other's way only some are written, the last one among them.
func (c Chart) categories(on sheet) charts.CategoryAxisOption {
	labels := guardAll(c.Labels)
	last := len(labels) - 1
	if c.Kind == Lines {
		last-- // its places at the ends are empty
	}
	longest := 0
	for _, l := range labels {
		longest = max(longest, utf8.RuneCountInString(l))
	}
	fit := max(1, on.width/(letterWidth*longest+labelGap))
	every := (len(labels) + fit - 1) / fit
	for i := range labels {
		if (last-i)%every != 0 {
			labels[i] = ""
		}
	}
	return charts.CategoryAxisOption{
		Labels: labels, LabelFontStyle: charts.FontStyle{FontSize: textSize}, LabelCount: len(labels), BoundaryGap: charts.Ptr(true),
	}
}

// scale is the axis of the values.
func (c Chart) scale() []charts.ValueAxisOption {
	low, high, steps := ticks(c.extremes())
	return []charts.ValueAxisOption{{
		Min: &low, Max: &high, LabelCount: steps + 1, LabelFontStyle: charts.FontStyle{FontSize: textSize},
		ValueFormatter: func(v float64) string { return guard(c.axisValue(v)) },
		SplitLineShow:  charts.Ptr(true), SpineLineShow: charts.Ptr(false),
	}}
}

// lying is the chart of lying bars: the value at the end of each, and no axis.
func (c Chart) lying(on sheet) charts.BarChartOption {
	values := c.values()
	for _, v := range values {
		slices.Reverse(v) // the library begins at the bottom
	}
	labels, aside := make([]string, len(c.Labels)), 0
	for i, l := range c.Labels {
		l = shorten(l, on.runes)
		labels[len(labels)-1-i], aside = guard(l), max(aside, unmeasured(l))
	}
	font := charts.FontStyle{FontSize: textSize}
	list := charts.NewSeriesListBar(values)
	most := 0
	for i, series := range c.Series {
		for _, v := range series.Values {
			most = max(most, utf8.RuneCountInString(c.atBar(series, v)))
		}
		list[i].Label = charts.SeriesLabel{Show: charts.Ptr(true), FontStyle: font, ValueFormatter: func(v float64) string { return guard(c.atBar(series, v)) }}
	}
	_, high := c.extremes()
	around := padding(12 + 8*most)
	around.Left += aside
	return charts.BarChartOption{
		Theme: c.theme(), Padding: around, SeriesList: list, Legend: hiddenLegend(), Horizontal: true,
		CategoryAxis: charts.CategoryAxisOption{Labels: labels, LabelFontStyle: font},
		ValueAxis:    []charts.ValueAxisOption{{Show: charts.Ptr(false), Min: charts.Ptr(0.0), Max: &high, RangeValuePaddingScale: charts.Ptr(0.0)}},
	}
}

// atBar is what stands at the end of a lying bar. A stage of a funnel has its share of the first.
func (c Chart) atBar(s Series, v float64) string {
	text := c.value(v)
	if whole := s.Values[0]; c.Kind == Funnel && v != whole && whole > 0 {
		text += " (" + c.Language.Percent(v/whole, 0) + ")"
	}
	return text
}

// unmeasured is the room, in CSS pixels, that a label needs beyond what the library gives it. Its font lacks what guard hides and the letters
// of the East, and they count as narrow.
func unmeasured(label string) (pixels int) {
	for _, letter := range label {
		switch {
		case letter == '&' || letter == '<' || letter == '>':
			pixels += 5
		case letter >= firstSquare:
			pixels += 8
		}
	}
	return pixels
}

// firstSquare begins the part of Unicode whose letters are as wide as they are high: those of East Asia, and pictures.
const firstSquare = '\u2e80'

// shorten keeps so many letters.
func shorten(text string, most int) string {
	if letters := []rune(text); len(letters) > most {
		return string(letters[:most-1]) + "…"
	}
	return text
}

// thickness is the share that a bar takes of its place; 0 leaves it to the library.
func (c Chart) thickness(width int) float64 {
	bars := len(c.Labels)
	if c.Kind == Bars {
		bars *= len(c.Series)
	}
	if share := float64(thickest*bars) / float64(width); share < 0.6 {
		return share
	}
	return 0
}

// values are those of every series. What is missing gets the library's mark in lines; a bar of it would be seen.
func (c Chart) values() [][]float64 {
	all := make([][]float64, len(c.Series))
	for i, s := range c.Series {
		all[i] = slices.Clone(s.Values)
		for j, v := range all[i] {
			switch {
			case math.IsNaN(v) && c.Kind == Lines:
				all[i][j] = charts.GetNullValue()
			case math.IsNaN(v):
				all[i][j] = 0
			}
		}
	}
	return all
}

// extremes are the least and the greatest height that is drawn, 0 included.
func (c Chart) extremes() (low, high float64) {
	for j := range c.Labels {
		var below, above float64
		for _, s := range c.Series {
			v := s.Values[j]
			switch {
			case math.IsNaN(v):
			case c.Kind == StackedBars && v < 0:
				below += v
			case c.Kind == StackedBars:
				above += v
			default:
				below, above = min(below, v), max(above, v)
			}
		}
		low, high = min(low, below), max(high, above)
	}
	return low, high
}

// ticks are the ends of an axis from low to high, which hold 0, and its steps: five at the most, each 1, 2, 2.5 or 5 times a power of ten.
// Steps of at least 1 are whole, since most of what is drawn is counted.
func ticks(low, high float64) (from, to float64, steps int) {
	if high == low {
		return 0, 1, 1
	}
	size := (high - low) / 4
	power := math.Pow10(int(math.Floor(math.Log10(size))))
	step := 10 * power
	for _, times := range []float64{5, 2.5, 2, 1} {
		if power*times >= size && (times != 2.5 || power != 1) {
			step = power * times
		}
	}
	if high >= 1 {
		step = max(step, 1)
	}
	from, to = math.Floor(low/step)*step, math.Ceil(high/step)*step
	return from, to, int(math.Round((to - from) / step))
}
