package charts

import (
	"fmt"
	"html/template"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-analyze/charts"
)

// role is a part of a drawing that has a colour of its own. The library draws each in a signal colour, which restyle finds again
// and turns into a class.
type role int

// The roles: text, the lines around and behind a drawing, series by tone, and series of the palette.
const (
	roleText  role = iota
	roleLabel      // text below a horizontal axis
	roleAside      // text to the left of an upright axis
	roleAxis
	roleGrid
	roleGood
	roleWarning
	roleBad
	roleMuted
	rolePaper   // what lies behind, and labels on a bar
	rolePalette // the first of paletteSize
)

const paletteSize = 8

// roleOf is the role of series i.
func roleOf(all []Series, i int) role {
	switch all[i].Tone {
	case Good:
		return roleGood
	case Warning:
		return roleWarning
	case Bad:
		return roleBad
	case Muted:
		return roleMuted
	}
	neutral := 0
	for _, s := range all[:i] {
		if s.Tone == Neutral {
			neutral++
		}
	}
	return rolePalette + role(neutral%paletteSize)
}

// name is how the style sheet calls the role.
func (r role) name() string {
	if r >= rolePalette {
		return fmt.Sprintf("series%d", r-rolePalette)
	}
	return [...]string{"text", "label", "aside", "axis", "grid", "good", "warning", "bad", "muted", "paper"}[r]
}

// signal is the colour that stands for the role while the library draws.
func (r role) signal() charts.Color {
	return charts.Color{R: 1, G: uint8(r) + 1, B: 1, A: 255}
}

func roleOfSignal(red, green, blue int) (role, bool) {
	return role(green - 1), red == 1 && blue == 1 && green >= 1 && green <= int(rolePalette)+paletteSize
}

// theme is the signal colours as the library wants them.
func (c Chart) theme() charts.ColorPalette {
	colours := make([]charts.Color, len(c.Series))
	for i := range c.Series {
		colours[i] = roleOf(c.Series, i).signal()
	}
	return charts.MakeTheme(charts.ThemeOption{
		AxisStrokeColor: roleAxis.signal(), AxisSplitLineColor: roleGrid.signal(), BackgroundColor: charts.ColorTransparent,
		TextColor: roleText.signal(), TextColorXAxis: roleLabel.signal(), TextColorYAxis: roleAside.signal(), SeriesColors: colours,
	})
}

var (
	styleAttribute = regexp.MustCompile(`style="([^"]*)"`)
	signalColour   = regexp.MustCompile(`^rgba?\((\d+),(\d+),(\d+)(?:,([\d.]+))?\)$`)

	lineStart  = regexp.MustCompile(`<path d="M (\d+) [^>]*class="stroke-(?:axis|grid)"`)
	asideStart = regexp.MustCompile(`<text x="\d+"([^>]*class="fill-aside")`)
)

// restyle makes of the library's SVG one that a page may hold: with a title for screen readers, with classes in place of styles, and with
// the text that guard hid.
func restyle(svg []byte, class, title string) template.HTML {
	text := styleAttribute.ReplaceAllStringFunc(string(svg), func(attribute string) string {
		return asClasses(styleAttribute.FindStringSubmatch(attribute)[1])
	})
	text = flush(text)
	opening := fmt.Sprintf(`<svg class="%s" role="img" `, class)
	text = strings.Replace(text, "<svg ", opening, 1)
	text = unguard.Replace(text)
	return template.HTML(strings.Replace(text, ">", "><title>"+template.HTMLEscapeString(title)+"</title>", 1))
}

// asideGap keeps the labels to the left of a drawing off its lines.
const asideGap = 4

// flush moves the labels to the left of a drawing up to its lines, all to the same place, where the style sheet has them end. The library
// has them begin where they would end there in a font of its own.
func flush(svg string) string {
	left := math.MaxInt
	for _, line := range lineStart.FindAllStringSubmatch(svg, -1) {
		if x, err := strconv.Atoi(line[1]); err == nil {
			left = min(left, x)
		}
	}
	return asideStart.ReplaceAllString(svg, fmt.Sprintf(`<text x="%d"$1`, left-asideGap))
}

// asClasses writes the declarations of a style attribute as classes and as attributes, which a style sheet may overrule.
func asClasses(style string) string {
	var classes, attributes []string
	for _, declaration := range strings.Split(style, ";") {
		property, value, _ := strings.Cut(declaration, ":")
		switch property {
		case "fill", "stroke":
			if found := signalColour.FindStringSubmatch(value); found != nil {
				var red, green, blue int
				fmt.Sscan(found[1]+" "+found[2]+" "+found[3], &red, &green, &blue)
				if r, ok := roleOfSignal(red, green, blue); ok {
					classes = append(classes, property+"-"+r.name())
					if found[4] != "" {
						attributes = append(attributes, fmt.Sprintf(`%s-opacity="%s"`, property, found[4]))
					}
					continue
				}
			}
			attributes = append(attributes, fmt.Sprintf(`%s="%s"`, property, value))
		case "stroke-width":
			attributes = append(attributes, fmt.Sprintf(`%s="%s"`, property, value))
		}
	}
	if len(classes) > 0 {
		attributes = append(attributes, fmt.Sprintf(`class="%s"`, strings.Join(classes, " ")))
	}
	return strings.Join(attributes, " ")
}

// The library writes text into the SVG as it is. What means something in HTML passes through it as letters of the private use area.
var (
	toPrivate = strings.NewReplacer("&", "\ue001", "<", "\ue002", ">", "\ue003", `"`, "\ue004", "'", "\ue005", "\n", " ", "\r", " ",
		"\ue001", "�", "\ue002", "�", "\ue003", "�", "\ue004", "�", "\ue005", "�")
	unguard = strings.NewReplacer("\ue001", "&amp;", "\ue002", "&lt;", "\ue003", "&gt;", "\ue004", "&#34;", "\ue005", "&#39;")
)

func guard(text string) string { return toPrivate.Replace(strings.ToValidUTF8(text, "�")) }

func guardAll(list []string) []string {
	guarded := make([]string, len(list))
	for i, text := range list {
		guarded[i] = guard(text)
	}
	return guarded
}
