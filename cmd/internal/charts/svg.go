package charts

import (
	"fmt"
	"html/template"
	"math"
	"strings"
)

// drawing is one SVG. Texts lie above shapes, and later shapes above earlier ones.
type drawing struct {
	Class, Title, Description string // without a title it is decoration
	Width, Height             float64
	Shapes                    []shape
	Texts                     []text
}

type shape struct{ Class, D string }

type text struct {
	X, Y                float64
	Class, Anchor, Text string
}

// texture is what tells bars apart without colour.
type texture int

const (
	solid texture = iota
	dotted
	striped
	stackTextures // the number of those above, which take turns in a stack
	hatched       // unfinished
)

// px is a length as it is written: tenths are finer than a screen shows.
func px(v float64) float64 { return math.Round(v*10) / 10 }

func (d *drawing) shape(class, format string, lengths ...float64) {
	args := make([]any, len(lengths))
	for i, v := range lengths {
		args[i] = px(v)
	}
	d.Shapes = append(d.Shapes, shape{class, fmt.Sprintf(format, args...)})
}

func (d *drawing) line(class string, x1, y1, x2, y2 float64) {
	d.shape(class, "M%v %vL%v %v", x1, y1, x2, y2)
}

func (d *drawing) dot(class string, x, y float64) {
	d.shape("dot "+class, "M%v %va3 3 0 1 0 6 0a3 3 0 1 0-6 0", x-3, y)
}

func (d *drawing) text(class, anchor string, x, y float64, words string) {
	d.Texts = append(d.Texts, text{px(x), px(y), class, anchor, words})
}

// bar draws a rectangle with its texture.
func (d *drawing) bar(colour string, t texture, x, y, w, h float64) {
	var pattern strings.Builder
	mark := func(x1, y1, x2, y2 float64) {
		fmt.Fprintf(&pattern, "M%v %vL%v %v", px(x1), px(y1), px(x2), px(y2))
	}
	class := "bar " + colour
	switch t {
	case dotted:
		const gap = 6.0
		for down := math.Ceil((y+1)/gap) * gap; down <= y+h-1; down += gap {
			for along := math.Ceil((x+1)/gap) * gap; along <= x+w-1; along += gap {
				mark(along, down, along, down)
			}
		}
	case striped:
		const gap = 4.0
		for down := math.Ceil((y+1)/gap) * gap; down <= y+h-1; down += gap {
			mark(x, down, x+w, down)
		}
	case hatched: // lines on which x + y is a multiple of the gap
		const gap = 5.0
		for sum := math.Ceil((x+y)/gap) * gap; sum < x+w+y+h; sum += gap {
			from, to := max(x, sum-y-h), min(x+w, sum-y)
			mark(from, sum-from, to, sum-to)
		}
		class += " unfinished"
	}
	d.shape(class, "M%v %vh%vv%vh%vz", x, y, w, h, -w)
	if pattern.Len() > 0 {
		names := [...]string{dotted: "dots", striped: "stripes", hatched: "hatch " + colour}
		d.Shapes = append(d.Shapes, shape{names[t], pattern.String()})
	}
}

// figure is what the template shows of a chart.
type figure struct {
	Chart
	Words    words
	Drawings []drawing // none when there is nothing to draw
}

// Hint is the unit and scale of the numbers in the drawing.
func (f figure) Hint() string {
	var hints []string
	if f.Unit != "" && f.Unit != "%" {
		hints = append(hints, f.Unit)
	}
	if unit, _ := f.unit(); unit > 1 {
		hints = append(hints, f.Words.Scales[unit])
	}
	return strings.Join(hints, ", ")
}

// Keys are the entries of the legend. Lines are named where they end.
func (f figure) Keys() (keys []key) {
	entry := func(name, colour string, t texture) {
		d := drawing{Width: 12, Height: 12}
		d.bar(colour, t, 0, 0, 12, 12)
		keys = append(keys, key{name, d})
	}
	if len(f.Series) > 1 && f.Kind != Lines {
		for i, s := range f.Series {
			entry(s.Name, colour(f.Series, i), f.texture(i, 0))
		}
	}
	if f.Unfinished > 0 {
		if f.Kind == Lines {
			d := drawing{Width: 12, Height: 12}
			d.line("line text unfinished", 0, 6, 12, 6)
			return append(keys, key{f.Words.Dashed, d})
		}
		entry(f.Words.Hatched, "text", hatched)
	}
	return keys
}

type key struct {
	Name  string
	Image drawing
}

// Columns are the headings of the values in the table.
func (f figure) Columns() []string {
	list := make([]string, len(f.Series))
	for i, s := range f.Series {
		if list[i] = s.Name; f.Unit != "" && f.Unit != "%" {
			list[i] += " (" + f.Unit + ")"
		}
	}
	return list
}

// Rows are the lines of the table.
func (f figure) Rows() []row {
	rows := make([]row, len(f.Labels))
	for i, label := range f.Labels {
		rows[i].Label = label
		if i >= len(f.Labels)-f.Unfinished {
			rows[i].Label += " (" + f.Words.Unfinished + ")"
		}
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

// colour is the class of series i.
func colour(all []Series, i int) string {
	const palette = 4
	neutral := 0
	for _, s := range all[:i] {
		if s.Tone == Neutral {
			neutral++
		}
	}
	return [...]string{fmt.Sprint("series", neutral%palette), "good", "warning", "bad", "muted"}[all[i].Tone]
}

var templates = template.Must(template.New("figure").Parse(`<figure class="chart">
<figcaption>{{.Title}}{{if .Drawings}}{{with .Hint}} <span class="hint">{{.}}</span>{{end}}{{end}}</figcaption>
{{- if .Drawings}}
{{- with .Keys}}
<ul class="legend">{{range .}}<li>{{template "svg" .Image}}{{.Name}}</li>{{end}}</ul>
{{- end}}
{{- range .Drawings}}
{{template "svg" .}}
{{- end}}
{{- if not .Tabled}}
<details><summary>{{.Words.Figures}}</summary>
<div class="scroll"><table><thead><tr><th scope="col">{{.Category}}</th>{{range .Columns}}<th scope="col" class="number">{{.}}</th>{{end}}</tr></thead>
<tbody>{{range .Rows}}<tr><th scope="row">{{.Label}}</th>{{range .Values}}<td class="number">{{.}}</td>{{end}}</tr>
{{end}}</tbody></table></div></details>
{{- end}}
{{- else}}
<p class="none">{{.Words.Nothing}}</p>
{{- end}}
</figure>
{{define "svg"}}<svg{{with .Class}} class="{{.}}"{{end}} viewBox="0 0 {{.Width}} {{.Height}}"
{{- if .Title}} role="img"><title>{{.Title}}</title><desc>{{.Description}}</desc>{{else}} aria-hidden="true">{{end}}
{{- range .Shapes}}<path class="{{.Class}}" d="{{.D}}"/>{{end}}
{{- range .Texts}}<text{{with .Class}} class="{{.}}"{{end}} x="{{.X}}" y="{{.Y}}" text-anchor="{{.Anchor}}">{{.Text}}</text>{{end}}</svg>{{end}}`))
