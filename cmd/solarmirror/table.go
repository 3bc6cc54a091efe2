package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// table is text in columns for a person: headings, a rule, numbers to the right.
type table struct {
	headings []string
	rows     [][]string
	numeric  []bool // per column: every value so far is a number
}

func newTable(headings ...string) *table {
	t := &table{headings: make([]string, len(headings)), numeric: make([]bool, len(headings))}
	for i, h := range headings {
		t.headings[i], t.numeric[i] = harmless(h), true
	}
	return t
}

// add appends a row. A nil is shown as an empty cell.
func (t *table) add(values ...any) {
	row := make([]string, len(values))
	for i, v := range values {
		if v == nil {
			continue
		}
		row[i] = harmless(fmt.Sprint(v))
		t.numeric[i] = t.numeric[i] && isNumeric(row[i])
	}
	t.rows = append(t.rows, row)
}

func isNumeric(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil
}

func (t *table) write(w io.Writer) error {
	widths := make([]int, len(t.headings))
	rule := make([]string, len(t.headings))
	for i, h := range t.headings {
		widths[i] = utf8.RuneCountInString(h)
		for _, row := range t.rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
		rule[i] = strings.Repeat("─", widths[i])
	}
	var text strings.Builder
	for _, row := range append([][]string{t.headings, rule}, t.rows...) {
		line := make([]string, len(row))
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if t.numeric[i] {
				line[i] = pad + cell
			} else {
				line[i] = cell + pad
			}
		}
		text.WriteString(strings.TrimRight(strings.Join(line, "  "), " ") + "\n")
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// harmless replaces control characters and bidirectional controls by spaces: text from the
// platform must not steer a terminal. Tables, errors and console logs call it themselves; any
// other print of foreign text must.
func harmless(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return ' '
		}
		return r
	}, s)
}

// harmlessLines calls harmless for each line.
func harmlessLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = harmless(line)
	}
	return strings.Join(lines, "\n")
}
