package charts

import (
	"math"
	"strings"

	"github.com/dustin/go-humanize"
)

// Language is the one numbers and the words of a chart are written in.
type Language int

// The languages.
const (
	English Language = iota
	Portuguese
)

// words are those a chart adds to what it is given.
type words struct{ Figures, Nothing string }

func (l Language) words() words {
	if l == Portuguese {
		return words{Figures: "Números", Nothing: "Ainda não há dados."}
	}
	return words{Figures: "Figures", Nothing: "Nothing to show yet."}
}

// Number writes v with so many decimals, 0 to 9, thousands apart: 1,234.5 in English, 1.234,5 in Portuguese.
func (l Language) Number(v float64, decimals int) string {
	form := "#,###."
	if l == Portuguese {
		form = "#.###,"
	}
	// FormatFloat would cut off what comes after the last decimal.
	scale := math.Pow10(decimals)
	if rounded := math.Round(v*scale) / scale; !math.IsInf(rounded, 0) {
		v = rounded
	}
	if v == 0 {
		v = 0 // not −0
	}
	return humanize.FormatFloat(form+strings.Repeat("#", decimals), v)
}

// Percent writes a share, 1 being the whole, with so many decimals.
func (l Language) Percent(share float64, decimals int) string {
	return l.Number(100*share, decimals) + "%"
}

// Compact writes v in as little room as an axis has, to three digits: 1.2M in English, 1,2 mi in Portuguese.
func (l Language) Compact(v float64) string {
	v = threeDigits(v)
	for _, unit := range []struct {
		size   float64
		en, pt string
	}{{1e9, "B", " bi"}, {1e6, "M", " mi"}, {1e3, "k", " mil"}} {
		if math.Abs(v) < unit.size {
			continue
		}
		suffix := unit.en
		if l == Portuguese {
			suffix = unit.pt
		}
		return l.short(v/unit.size) + suffix
	}
	return l.short(v)
}

// threeDigits rounds v to the first three of its digits.
func threeDigits(v float64) float64 {
	if v == 0 {
		return 0
	}
	last := math.Pow10(int(math.Floor(math.Log10(math.Abs(v)))) - 2)
	return math.Round(v/last) * last
}

// short writes v with the decimals it needs, two at the most.
func (l Language) short(v float64) string {
	hundredths, decimals := math.Round(v*100), 2
	switch {
	case math.Mod(hundredths, 100) == 0:
		decimals = 0
	case math.Mod(hundredths, 10) == 0:
		decimals = 1
	}
	return l.Number(v, decimals)
}
