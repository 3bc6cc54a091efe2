package charts

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// anyChart draws charts with bad values, long names and every setting.
func anyChart(t *rapid.T) Chart {
	values := rapid.OneOf(rapid.Float64Range(-1e4, 1e7), rapid.Float64Range(0, 20),
		rapid.SampledFrom([]float64{0, 0, Missing, math.Inf(1), math.Inf(-1), 1e308, -1e308, 1e15, -1e15, 5e-324, 1e-9, 1, 100}))
	names := rapid.OneOf(rapid.StringMatching(`[A-Z][a-z]{2}/2[0-9]`), rapid.StringN(0, 90, -1), rapid.Just("شركة الطاقة الشمسية المتحدة للأنظمة الكهروضوئية"))
	c := Chart{
		Title: "t", Kind: rapid.SampledFrom([]Kind{Bars, StackedBars, HorizontalBars, Lines}).Draw(t, "kind"),
		Labels:     rapid.SliceOfN(names, 1, 40).Draw(t, "labels"),
		Unfinished: rapid.IntRange(-1, 41).Draw(t, "unfinished"), Decimals: rapid.IntRange(-1, 10).Draw(t, "decimals"),
		Unit: rapid.SampledFrom([]string{"", "%", "R$"}).Draw(t, "unit"),
	}
	for range rapid.IntRange(1, 6).Draw(t, "series") {
		c.Series = append(c.Series, Series{
			Name: names.Draw(t, "name"), Tone: Tone(rapid.IntRange(0, 4).Draw(t, "tone")),
			Values: rapid.SliceOfN(values, len(c.Labels), len(c.Labels)).Draw(t, "values"),
		})
	}
	c, err := c.checked()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// drawnBar is a bar and the value that it stands for.
type drawnBar struct {
	x, y, w, h, value   float64
	hatched, unfinished bool
}

// bars are those of a drawing, in the order in which each kind draws them.
func bars(t rapid.TB, c Chart, d drawing) (list []drawnBar) {
	t.Helper()
	expected := func(s, i int) {
		if v := c.Series[s].Values[i]; known(v) && (v != 0 || c.Kind != StackedBars) {
			list = append(list, drawnBar{value: v, unfinished: i >= len(c.Labels)-c.Unfinished})
		}
	}
	if c.Kind == Bars {
		for s := range c.Series {
			for i := range c.Labels {
				expected(s, i)
			}
		}
	} else {
		for i := range c.Labels {
			for s := range c.Series {
				expected(s, i)
			}
		}
	}
	next := 0
	for i, s := range d.Shapes {
		if !strings.HasPrefix(s.Class, "bar ") {
			continue
		}
		if next == len(list) {
			t.Fatalf("more than %d bars", next)
		}
		b := &list[next]
		if n, err := fmt.Sscanf(strings.NewReplacer("h", " ", "v", " ").Replace(s.D[1:]), "%g %g %g %g", &b.x, &b.y, &b.w, &b.h); n != 4 {
			t.Fatalf("%q: %v", s.D, err)
		}
		hatch := i+1 < len(d.Shapes) && strings.HasPrefix(d.Shapes[i+1].Class, "hatch ")
		b.hatched = strings.HasSuffix(s.Class, " unfinished")
		if enough := b.w > 8 && b.h > 8; hatch != b.hatched && enough {
			t.Fatalf("bar %d has a hatch: %v, is called unfinished: %v", next, hatch, b.hatched)
		}
		next++
	}
	if next < len(list) {
		t.Fatalf("%d bars, want %d", next, len(list))
	}
	return list
}

func TestBarsAreAsLongAsTheirValues(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := anyChart(t)
		if c.Kind == Lines {
			return
		}
		for _, on := range []sheet{wide, narrow} {
			list := bars(t, c, c.draw(on))
			greatest, longest := math.SmallestNonzeroFloat64, 0.0
			for _, b := range list {
				if size := math.Abs(b.value); size >= greatest {
					if greatest, longest = size, b.h; c.Kind == HorizontalBars {
						longest = b.w
					}
				}
			}
			for _, b := range list {
				length, zero := b.h, b.y
				if b.value > 0 {
					zero += b.h
				}
				if c.Kind == HorizontalBars {
					if length, zero = b.w, b.x; b.value < 0 {
						zero += b.w
					}
				}
				if math.Abs(length-math.Abs(b.value)/greatest*longest) > 0.11 {
					t.Fatalf("%v is drawn %v long, and %v %v", b.value, length, greatest, longest)
				}
				if axis := zeroOf(t, c, c.draw(on)); c.Kind != StackedBars && math.Abs(zero-axis) > 0.21 {
					t.Fatalf("%v begins at %v, the axis is at %v", b.value, zero, axis)
				}
				if b.hatched != b.unfinished {
					t.Fatalf("%v is unfinished: %v, hatched: %v", b.value, b.unfinished, b.hatched)
				}
			}
		}
	})
}

