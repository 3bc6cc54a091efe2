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
type words struct {
	Figures, Nothing                       string
	Highest, Lowest, Last                  string
	Unfinished, StillOpen, Hatched, Dashed string
	Scales                                 map[float64]string // by what the numbers in a drawing are divided by
}

func (l Language) words() words {
	if l == Portuguese {
		return words{
			Figures: "Números", Nothing: "Ainda não há dados.", Highest: "Maior", Lowest: "Menor", Last: "Último",
			Unfinished: "não encerrado", StillOpen: "Ainda não encerrado",
			Hatched: "Hachurado: ainda não encerrado", Dashed: "Tracejado: ainda não encerrado",
			Scales: map[float64]string{1e3: "em milhares", 1e6: "em milhões", 1e9: "em bilhões", 1e12: "em trilhões"},
		}
	}
	return words{
		Figures: "Figures", Nothing: "Nothing to show yet.", Highest: "Highest", Lowest: "Lowest", Last: "Last",
		Unfinished: "not finished", StillOpen: "Not finished yet",
		Hatched: "Hatched: not finished yet", Dashed: "Dashed: not finished yet",
		Scales: map[float64]string{1e3: "in thousands", 1e6: "in millions", 1e9: "in billions", 1e12: "in trillions"},
	}
}

// Number writes v with so many decimals, 0 to 9, thousands apart: 1,234.5 in English, 1.234,5 in
// Portuguese. A true minus is as wide as a plus.
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
	return strings.Replace(humanize.FormatFloat(form+strings.Repeat("#", decimals), v), "-", "−", 1)
}

// Percent writes a share, 1 being the whole, with so many decimals.
func (l Language) Percent(share float64, decimals int) string {
	return l.Number(100*share, decimals) + "%"
}
