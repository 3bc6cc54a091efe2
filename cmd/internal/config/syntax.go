package config

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
)

// The library stops at the first fault of syntax. To find the others, [tomlFile.read] blanks the
// faulty lines and parses again. It blanks more than the statement, up to the next section, where
// the next lines may continue a secret: read as keys, they would be quoted.

// maxSyntaxFaults bounds the number of times that one file is parsed.
const maxSyntaxFaults = 50

// read parses the text and takes its values.
func (f *tomlFile) read(text string) {
	if line, problem := notText(text); problem != "" {
		f.fault(line, problem)
		return
	}
	lines := strings.Split(text, "\n")
	for range maxSyntaxFaults {
		var root map[string]toml.Primitive
		meta, err := toml.Decode(strings.Join(lines, "\n"), &root)
		if err == nil {
			f.meta = meta
			f.walk("", root)
			return
		}
		if !f.mend(lines, err) {
			return
		}
	}
}

// notText returns why the text is not UTF-8, with the first line at fault.
func notText(text string) (line int, problem string) {
	if strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") || strings.Contains(text, "\x00") {
		return 1, "is UTF-16 or no text at all; save it as UTF-8"
	}
	for i, l := range strings.Split(text, "\n") {
		if !utf8.ValidString(l) {
			return i + 1, "a character is not UTF-8; save the file as UTF-8"
		}
	}
	return 0, ""
}

// mend adds the fault that err tells and blanks its lines. It reports whether that changed the lines.
func (f *tomlFile) mend(lines []string, err error) bool {
	var at toml.ParseError
	if !errors.As(err, &at) {
		f.fault(1, "is not valid TOML")
		return false
	}
	last := min(max(at.Position.Line, 1), len(lines)) - 1
	for last > 0 && strings.TrimSpace(lines[last]) == "" { // a missing end is reported on a later line
		last--
	}
	if i := brokenHeader(lines, last); i >= 0 {
		return f.mendHeader(lines, i)
	}
	if name, _, assigns := strings.Cut(lines[last], "="); assigns { // the value had ended: timeout = 5m
		if k, known := find(f.table, at.LastKey+"."+strings.TrimSpace(name)); known {
			at.LastKey = k.name
		}
	}
	k, known := find(f.table, at.LastKey)
	unclosed := strings.Contains(at.Message, "unexpected EOF")
	first := last
	if known {
		first = statement(lines, k, last, unclosed)
	}
	f.fault(first+1, syntaxProblem(f.table, at))

	end := last + 1
	switch {
	case !known || k.secret:
		end = sectionEnd(lines, end)
	case unclosed:
		end = len(lines)
	case first < last && begins.MatchString(lines[last]):
		end = last // the next statement, which the fault runs into
	}
	return blank(lines[first:end])
}

// brokenHeader returns which of two lines, the one at fault and the one before it, opens a section
// without closing its bracket; -1 where none does.
func brokenHeader(lines []string, last int) int {
	for i := last; i >= max(last-1, 0); i-- {
		if line := strings.TrimSpace(lines[i]); strings.HasPrefix(line, "[") && !strings.Contains(line, "]") {
			return i
		}
	}
	return -1
}

// mendHeader closes the bracket of a known section; the lines of any other are blanked.
func (f *tomlFile) mendHeader(lines []string, i int) bool {
	name := strings.Trim(lines[i], "[ \t\r")
	f.fault(i+1, "not valid TOML: the name of a section stands in brackets, as in [platform]")
	if isSection(f.table, name) {
		lines[i] = "[" + name + "]"
		return true
	}
	return blank(lines[i:sectionEnd(lines, i+1)])
}

func sectionEnd(lines []string, from int) int {
	for from < len(lines) && !strings.HasPrefix(strings.TrimSpace(lines[from]), "[") {
		from++
	}
	return from
}

func blank(lines []string) (changed bool) {
	for i, line := range lines {
		changed = changed || line != ""
		lines[i] = ""
	}
	return changed
}

// begins matches the first line of a statement.
var begins = regexp.MustCompile(`^\s*(\[|[\w.-]+\s*=)`)

// statement returns the line on which the key's statement begins, at the latest line. Only an
// unclosed one may hold lines that look like another section.
func statement(lines []string, k key, line int, unclosed bool) int {
	for i := line; i >= 0; i-- {
		name, _, assigns := strings.Cut(lines[i], "=")
		if name = strings.TrimSpace(name); assigns && (name == k.leaf() || name == k.name) {
			return i
		}
		if i < line && !unclosed && strings.HasPrefix(strings.TrimSpace(lines[i]), "[") {
			break
		}
	}
	return line
}

// syntaxProblem words the library's error. Some of its messages quote the value,
// which may be a token someone forgot to put in quotes: they pass only where the
// last key read is one known to hold no secret.
func syntaxProblem(table []key, at toml.ParseError) string {
	words := "a value it cannot read; text stands in quotes"
	k, known := find(table, at.LastKey)
	if known && !k.secret || isSection(table, at.LastKey) || strings.HasSuffix(at.Message, "has already been defined.") {
		words = at.Message
	}
	if at.LastKey == "" {
		return "not valid TOML: " + words
	}
	return fmt.Sprintf("not valid TOML at or after %s: %s", at.LastKey, words)
}
