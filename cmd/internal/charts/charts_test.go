package charts

import (
	"encoding/xml"
	"errors"
	"html/template"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// every is one chart of each kind, with what is hard: many labels, gaps, one point, all zero.
func every() []Chart {
	days := make([]string, 31)
	wave, flat, gaps := make([]float64, 31), make([]float64, 31), make([]float64, 31)
	for i := range days {
		days[i] = "Nov " + English.Number(float64(i+1), 0)
		wave[i] = math.Round(4000 * (1 + math.Sin(float64(i)/3)))
		gaps[i] = wave[i]
		if i%7 == 3 {
			gaps[i] = Missing
		}
	}
	months := []string{"Dez/24", "Jan/25", "Fev/25", "Mar/25", "Abr/25", "Mai/25", "Jun/25", "Jul/25", "Ago/25", "Set/25", "Out/25", "Nov/25"}
	value := []float64{1_843_200.5, 1_204_980, 1_577_300, 2_010_400, 1_950_000, 2_304_110, 2_811_090, 2_604_500, 3_120_000, 2_950_700, 3_402_118, 1_204_000}
	cancelled := []float64{120_000, 80_000, 0, 310_400, 95_000, 204_110, 411_090, 104_500, 320_000, 150_700, 202_118, 44_000}
	margin := []float64{18.2, 17.9, Missing, 19.4, 20.1, 18.8, 17.5, 16.9, 17.2, 18.0, 18.4, 21.3}
	makers := []string{
		"Deye", "Canadian Solar Indústria e Comércio de Equipamentos Fotovoltaicos Ltda.", "شركة الطاقة الشمسية المتحدة للأنظمة الكهروضوئية والبطاريات في الخليج",
		"☀️ Sol 🌞 & Cia 👩🏽‍🔧👨‍👩‍👧‍👦 energia solar para toda a família brasileira, hoje e sempre", "隆基绿能科技股份有限公司西安分公司第一制造事业部光伏组件", "Outros",
	}
	list := []Chart{
		{Title: "Receita por mês", Category: "Mês", Kind: Bars, Language: Portuguese, Labels: months, Series: []Series{{Name: "Valor", Values: value}}, Unfinished: 1, Unit: "R$", Decimals: 2},
		{Title: "Receita e cancelado", Category: "Mês", Kind: Bars, Language: Portuguese, Labels: months, Series: []Series{{Name: "Ganho", Values: value}, {Name: "Cancelado", Values: cancelled, Tone: Muted}}, Unfinished: 1, Unit: "R$", Decimals: 2},
		{Title: "Orçamentos por mês, ganhos e não ganhos", Category: "Mês", Kind: StackedBars, Language: Portuguese, Labels: months, Series: []Series{{Name: "Ganhos", Values: []float64{20, 31, 28, 40, 44, 38, 51, 47, 60, 52, 40, 12}}, {Name: "Não ganhos", Values: []float64{80, 91, 78, 120, 104, 98, 131, 107, 140, 122, 140, 92}, Tone: Muted}}, Unfinished: 3},
		{Title: "Margem", Category: "Mês", Kind: Lines, Language: Portuguese, Labels: months, Series: []Series{{Name: "Margem", Values: margin}}, Unfinished: 1, Unit: "%", Decimals: 1},
		{Title: "Margem por grupo", Category: "Mês", Kind: Lines, Language: Portuguese, Labels: months, Series: []Series{{Name: "Módulos", Values: margin}, {Name: "Inversores", Values: []float64{22.2, 21.9, 21.1, 22.4, 22.1, 21.8, 21.5, 20.9, 21.2, 21.0, 21.4, 21.0}}, {Name: "Estruturas de fixação para telhado", Values: []float64{9, 8.5, 8.1, 7.4, 9.1, 8.8, 8.5, 8.9, 9.2, 9.0, 9.4, 9.1}}}, Unfinished: 1, Unit: "%", Decimals: 1},
		{Title: "Fabricantes", Category: "Fabricante", Kind: HorizontalBars, Language: Portuguese, Labels: makers, Series: []Series{{Name: "Valor", Values: []float64{5_204_110, 3_120_000, 1_204_000, 804_500, 150_700, 48_000}}}, Unit: "R$", Decimals: 2},
		{Title: "Variação de preço", Category: "Produto", Kind: HorizontalBars, Language: Portuguese, Labels: makers[:3], Series: []Series{{Name: "Variação", Values: []float64{12.4, -3.5, -18}}}, Unit: "%", Decimals: 1},
		{Title: "Two years of cohorts", Category: "month", Kind: HorizontalBars, Labels: months[:4], Series: []Series{{Name: "Budgets", Values: value[:4]}, {Name: "Orders", Values: cancelled[:4], Tone: Muted}}, Unfinished: 1},
		{Title: "Below zero", Category: "day", Kind: Lines, Labels: days[:3], Series: []Series{{Name: "n", Values: []float64{-3, 2, 0.5}}}, Decimals: 1},
		{Title: "Result", Category: "day", Kind: Bars, Labels: days[:6], Series: []Series{{Name: "n", Values: []float64{-3, 2, 0.5, -7, 12, -1}}}, Decimals: 1, Unfinished: 1},
		{Title: "Changes", Category: "day", Kind: StackedBars, Labels: days[:6], Series: []Series{{Name: "in", Values: []float64{3, 2, 1, 7, 12, 1}}, {Name: "out", Values: []float64{-3, -2, -5, -7, -1, -1}, Tone: Bad}}},
	}
	for _, kind := range []Kind{Bars, StackedBars, HorizontalBars, Lines} {
		list = append(list,
			Chart{Title: "Many", Category: "day", Kind: kind, Labels: days, Series: []Series{{"a", wave, Good}, {"b", gaps, Bad}, {"c", flat, Neutral}, {"d", wave, Muted}, {"e", wave, Warning}}},
			Chart{Title: "One", Category: "day", Kind: kind, Labels: days[:1], Series: []Series{{Name: "a", Values: wave[:1]}}},
			Chart{Title: "Zero", Category: "day", Kind: kind, Labels: days, Series: []Series{{Name: "a", Values: flat}}})
	}
	return list
}

func render(t rapid.TB, c Chart) string {
	t.Helper()
	html, err := c.HTML()
	if err != nil {
		t.Fatal(err)
	}
	return string(html)
}

// wellFormed fails unless the figure is one XML element, which every browser reads as it is meant.
func wellFormed(t rapid.TB, html string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(html))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("not well formed: %v\n%s", err, html)
		}
	}
}

