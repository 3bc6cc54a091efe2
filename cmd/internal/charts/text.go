package charts

import (
	"strings"
	"unicode"
)

// width is about that of a text in CSS pixels, rather too much than too little: the reader's font is not known.
func width(text string) float64 {
	const size = 11.5 // as the style sheet has it
	sum := 0.0
	for _, letter := range text {
		switch {
		case unicode.In(letter, unicode.Mn, unicode.Me, unicode.Cf):
		case letter >= '\u2e80': // as wide as high: East Asia, and pictures
			sum += 1.3
		case strings.ContainsRune("ijlI.,:;'|! ()[]/", letter):
			sum += 0.4
		case strings.ContainsRune("mwMW@%&…", letter):
			sum += 1
		case unicode.IsUpper(letter):
			sum += 0.76
		default:
			sum += 0.65
		}
	}
	return size * sum
}

// shorten cuts a text to a width.
func shorten(text string, most float64) string {
	if width(text) <= most {
		return text
	}
	letters := []rune(text)
	for len(letters) > 0 && width(string(letters))+width("…") > most {
		letters = letters[:len(letters)-1]
	}
	return strings.TrimRightFunc(string(letters), unicode.IsSpace) + "…"
}
