// Package charts draws the charts of the status page and of the report as inline SVG, without
// scripts, network or style attributes. A page must hold [CSS] once.
//
// # Model
//
// A [Chart] is data and words: labels along one axis, one or more series of values, a title.
// [Chart.HTML] makes a figure of it:
//
//	figure.chart
//	  figcaption           the title, and the unit and scale of the numbers in the drawing
//	  ul.legend            the series where there are several, and what hatching means
//	  svg.wide, svg.narrow one drawing for a screen or paper, one for a phone; CSS shows one of them
//	  details > table      every value as a number; see Chart.Tabled
//
// [Chart.Spark] is its first series as a small line.
//
// A drawing is a list of shapes and texts. Go code places them, a template writes and escapes them,
// and classes give colours, light and dark. Hatches and dots are lines that are cut at the edge of
// their bar: an SVG pattern needs an id, and one in a hidden drawing does not show.
//
// Each number in a drawing has the same scale and decimals. Where every bar or point has its
// number, there is no axis of values. Numbers are written as [English] or [Portuguese] does it.
package charts

import (
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
)

// CSS is the style sheet of all charts. It follows prefers-color-scheme.
//
//go:embed charts.css
var CSS string

// Kind is the shape of a chart.
type Kind int

// The kinds.
const (
	Bars           Kind = iota // upright; several series stand side by side
	StackedBars                // upright; several series stand one upon the other, the first at the bottom
	HorizontalBars             // the first label on top; for long names
	Lines
)

// Tone is the meaning of a series, which decides its colour.
type Tone int

// The tones. Neutral series take the colours of the palette in turn.
const (
	Neutral Tone = iota
	Good
	Warning
	Bad
	Muted
)

// Missing is the value of an unknown point: a gap in the drawing, a dash in the table. Infinite
// values and those beyond 1e15, which no business has, count as missing.
var Missing = math.NaN()

func known(v float64) bool { return !math.IsNaN(v) }

// Series is one set of values, one for each label of its chart.
type Series struct {
	Name   string
	Values []float64
	Tone   Tone
}

// Chart is what is to be drawn. The zero Language is English.
type Chart struct {
	Title    string // the caption, and the name for screen readers
	Category string // what the labels are ("Month"): the heading of the table's first column
	Kind     Kind
	Labels   []string
	Series   []Series
	Language Language
	Tabled   bool // the page shows the values in a table of its own: the figure has none

	// Unfinished is the number of points at the end that may still change: the running month, young
	// cohorts. They are hatched (bars) or dashed (lines), and the legend, the table and the
	// description say so.
	Unfinished int

	Decimals int    // of the values in the table and the description, 0 to 9
	Unit     string // of the values: "%" stands at each number, any other ("R$", "kWp") once in the caption
}

// HTML returns the figure. It fails if a series has not one value for each label.
func (c Chart) HTML() (template.HTML, error) {
	c, err := c.checked()
	if err != nil {
		return "", err
	}
	f := figure{Chart: c, Words: c.Language.words()}
	if slices.ContainsFunc(c.Series, func(s Series) bool { return slices.ContainsFunc(s.Values, known) }) {
		f.Drawings = []drawing{c.draw(wide), c.draw(narrow)}
	}
	return execute("figure", f)
}

// Spark returns the first series as a line without text or axis, for a card. Its alternative text
// names the highest, lowest and last value. It fails if the series has not one value for each
// label.
func (c Chart) Spark() (template.HTML, error) {
	c, err := c.checked()
	if err != nil {
		return "", err
	}
	return execute("svg", c.spark())
}

// checked returns c with bounds kept and with what cannot be drawn missing.
func (c Chart) checked() (Chart, error) {
	c.Unfinished, c.Decimals = min(max(c.Unfinished, 0), len(c.Labels)), min(max(c.Decimals, 0), 9)
	c.Series = slices.Clone(c.Series)
	for i, s := range c.Series {
		if len(s.Values) != len(c.Labels) {
			return Chart{}, fmt.Errorf("chart %q: series %q has %d values for %d labels", c.Title, s.Name, len(s.Values), len(c.Labels))
		}
		c.Series[i].Values = slices.Clone(s.Values)
		for j, v := range s.Values {
			if math.Abs(v) > 1e15 {
				c.Series[i].Values[j] = Missing
			}
		}
	}
	return c, nil
}

func execute(name string, data any) (template.HTML, error) {
	var html strings.Builder
	if err := templates.ExecuteTemplate(&html, name, data); err != nil {
		return "", fmt.Errorf("draw a chart: %w", err)
	}
	return template.HTML(html.String()), nil
}
