package config

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// exampleHead is the comment at the top of the example.
const exampleHead = `solarmirror's configuration. Each key stands with its default, unless somebody changed it.

It is read from config.toml, or from the file that --config names; "solarmirror init" writes one, and "solarmirror config check" finds what is wrong in it. Each key also has an environment variable that wins over the file: platform.page_limit is SOLARMIRROR_PLATFORM_PAGE_LIMIT. A list stands in a variable with commas between its items; \, is a comma within an item. Relative paths start at the working directory. "solarmirror config show" prints what is in force and where each value came from.`

// Example returns a configuration file with every key and its description. A key that values does
// not name has its default.
func Example(values map[string]string) (string, error) {
	var out strings.Builder
	comment(&out, exampleHead)
	section := ""
	for _, k := range keys() {
		if k.section() != section {
			section = k.section()
			fmt.Fprintf(&out, "\n[%s]\n", section)
		}
		text, given := values[k.name]
		if !given {
			text = k.fallback
		}
		line, err := tomlLine(k, text)
		if err != nil {
			return "", fmt.Errorf("write %s: %w", k.name, err)
		}
		comment(&out, k.doc)
		fmt.Fprintln(&out, line)
	}
	return out.String(), nil
}

// comment writes text as lines of a TOML comment.
func comment(out *strings.Builder, text string) {
	const width = 83
	for paragraph := range strings.SplitSeq(text, "\n") {
		line := "#"
		for word := range strings.FieldsSeq(paragraph) {
			if line != "#" && utf8.RuneCountInString(line)+len(" ")+utf8.RuneCountInString(word) > width {
				fmt.Fprintln(out, line)
				line = "#"
			}
			line += " " + word
		}
		fmt.Fprintln(out, line)
	}
}
