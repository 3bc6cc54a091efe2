package terminal

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Table is a text table: headings, a rule, rows. Columns of numbers are aligned to the right.
type Table struct {
	headings []string
	rows     [][]string
	numeric  []bool // by column: all values are numbers
}

// NewTable returns a table without rows.
func NewTable(headings ...string) *Table {
	t := &Table{headings: make([]string, len(headings)), numeric: make([]bool, len(headings))}
	for i, h := range headings {
		t.headings[i], t.numeric[i] = Harmless(h), true
	}
	return t
}

// Add appends a row. A nil and a value missing at the end are empty cells.
func (t *Table) Add(values ...any) {
	row := make([]string, len(t.headings))
	for i, v := range values {
		if v == nil {
			continue
		}
		row[i] = Harmless(fmt.Sprint(v))
		t.numeric[i] = t.numeric[i] && isNumeric(row[i])
	}
	t.rows = append(t.rows, row)
}

// Len is the number of rows.
func (t *Table) Len() int { return len(t.rows) }

func isNumeric(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil
}

// Write prints the table.
func (t *Table) Write(w io.Writer) error {
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

// Section prints the title, unless it is empty, the table and an empty line. A table without rows
// prints nothing.
func (t *Table) Section(w io.Writer, title string) error {
	if t.Len() == 0 {
		return nil
	}
	if title != "" {
		fmt.Fprintln(w, title)
	}
	if err := t.Write(w); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w)
	return err
}

// maxCell is the length limit of Cell, in runes. A longer note would break the table.
const maxCell = 60

// Cell formats a value for a table cell, cut off at maxCell runes. Other output uses Plain.
func Cell(v any) string {
	s := Plain(v)
	if utf8.RuneCountInString(s) <= maxCell {
		return s
	}
	return string([]rune(s)[:maxCell-1]) + "…"
}

// Plain formats a value as SQLite's shell does: NULL is empty, and bytes that are not valid UTF-8
// are hexadecimal. A number that would be mostly zeros has an exponent, as in JSON.
func Plain(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		if size := math.Abs(v); size >= 1e21 || size != 0 && size < 1e-6 {
			return strconv.FormatFloat(v, 'e', -1, 64)
		}
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []byte:
		if utf8.Valid(v) {
			return string(v)
		}
		return fmt.Sprintf("%x", v)
	}
	return fmt.Sprint(v)
}
