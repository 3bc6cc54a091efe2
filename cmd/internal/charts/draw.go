package charts

import (
	"cmp"
	"math"
	"slices"
)

// sheet is the room for a drawing, in CSS pixels.
type sheet struct {
	class         string
	width, height float64
}

var (
	wide   = sheet{"wide", 620, 230}
	narrow = sheet{"narrow", 340, 210}
)

const (
	margin    = 4.0  // around a drawing
	gap       = 8.0  // between texts, and between a text and a line
	lineSpace = 15.0 // of one line of text
	above     = 5.0  // from a bar or point to the number above it
	thickest  = 48.0 // of a bar; a chart of one day would be one block
)

// draw returns the drawing for a sheet.
func (c Chart) draw(on sheet) drawing {
	d := drawing{Class: on.class, Title: c.Title, Description: c.describe(), Width: on.width, Height: on.height}
	if c.Kind == HorizontalBars {
		c.drawRows(&d, on == wide)
	} else {
		c.drawColumns(&d)
	}
	return d
}

// texture is that of point i of series s. Two colours of a stack are told apart without.
func (c Chart) texture(s, i int) texture {
	switch {
	case i >= len(c.Labels)-c.Unfinished:
		return hatched
	case c.Kind == StackedBars && len(c.Series) > 2:
		return texture(s % int(stackTextures))
	}
	return solid
}

// plot is the part of a drawing that values are drawn in.
type plot struct {
	left, right, top, bottom float64
	low, high                float64 // the values at its bottom and top
	step                     float64 // from one point to the next
	labelled                 bool    // each point has its number
}

func (p plot) x(i int) float64     { return p.left + p.step*(float64(i)+0.5) }
func (p plot) y(v float64) float64 { return p.bottom - (v-p.low)/(p.high-p.low)*(p.bottom-p.top) }

// drawColumns draws upright bars and lines. The numbers stand at the bars and points if they have
// room, and at an axis if not. A stack needs the axis for its parts.
func (c Chart) drawColumns(d *drawing) {
	unit, decimals := c.unit()
	low, high := c.extremes()
	p := plot{left: margin, right: d.Width - margin, top: margin + gap, bottom: d.Height - lineSpace - gap, low: low, high: high}
	number := c.written(unit, decimals)
	stacked, room := c.Kind == StackedBars && len(c.Series) > 1, p.right-p.left
	if stacked {
		room -= width(number(high)) + gap
	}
	p.labelled = c.labelsFit(room/float64(len(c.Labels)), number)
	if p.labelled {
		p.top += lineSpace
		if low < 0 || c.Kind == Lines {
			p.bottom -= lineSpace
		}
	}
	var at []float64 // the ticks
	if !p.labelled || stacked {
		var step float64
		p.low, p.high, step = ticks(low, high, math.Pow10(-c.Decimals))
		needed := max(0, int(-math.Floor(math.Log10(step/unit)+1e-9)))
		if p.labelled || c.Kind == Lines {
			needed = max(needed, decimals)
		}
		number = c.written(unit, needed)
		widest := 0.0
		for i := 0; p.low+float64(i)*step < p.high+step/2; i++ {
			at = append(at, p.low+float64(i)*step)
			widest = max(widest, width(number(at[i])))
		}
		p.left += widest + gap
	} else if low == high {
		p.high = 1
	}
	ends := c.lineEnds(p, number, d.Width)
	for _, e := range ends {
		p.right = min(p.right, d.Width-margin-width(e.text)-2*gap)
	}
	p.step = (p.right - p.left) / float64(len(c.Labels))

	for _, v := range at {
		d.line("grid", p.left, p.y(v), p.right, p.y(v))
		d.text("", "end", p.left-gap, p.y(v)+4, number(v))
	}
	switch c.Kind {
	case Lines:
		c.drawLines(d, p)
	case StackedBars:
		c.drawStacks(d, p)
	default:
		c.drawBars(d, p)
	}
	if p.low <= 0 && p.high >= 0 {
		d.line("axis", p.left, p.y(0), p.right, p.y(0))
	}
	if p.labelled {
		c.labelPoints(d, p, number)
	}
	c.nameLines(d, p, ends)
	c.nameColumns(d, p)
}

// band is the place of bar j of count that stand at point i.
func (p plot) band(i, j, count int) (x, w float64) {
	thick := min(thickest, 0.72*p.step)
	w = thick / float64(count)
	return p.x(i) - thick/2 + float64(j)*w, w
}

