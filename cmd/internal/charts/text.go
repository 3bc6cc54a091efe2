package charts

import (
	"strings"
	"unicode"
)

// width is about that of a text in CSS pixels, in a font that is wider than most:
// the reader's is not known.
func width(text string) float64 {
	const size = 11.5 // as the style sheet has it
	sum := 0.0
	for _, letter := range text {
		switch {
		case unicode.In(letter, unicode.Mn, unicode.Me, unicode.Cf):
		case letter >= '\u2e80': // as wide as high: East Asia, and pictures
			sum += 1.3
		case strings.ContainsRune("ijlI.,:;'|! ()[]/", letter):
			sum += 0.37
		case strings.ContainsRune("rtf-", letter):
			sum += 0.42
		case strings.ContainsRune("mW@%…", letter):
			sum += 1
		case strings.ContainsRune("wM&", letter):
			sum += 0.88
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
	used := width("…")
	for i, letter := range text {
		if used += width(string(letter)); used > most {
			return strings.TrimRightFunc(text[:i], unicode.IsSpace) + "…"
		}
	}
	return text
}
