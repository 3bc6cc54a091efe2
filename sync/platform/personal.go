package platform

import (
	"regexp"
	"strings"
)

// personal finds what an excerpt may hold of people: e-mail addresses, and digits as CPF, CNPJ and
// telephone numbers have them. It finds ids too, which isID tells apart. Digits end with their word
// where they can: else they would take the beginning of an id that follows.
var personal = regexp.MustCompile(
	`[^\s"'<>(),;:=@]+(?:@|%40|\\u0040)[^\s"'<>(),;:=]+` +
		`|\b[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\b` +
		`|\b[0-9A-Fa-f]{16,}\b` +
		`|` + longNumber + `\b|` + longNumber)

const longNumber = `[(+]{0,2}\p{Nd}(?:[.\-/()+\s\p{Zs}\p{Pd}]{0,4}\p{Nd}){7,}`

// withoutPersonalData puts "…" in the place of personal data.
func withoutPersonalData(text string) string {
	return personal.ReplaceAllStringFunc(text, func(found string) string {
		if isID(found) {
			return found
		}
		return "…"
	})
}

// isID says whether a text found is an id in hexadecimal.
func isID(found string) bool {
	return strings.ContainsAny(found, "abcdefABCDEF") && strings.Trim(found, "0123456789abcdefABCDEF-") == ""
}
