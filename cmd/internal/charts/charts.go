// Package charts draws the charts of the status page and of the report: SVG that stands in the page itself, needs neither
// JavaScript nor network, and takes its colours from the page's style sheet.
//
// # Model
//
// A [Chart] is data and words: labels along one axis, one or more series of values, a title. [Chart.HTML] makes a figure of it:
//
//	figure.chart
//	  figcaption           the title
//	  ul.legend            the series, where there are several
//	  svg.wide, svg.narrow the drawing for a screen or paper, and for a phone; the style sheet shows one of them
//	  details > table      every value as a number, for those who cannot see a drawing or want to copy it; see Chart.Tabled
//
// Shapes and axes are those of github.com/go-analyze/charts, which is pure Go and maintained. What it writes is changed in three
// ways. It sets style attributes, which a strict Content-Security-Policy forbids and no style sheet can overrule: they become classes, one
// per part that a drawing has (see role), so that [CSS] gives the colours, light and dark. It does not escape text: names from the
// platform pass through it in a form that means nothing in HTML. And it has no title for screen readers.
//
// A page must hold [CSS] once. Numbers are written as [English] or [Portuguese] does it.
package charts

import (
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"strings"
)

// CSS is the style sheet of every chart, as a page may include it. It follows prefers-color-scheme and looks well on paper.
//
//go:embed charts.css
var CSS string

// Kind is the shape of a chart.
type Kind int

// The kinds.
const (
	Bars           Kind = iota // upright, side by side
	StackedBars                // upright, one upon the other
	HorizontalBars             // lying, the first label on top; for names that need room
	Lines
	Funnel // the values of one series as stages; the first is the whole
)

// Tone gives a series a meaning that its colour shall carry.
type Tone int

// The tones. Neutral series take the colours of the palette in turn.
const (
	Neutral Tone = iota
	Good
	Warning
	Bad
	Muted
)

// Missing is the value of a point that is not known: a gap in the drawing, and no number in the table.
var Missing = math.NaN()

// Series is one set of values, one for each label of its chart.
type Series struct {
	Name   string
	Values []float64
	Tone   Tone
}

// Chart is what is to be drawn. The zero Language is English.
type Chart struct {
	Title    string // what it shows; the caption, and what screen readers say
	Category string // what the labels are ("day"): the heading of the table's first column
	Kind     Kind
	Labels   []string
	Series   []Series
	Language Language
	Tabled   bool // the page shows the values in a table of its own: the figure has none

	Format func(float64) string // a value in words; nil: Language.Number without decimals
	Axis   func(float64) string // a value on the axis; nil: Language.Compact
}

// HTML returns the figure. Errors: a chart whose series have not one value for each label, a Funnel of several series.
func (c Chart) HTML() (template.HTML, error) {
	if err := c.check(); err != nil {
		return "", fmt.Errorf("chart %q: %w", c.Title, err)
	}
	f := figure{Chart: c, Words: c.Language.words()}
	if !c.isEmpty() {
		for _, size := range []struct {
			class string
			sheet sheet
			to    *template.HTML
		}{{"wide", wide, &f.Wide}, {"narrow", narrow, &f.Narrow}} {
			svg, err := c.draw(size.sheet)
			if err != nil {
				return "", fmt.Errorf("chart %q: %w", c.Title, err)
			}
			if c.Kind == Lines {
				size.class += " lines"
			}
			*size.to = restyle(svg, size.class, c.Title)
		}
	}
	var html strings.Builder
	if err := figureTemplate.Execute(&html, f); err != nil {
		return "", fmt.Errorf("chart %q: %w", c.Title, err)
	}
	return template.HTML(html.String()), nil
}

func (c Chart) check() error {
	if c.Kind == Funnel && len(c.Series) > 1 {
		return fmt.Errorf("a funnel has one series, not %d", len(c.Series))
	}
	for _, s := range c.Series {
		if len(s.Values) != len(c.Labels) {
			return fmt.Errorf("series %q has %d values for %d labels", s.Name, len(s.Values), len(c.Labels))
		}
	}
	return nil
}

// isEmpty says whether there is nothing to draw.
func (c Chart) isEmpty() bool {
	for _, s := range c.Series {
		for _, v := range s.Values {
			if !math.IsNaN(v) {
				return false
			}
		}
	}
	return true
}

// value is v as people read it.
func (c Chart) value(v float64) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case c.Format != nil:
		return c.Format(v)
	}
	return c.Language.Number(v, 0)
}

// axisValue is v as it stands at the axis.
func (c Chart) axisValue(v float64) string {
	if c.Axis != nil {
		return c.Axis(v)
	}
	return c.Language.Compact(v)
}

// figure is what the template shows of a chart.
type figure struct {
	Chart
	Words        words
	Wide, Narrow template.HTML // empty when there is nothing to draw
}

// Key is the class of a series' colour, for the legend.
func (f figure) Key(i int) string { return "fill-" + roleOf(f.Series, i).name() }

// Rows are the lines of the table.
func (f figure) Rows() []row {
	rows := make([]row, len(f.Labels))
	for i, label := range f.Labels {
		rows[i].Label = label
		for _, s := range f.Series {
			rows[i].Values = append(rows[i].Values, f.value(s.Values[i]))
		}
	}
	return rows
}

type row struct {
	Label  string
	Values []string
}

var figureTemplate = template.Must(template.New("figure").Parse(`<figure class="chart">
<figcaption>{{.Title}}</figcaption>
{{- if .Wide}}
{{- if gt (len .Series) 1}}
<ul class="legend">{{range $i, $s := .Series}}<li><svg viewBox="0 0 10 10" aria-hidden="true"><rect width="10" height="10" rx="2" class="{{$.Key $i}}"/></svg>{{$s.Name}}</li>{{end}}</ul>
{{- end}}
{{.Wide}}
{{.Narrow}}
{{- if not .Tabled}}
<details><summary>{{.Words.Figures}}</summary>
<div class="scroll"><table><thead><tr><th scope="col">{{.Category}}</th>{{range .Series}}<th scope="col" class="number">{{.Name}}</th>{{end}}</tr></thead>
<tbody>{{range .Rows}}<tr><th scope="row">{{.Label}}</th>{{range .Values}}<td class="number">{{.}}</td>{{end}}</tr>
{{end}}</tbody></table></div></details>
{{- end}}
{{- else}}
<p class="none">{{.Words.Nothing}}</p>
{{- end}}
</figure>
`))