// TestColoursComeFromTheStyleSheet: a strict policy allows no style attribute, and a dark page must
// reach every colour.
func TestColoursComeFromTheStyleSheet(t *testing.T) {
	t.Parallel()
	class := regexp.MustCompile(`class="([^"]*)"`)
	for _, c := range every() {
		html := render(t, c)
		wellFormed(t, html)
		for _, attribute := range []string{"style=", "fill=", "stroke=", " id=", "url("} {
			if strings.Contains(html, attribute) {
				t.Errorf("%v %s: %s", c.Kind, c.Title, attribute)
			}
		}
		for _, found := range class.FindAllStringSubmatch(html, -1) {
			for _, name := range strings.Fields(found[1]) {
				if !regexp.MustCompile(`\.` + name + `\b`).MatchString(CSS) {
					t.Errorf("%v %s: the style sheet has no .%s", c.Kind, c.Title, name)
				}
			}
		}
	}
}

func TestEveryDrawingHasATitleAndItsNumbers(t *testing.T) {
	t.Parallel()
	for _, c := range every() {
		html := render(t, c)
		if n := strings.Count(html, `role="img"`); n != 2 {
			t.Errorf("%s: %d drawings, want a wide and a narrow one", c.Title, n)
		}
		if n := strings.Count(html, "<title>"+c.Title+"</title>"); n != 2 {
			t.Errorf("%s: %d titles, want one in each drawing", c.Title, n)
		}
		if n, want := strings.Count(html, "<td"), len(c.Labels)*len(c.Series); n != want {
			t.Errorf("%s: %d values in the table, want %d", c.Title, n, want)
		}
		c.Tabled = true
		if html := render(t, c); strings.Contains(html, "<table") || !strings.Contains(html, "<svg") {
			t.Errorf("%s: tabled elsewhere, it shall be its drawing alone", c.Title)
		}
	}
}

// TestTextIsEscaped draws names nobody should trust, wherever a chart shows text.
func TestTextIsEscaped(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.StringMatching(`[a-c<>&"'\n\t /]{0,30}`), rapid.String(), rapid.Just("\xff<b>\ue002script")).Draw(t, "text")
		kind := rapid.SampledFrom([]Kind{Bars, StackedBars, HorizontalBars, Lines}).Draw(t, "kind")
		// XML has no form for most control characters; HTML has.
		text = "<x>" + strings.Map(func(r rune) rune {
			if r < ' ' && !slices.Contains([]rune("\n\t"), r) || r == '\ufffe' || r == '\uffff' {
				return -1
			}
			return r
		}, strings.ToValidUTF8(text, "?"))
		html := render(t, Chart{
			Title: text, Category: text, Kind: kind, Labels: []string{text, "b"}, Series: []Series{{Name: text, Values: []float64{2, 1}}},
			Unit: text,
		})
		wellFormed(t, html)
		if strings.Contains(html, "<x") {
			t.Fatalf("not escaped: %s", html)
		}
	})
}

