package export

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"solarmirror/schema"
)

// csvStyle is how one kind of reader wants its cells.
type csvStyle interface {
	mark() string                         // what the file begins with
	separator() string                    // of cells
	cell(t schema.Type, value any) string // of a value that is not NULL
}

// csvEncoder is written by hand, because encoding/csv cannot tell the empty text from NULL and, asked for CR LF, changes line breaks inside texts.
type csvEncoder struct {
	style   csvStyle
	headers Headers
	table   *schema.Table
	out     *bufio.Writer
	begun   bool
}

func newCSVEncoder(style csvStyle, headers Headers) func(io.Writer, *schema.Table) encoder {
	return func(w io.Writer, t *schema.Table) encoder {
		return &csvEncoder{style: style, headers: headers, table: t, out: bufio.NewWriter(w)}
	}
}

// begin writes the headings. A bufio.Writer remembers its first error until Flush.
func (e *csvEncoder) begin() {
	if e.begun {
		return
	}
	e.begun = true
	headings := e.headers.of(e.table)
	for i, h := range headings {
		headings[i] = quoted(h, e.style.separator())
	}
	_, _ = e.out.WriteString(e.style.mark() + strings.Join(headings, e.style.separator()) + "\r\n")
}

func (e *csvEncoder) row(values []any) error {
	e.begin()
	for i, v := range values {
		if i > 0 {
			_, _ = e.out.WriteString(e.style.separator())
		}
		if v != nil {
			_, _ = e.out.WriteString(quoted(e.style.cell(e.table.Columns[i].Type, v), e.style.separator()))
		}
	}
	_, err := e.out.WriteString("\r\n")
	return err
}

func (e *csvEncoder) close() error {
	e.begin()
	return e.out.Flush()
}

// quoted puts a cell in quotes where a reader would not find its end, or take it for NULL, or trim it.
func quoted(cell, separator string) string {
	if cell == "" || strings.ContainsAny(cell, "\"\r\n"+separator) || strings.TrimSpace(cell) != cell {
		return `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
	}
	return cell
}

type plainStyle struct{}

func (plainStyle) mark() string      { return "" }
func (plainStyle) separator() string { return "," }

func (plainStyle) cell(_ schema.Type, value any) string {
	switch v := value.(type) {
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []byte:
		return hex.EncodeToString(v)
	}
	return fmt.Sprint(value)
}

type excelStyle struct{}

func (excelStyle) mark() string      { return "\ufeff" }
func (excelStyle) separator() string { return ";" }

func (excelStyle) cell(t schema.Type, value any) string {
	text := plainStyle{}.cell(t, value)
	switch t {
	case schema.Real:
		return strings.Replace(text, ".", ",", 1)
	case schema.Timestamp:
		seconds, _, _ := strings.Cut(text, ".")
		return seconds
	case schema.Text, schema.Blob:
		return asText(text)
	}
	return text
}

// longestFormulaText is how many characters Excel allows in a text of a formula.
const longestFormulaText = 255

// startsFormula are the characters after which Excel computes; the wide ones it reads as the others.
const startsFormula = "=+-@＝＋－＠"

// asText writes a text so that Excel shows it as it is.
func asText(text string) string {
	first, _ := utf8.DecodeRuneInString(strings.TrimSpace(text))
	formula := strings.ContainsRune(startsFormula, first)
	switch short := utf8.RuneCountInString(text) <= longestFormulaText && !strings.ContainsAny(text, "\r\n"); {
	case short && (formula || misread(text)):
		return `="` + strings.ReplaceAll(text, `"`, `""`) + `"`
	case formula:
		return "'" + text
	}
	return text
}

// Words that Excel, in Portuguese or English, reads as something else than text: truth values, and what dates and amounts begin with.
var (
	truths     = []string{"verdadeiro", "falso", "true", "false"}
	beginnings = []string{
		"jan", "fev", "feb", "mar", "abr", "apr", "mai", "may", "jun", "jul", "ago", "aug", "set", "sep", "out", "oct", "nov", "dez", "dec", "r$",
	}
)

// misread says whether Excel might take a text for a number, a date or a truth value. It may say so of one that Excel would not; that does no harm.
func misread(text string) bool {
	lower := strings.ToLower(strings.TrimSpace(text))
	if !strings.ContainsFunc(lower, unicode.IsDigit) {
		return slices.Contains(truths, lower)
	}
	first, _ := utf8.DecodeRuneInString(lower)
	begins := func(with string) bool { return strings.HasPrefix(lower, with) }
	return !unicode.IsLetter(first) || slices.ContainsFunc(beginnings, begins)
}