// labelsFit says whether there is room for the number of each point.
func (c Chart) labelsFit(step float64, number func(float64) string) bool {
	room := step - margin
	switch low, _ := c.extremes(); {
	case c.Kind == Lines && len(c.Series) > 1, c.Kind == StackedBars && low < 0:
		return false
	case c.Kind == Bars && len(c.Series) > 1:
		_, room = plot{step: step}.band(0, 0, len(c.Series))
	}
	for _, values := range c.heights() {
		for _, v := range values {
			if known(v) && width(number(v)) > room {
				return false
			}
		}
	}
	return true
}

func (c Chart) labelPoints(d *drawing, p plot, number func(float64) string) {
	all := c.heights()
	if c.Kind == StackedBars {
		all = all[1:] // nothing is below zero: see labelsFit
	}
	for j, values := range all {
		for i, v := range values {
			if !known(v) {
				continue
			}
			if c.Kind == Lines {
				anchor, x, y := p.besideLine(values, i)
				d.text("number", anchor, x, y, number(v))
				continue
			}
			x, w := p.band(i, j, len(all))
			y := p.y(v) - above
			if v < 0 {
				y = p.y(v) + lineSpace - above/2
			}
			d.text("number", "middle", x+w/2, y, number(v))
		}
	}
}

// besideLine is the place of a point's number that the line leaves free: below it in a valley, at
// its free side on a slope, else above.
func (p plot) besideLine(values []float64, i int) (anchor string, x, y float64) {
	x, y = p.x(i), p.y(values[i])
	rise := func(to int) float64 {
		if to < 0 || to >= len(values) || !known(values[to]) {
			return 0
		}
		return y - p.y(values[to])
	}
	before, after := rise(i-1), rise(i+1)
	switch {
	case before >= 0 && after >= 0 && before+after > 0:
		return "middle", x, y + lineSpace
	case before > 0 && after < -lineSpace:
		return "start", x, y - above
	case after > 0 && before < -lineSpace:
		return "end", x, y - above
	}
	return "middle", x, y - gap
}

func (c Chart) drawBars(d *drawing, p plot) {
	for j, s := range c.Series {
		for i, v := range s.Values {
			if known(v) {
				x, w := p.band(i, j, len(c.Series))
				d.bar(colour(c.Series, j), c.texture(j, i), x, p.y(max(v, 0)), w, math.Abs(p.y(v)-p.y(0)))
			}
		}
	}
}

func (c Chart) drawStacks(d *drawing, p plot) {
	for i := range c.Labels {
		x, w := p.band(i, 0, 1)
		var below, above float64
		for j, s := range c.Series {
			v, from := s.Values[i], &above
			if !known(v) || v == 0 {
				continue
			}
			if v < 0 {
				from = &below
			}
			base := *from
			*from += v
			d.bar(colour(c.Series, j), c.texture(j, i), x, p.y(max(base, *from)), w, math.Abs(p.y(v)-p.y(0)))
			if base != 0 {
				d.line("seam", x, p.y(base), x+w, p.y(base))
			}
		}
	}
}

// drawLines draws a line for each series, with gaps where it is missing. Points alone in a gap, the
// last one and all those with a number have a dot.
func (c Chart) drawLines(d *drawing, p plot) {
	for j, s := range c.Series {
		is := func(i int) bool { return i >= 0 && i < len(s.Values) && known(s.Values[i]) }
		for i, v := range s.Values {
			if !is(i) {
				continue
			}
			shape := colour(c.Series, j)
			if c.texture(j, i) == hatched {
				shape += " unfinished"
			}
			if is(i - 1) {
				d.line("line "+shape, p.x(i-1), p.y(s.Values[i-1]), p.x(i), p.y(v))
			}
			if p.labelled || i == lastKnown(s.Values) || !is(i-1) && !is(i+1) {
				d.dot(shape, p.x(i), p.y(v))
			}
		}
	}
}

// lastKnown is the index of the last known value, −1 if there is none.
func lastKnown(values []float64) int {
	for i := len(values) - 1; i >= 0; i-- {
		if known(values[i]) {
			return i
		}
	}
	return -1
}

// lineEnd is what stands at the end of a line.
type lineEnd struct {
	point        int
	value        float64
	colour, text string
}

