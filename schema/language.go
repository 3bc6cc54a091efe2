package schema

import (
	_ "embed"
	"strings"
	"sync"
)

// Language is what the texts of the model are shown in. Declarations say them in English;
// portuguese.txt holds each of them once in Portuguese, below its English. So a declaration stays
// one line, columns that repeat another's text share its Portuguese, and whoever changes an English
// text has to look at the Portuguese one, as a test finds it without.
type Language string

// The languages.
const (
	English    Language = "en"
	Portuguese Language = "pt"
)

// Text returns an English text of the model in the language. A text that portuguese.txt does not
// have, such as a unit that is the same in both, stays as it is.
func (l Language) Text(english string) string {
	if l == Portuguese {
		if text, ok := portugueseTexts()[english]; ok {
			return text
		}
	}
	return english
}

//go:embed portuguese.txt
var portugueseFile string

// portugueseTexts are the Portuguese texts by the English ones.
var portugueseTexts = sync.OnceValue(func() map[string]string {
	texts, english := map[string]string{}, ""
	for line := range strings.Lines(portugueseFile) {
		line = strings.TrimSuffix(line, "\n")
		if text, ok := strings.CutPrefix(line, "= "); ok {
			texts[english] = text
		}
		english = line
	}
	return texts
})