// zeroOf is where the axis of a drawing stands.
func zeroOf(t rapid.TB, c Chart, d drawing) (at float64) {
	t.Helper()
	for _, s := range d.Shapes {
		if s.Class == "axis" {
			var x, y float64
			if _, err := fmt.Sscanf(s.D, "M%g %gL", &x, &y); err != nil {
				t.Fatal(err)
			}
			if c.Kind == HorizontalBars {
				return x
			}
			return y
		}
	}
	t.Fatal("no axis")
	return 0
}

func TestTextsHaveTheirRoom(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := anyChart(t)
		for _, on := range []sheet{wide, narrow} {
			d := c.draw(on)
			type box struct {
				text
				from, to float64
			}
			var seen []box
			for _, at := range d.Texts {
				if strings.TrimSpace(at.Text) == "" {
					continue
				}
				b := box{text: at, from: at.X}
				switch at.Anchor {
				case "middle":
					b.from -= width(at.Text) / 2
				case "end":
					b.from -= width(at.Text)
				}
				b.to = b.from + width(at.Text)
				if b.from < -0.1 || b.to > d.Width+0.1 || at.Y < 8 || at.Y > d.Height {
					t.Fatalf("%+v reaches out of %v x %v", b, d.Width, d.Height)
				}
				for _, other := range seen {
					if min(b.to, other.to)-max(b.from, other.from) > 0.2 && math.Abs(b.Y-other.Y) < 9 {
						t.Fatalf("%+v covers %+v", b, other)
					}
				}
				seen = append(seen, b)
			}
		}
	})
}

func TestNumbersOfADrawingHaveTheSameDecimals(t *testing.T) {
	t.Parallel()
	decimals := regexp.MustCompile(`^−?[\d,]+(?:\.(\d+))?%?$`)
	rapid.Check(t, func(t *rapid.T) {
		c := anyChart(t)
		for i := range c.Series {
			c.Series[i].Name = "x"
		}
		for _, on := range []sheet{wide, narrow} {
			found := map[int][]string{}
			for _, at := range c.draw(on).Texts {
				if at.Class != "number" && (c.Kind == HorizontalBars || at.Anchor != "end") {
					continue
				}
				number := decimals.FindStringSubmatch(strings.TrimPrefix(at.Text, "x "))
				if number == nil {
					t.Fatalf("%q is no number", at.Text)
				}
				found[len(number[1])] = append(found[len(number[1])], at.Text)
			}
			if len(found) > 1 {
				t.Fatalf("%v", found)
			}
		}
	})
}

func TestUnfinishedPartOfALineIsDashed(t *testing.T) {
	t.Parallel()
	c := Chart{Kind: Lines, Labels: []string{"a", "b", "c", "d"}, Series: []Series{{Values: []float64{1, 2, 3, 2}}}, Unfinished: 2}
	for _, d := range []drawing{c.draw(wide), c.draw(narrow), c.spark()} {
		var classes []string
		for _, s := range d.Shapes {
			if strings.HasPrefix(s.Class, "line ") {
				classes = append(classes, s.Class)
			}
		}
		if want := []string{"line series0", "line series0 unfinished", "line series0 unfinished"}; !slices.Equal(classes, want) {
			t.Errorf("%s: %q, want %q", d.Class, classes, want)
		}
		if last := d.Shapes[len(d.Shapes)-1].Class; d.Class == "spark" && last != "dot series0 unfinished" {
			t.Errorf("the spark ends in %q", last)
		}
	}
}

func TestScaleAndDecimals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values     []float64
		decimals   int
		unfinished int
		hint, last string
	}{
		{[]float64{5, 9999}, 0, 0, "R$", "9.999"},
		{[]float64{5000, 12_345}, 2, 0, "R$, em milhares", "12,3"},
		{[]float64{500_000, 5_250_000}, 2, 0, "R$, em milhões", "5,25"},
		{[]float64{48_000, 5_250_000}, 2, 0, "R$, em milhares", "5.250"},
		{[]float64{5_000_000, 48_000}, 2, 1, "R$, em milhões", "0,05"}, // not finished
		{[]float64{7, 5_250_000_000}, 2, 0, "R$, em milhões", "5.250,0"},
		{[]float64{1.234, 2}, 2, 0, "R$", "2,00"},
		{[]float64{1.234, 20}, 2, 0, "R$", "20,0"},
		{[]float64{1.234, 200}, 2, 0, "R$", "200"},
		{[]float64{0, 0}, 2, 0, "R$", "0,00"},
	} {
		chart := Chart{Labels: []string{"a", "b"}, Series: []Series{{Values: c.values}}, Decimals: c.decimals, Unit: "R$", Language: Portuguese, Unfinished: c.unfinished}
		var numbers []string
		for _, at := range chart.draw(narrow).Texts {
			if at.Class == "number" {
				numbers = append(numbers, at.Text)
			}
		}
		hint := figure{Chart: chart, Words: Portuguese.words()}.Hint()
		if len(numbers) != 2 || numbers[1] != c.last || hint != c.hint {
			t.Errorf("%v: %q, %q, want %q, %q", c.values, numbers, hint, c.last, c.hint)
		}
	}
}