// lineEnds are the last values of lines, with their names where there are several, from the bottom
// up.
func (c Chart) lineEnds(p plot, number func(float64) string, room float64) (ends []lineEnd) {
	if c.Kind != Lines || p.labelled {
		return nil
	}
	for i, s := range c.Series {
		if last := lastKnown(s.Values); last >= 0 {
			e := lineEnd{last, s.Values[last], colour(c.Series, i), number(s.Values[last])}
			if len(c.Series) > 1 {
				e.text = shorten(s.Name, room/4) + " " + e.text
			}
			ends = append(ends, e)
		}
	}
	slices.SortStableFunc(ends, func(a, b lineEnd) int { return cmp.Compare(a.value, b.value) })
	return ends
}

// nameLines writes the ends, none above another, with a leader from each line.
func (c Chart) nameLines(d *drawing, p plot, ends []lineEnd) {
	y := p.bottom + lineSpace
	for i, e := range ends {
		highest := p.top + float64(len(ends)-1-i)*lineSpace // leaves room for those above
		y = max(min(y-lineSpace, p.y(e.value)), highest)
		x := p.x(e.point) + gap
		if len(ends) > 1 {
			d.line("leader "+e.colour, x, p.y(e.value), p.right+gap, y)
			x = p.right + gap + margin
		}
		d.text("number", "start", x, y+margin, e.text)
	}
}

// nameColumns writes the labels below. Where they have no room only some are written, the last one
// among them.
func (c Chart) nameColumns(d *drawing, p plot) {
	names, widest := make([]string, len(c.Labels)), 0.0
	for i, l := range c.Labels {
		names[i] = shorten(l, max(p.step-gap, 90))
		widest = max(widest, width(names[i]))
	}
	outside := max(0, widest/2-p.step/2-(d.Width-p.right)) // of the last one, which moves to the left
	every := max(1, int(math.Ceil((widest+margin+outside)/p.step)))
	for i := len(names) - 1; i >= 0; i -= every {
		half := width(names[i]) / 2
		d.text("", "middle", min(max(p.x(i), half), d.Width-half), d.Height-above, names[i])
	}
}

// drawRows draws lying bars with their numbers. The labels stand beside them, or above where there
// is little width.
func (c Chart) drawRows(d *drawing, beside bool) {
	const thick, space = 14.0, 10.0
	unit, decimals := c.unit()
	number := c.written(unit, decimals)
	low, high := c.extremes()
	if low == high {
		high = 1
	}
	left, numbers, head, reach := margin, 0.0, lineSpace, 1.0
	if beside {
		head, reach = 0, space/2 // the axes of the rows meet
		for _, l := range c.Labels {
			left = max(left, margin+width(shorten(l, 0.4*d.Width))+gap)
		}
	}
	for _, s := range c.Series {
		for _, v := range s.Values {
			if known(v) {
				numbers = max(numbers, width(number(v)))
			}
		}
	}
	right := d.Width - margin - numbers - gap
	x := func(v float64) float64 { return left + (v-low)/(high-low)*(right-left) }
	y := space / 2
	for i, l := range c.Labels {
		if beside {
			d.text("", "end", left-gap, y+(thick*float64(len(c.Series)))/2+4, shorten(l, 0.4*d.Width))
		} else {
			d.text("", "start", left, y+lineSpace-above, shorten(l, d.Width-2*margin))
		}
		y += head
		d.line("axis", x(0), y-reach, x(0), y+thick*float64(len(c.Series))+reach)
		for j, s := range c.Series {
			if v := s.Values[i]; known(v) {
				d.bar(colour(c.Series, j), c.texture(j, i), x(min(v, 0)), y, math.Abs(x(v)-x(0)), thick)
				d.text("number", "start", x(max(v, 0))+above, y+thick-3, number(v))
			}
			y += thick
		}
		y += space
	}
	d.Height = y
}

// spark is the first series as a line from its least to its greatest value.
func (c Chart) spark() drawing {
	d := drawing{Class: "spark", Title: c.Title, Width: 120, Height: 28}
	c.Kind = Lines
	if len(c.Series) > 0 {
		c.Series = []Series{{Values: c.Series[0].Values}}
	}
	d.Description = c.describe()
	low, high := math.Inf(1), math.Inf(-1)
	for _, s := range c.Series {
		for _, v := range s.Values {
			if known(v) {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	if low == high {
		low, high = low-1, high+1
	}
	step := (d.Width - 2*margin) / max(1, float64(len(c.Labels)-1))
	c.drawLines(&d, plot{left: margin - step/2, top: margin, bottom: d.Height - margin, low: low, high: high, step: step})
	return d
}