func TestNothingToDraw(t *testing.T) {
	t.Parallel()
	for _, c := range []Chart{
		{Kind: Bars, Language: Portuguese},
		{Kind: Lines, Language: Portuguese, Labels: []string{"a"}, Series: []Series{{Values: []float64{Missing}}}},
	} {
		if html := render(t, c); !strings.Contains(html, "Ainda não há dados.") || strings.Contains(html, "<svg") {
			t.Errorf("want words and no drawing, got %s", html)
		}
	}
}

func TestChartsThatDoNotFit(t *testing.T) {
	t.Parallel()
	c := Chart{Labels: []string{"a"}, Series: []Series{{Values: []float64{1, 2}}}}
	for name, write := range map[string]func() (template.HTML, error){"figure": c.HTML, "spark": c.Spark} {
		if _, err := write(); err == nil {
			t.Errorf("%s: %+v was drawn", name, c)
		}
	}
}

func TestTicks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ low, high, from, to float64 }{
		{0, 0, 0, 1}, {0, 1, 0, 1}, {0, 3, 0, 3}, {0, 7, 0, 8}, {0, 101, 0, 150}, {0, 4_321_000, 0, 5_000_000}, {-3, 2, -3, 2}, {0, 7.5, 0, 8},
	} {
		if from, to, _ := ticks(c.low, c.high, 1); from != c.from || math.Abs(to-c.to) > 1e-9 {
			t.Errorf("ticks(%v, %v) = %v to %v, want %v to %v", c.low, c.high, from, to, c.from, c.to)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		low, high := rapid.Float64Range(-1e9, 0).Draw(t, "low"), rapid.Float64Range(0, 1e12).Draw(t, "high")
		if from, to, step := ticks(low, high, 1); from > low+step/1e6 || to < high-step/1e6 || step < 1 || (to-from)/step > 6.5 {
			t.Fatalf("ticks(%v, %v) = %v to %v in steps of %v", low, high, from, to, step)
		}
	})
}

// TestWords: what a drawing shows is said in words too.
func TestWords(t *testing.T) {
	t.Parallel()
	c := Chart{
		Title: "Receita", Category: "Mês", Labels: []string{"set", "out", "nov"}, Language: Portuguese,
		Series: []Series{{Name: "Valor", Values: []float64{1200, 3400.5, 40}}}, Unfinished: 1, Decimals: 2, Unit: "R$",
	}
	const said = "Maior: out, 3.400,50; Menor: set, 1.200,00; Último: nov, 40,00. Ainda não encerrado: nov."
	html := render(t, c)
	for text, times := range map[string]int{
		"<desc>" + said + "</desc>": 2, "Hachurado: ainda não encerrado": 1, `<th scope="row">nov (não encerrado)</th>`: 1,
		`<span class="hint">R$</span>`: 1, `<th scope="col" class="number">Valor (R$)</th>`: 1,
	} {
		if n := strings.Count(html, text); n != times {
			t.Errorf("%q stands there %d times, want %d: %s", text, n, times, html)
		}
	}
	spark, err := c.Spark()
	if err != nil {
		t.Fatal(err)
	}
	wellFormed(t, string(spark))
	if text := string(spark); !strings.Contains(text, `role="img"><title>Receita</title><desc>`+said) || strings.Contains(text, "<text") {
		t.Error(text)
	}
	c.Kind, c.Language, c.Unit = Lines, English, "%"
	if html := render(t, c); !strings.Contains(html, "Dashed: not finished yet") || !strings.Contains(html, "Highest: out, 3,400.50%") {
		t.Error(html)
	}
	c.Kind, c.Unfinished = HorizontalBars, 0
	c.Series = append(c.Series, Series{Name: "Other", Values: []float64{Missing, 1, Missing}}, Series{Name: "None", Values: []float64{Missing, Missing, Missing}})
	if html := render(t, c); !strings.Contains(html, "Lowest: nov, 40.00%. Other – Highest: out, 1.00%; Lowest: out, 1.00%.</desc>") {
		t.Error(html)
	}
}

// TestLongNames stand short in a drawing and whole in the table.
func TestLongNames(t *testing.T) {
	t.Parallel()
	for _, letter := range []string{"i", "M", "日", "🌞", "ش"} {
		name := strings.Repeat(letter, 400)
		html := render(t, Chart{Kind: HorizontalBars, Labels: []string{name}, Series: []Series{{Name: "s", Values: []float64{3}}}})
		if strings.Count(html, name) != 1 || strings.Count(html, letter+"…</text>") != 2 {
			t.Errorf("%s: %s", letter, html)
		}
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ got, want string }{
		{English.Number(1234567.891, 2), "1,234,567.89"}, {Portuguese.Number(1234567.891, 2), "1.234.567,89"},
		{English.Number(0.999, 2), "1.00"}, {English.Number(-0.001, 2), "0.00"}, {Portuguese.Number(-1234.5, 1), "−1.234,5"},
		{English.Number(999.5, 0), "1,000"}, {Portuguese.Percent(0.1234, 1), "12,3%"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