// TestColoursDifferInGrey: grey paper keeps of a colour only its relative luminance (WCAG), and
// eyes that do not tell red from green keep nearly that. Colours that may touch differ by 1.3 at
// least: five steps of it fit between the 3 that WCAG asks of graphics against the page, and black.
// Seams and textures help.
func TestColoursDifferInGrey(t *testing.T) {
	t.Parallel()
	const beside, onPaper = 1.3, 3
	light, dark, found := strings.Cut(CSS, "@media (prefers-color-scheme: dark)")
	if !found {
		t.Fatal("no dark colours")
	}
	for name, css := range map[string]string{"light": light, "dark": dark} {
		lights := map[string]float64{}
		for _, m := range regexp.MustCompile(`--chart-(\w+): #(\w{2})(\w{2})(\w{2});`).FindAllStringSubmatch(css, -1) {
			sum := 0.05
			for i, share := range []float64{0.2126, 0.7152, 0.0722} {
				v, err := strconv.ParseUint(m[2+i], 16, 8)
				if err != nil {
					t.Fatal(err)
				}
				linear := float64(v) / 255 / 12.92
				if s := float64(v) / 255; s > 0.04045 {
					linear = math.Pow((s+0.055)/1.055, 2.4)
				}
				sum += share * linear
			}
			lights[m[1]] = sum
		}
		ratio := func(a, b string) float64 {
			if lights[a] == 0 || lights[b] == 0 {
				t.Fatalf("%s: no colour %s or %s", name, a, b)
			}
			return max(lights[a], lights[b]) / min(lights[a], lights[b])
		}
		for _, group := range [][]string{{"series0", "series1", "series2", "series3", "muted"}, {"series0", "good", "warning", "bad", "muted"}} {
			for i, a := range group {
				if r := ratio(a, "paper"); r < onPaper {
					t.Errorf("%s: %s differs from the page by %.2f, want %v", name, a, r, onPaper)
				}
				for _, b := range group[:i] {
					if r := ratio(a, b); r < beside {
						t.Errorf("%s: %s and %s differ by %.2f, want %v", name, a, b, r, beside)
					}
				}
			}
		}
		if r := ratio("text", "paper"); r < 4.5 {
			t.Errorf("%s: text differs from the page by %.2f", name, r)
		}
	}
}

// TestStacksOfThreeHaveTextures, in the drawing and in the legend alike.
func TestStacksOfThreeHaveTextures(t *testing.T) {
	t.Parallel()
	c := Chart{Kind: StackedBars, Labels: []string{"a"}, Series: []Series{{Values: []float64{9}}, {Values: []float64{9}}}}
	for want := range 2 {
		html := render(t, c)
		for _, class := range []string{`class="dots"`, `class="stripes"`} {
			if n := strings.Count(html, class); n != 3*want { // wide, narrow, legend
				t.Errorf("%d series: %s stands there %d times, want %d", len(c.Series), class, n, 3*want)
			}
		}
		c.Series = append(c.Series, Series{Values: []float64{9}})
	}
}

// TestAxisBegins at zero for bars; lines far from it have an axis of their own.
func TestAxisBegins(t *testing.T) {
	t.Parallel()
	for kind, want := range map[Kind]float64{Bars: 0, StackedBars: 0, HorizontalBars: 0, Lines: 16} {
		c := Chart{Kind: kind, Labels: []string{"a", "b"}, Series: []Series{{Values: []float64{16, 21}}}}
		if low, _ := c.extremes(); low != want {
			t.Errorf("kind %d begins at %v, want %v", kind, low, want)
		}
	}
}

// TestNumbersKeepClearOfTheLine: below it in a valley, else above; on a slope at the side that is
// free.
func TestNumbersKeepClearOfTheLine(t *testing.T) {
	t.Parallel()
	p := plot{right: 400, bottom: 200, high: 200, step: 100}
	values := []float64{100, 50, 150, 195, 100, 40, Missing}
	anchors, below := []string{"middle", "middle", "end", "middle", "start", "middle"}, []bool{false, true, false, false, false, true}
	for i := range anchors {
		anchor, _, y := p.besideLine(values, i)
		if anchor != anchors[i] || (y > p.y(values[i])) != below[i] {
			t.Errorf("point %d: %s, below: %v, want %s, %v", i, anchor, y > p.y(values[i]), anchors[i], below[i])
		}
	}
}

// TestValuesNobodyHas are gaps in the drawing and dashes in the table.
func TestValuesNobodyHas(t *testing.T) {
	t.Parallel()
	for _, kind := range []Kind{Bars, StackedBars, HorizontalBars, Lines} {
		html := render(t, Chart{Kind: kind, Labels: []string{"a", "b", "c", "d", "e"}, Series: []Series{{Values: []float64{math.Inf(1), math.Inf(-1), 1e308, Missing, 3}}}})
		if strings.Count(html, ">–</td>") != 4 || strings.Count(html, `class="number" x=`) != 2 || strings.Contains(html, "Inf") || strings.Contains(html, "NaN") {
			t.Errorf("kind %d: %s", kind, html)
		}
	}
}
