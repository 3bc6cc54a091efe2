package export

import (
	"bufio"
	"cmp"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/xuri/excelize/v2"

	"solarmirror/schema"
	"solarmirror/store/sqlitefile"
)

// What Excel can hold.
const (
	maxCellUnits = excelize.TotalCellChars // UTF-16 code units of a text
	maxInteger   = 1e15                    // Excel shows 15 digits; of a longer key the last ones would be zeros
	maxNumber    = 9.99999999999999e307
	minNumber    = 2.2250738585072014e-308
)

// Widths of columns, in characters.
const (
	minWidth = 8
	maxWidth = 60
)

// How values are shown.
const (
	dateFormat     = "dd/mm/yyyy"
	timeFormat     = "dd/mm/yyyy hh:mm:ss"
	integerFormat  = "0"
	countFormat    = "#,##0"
	tenthsFormat   = "#,##0.0"
	moneyFormat    = "#,##0.00"
	fractionFormat = "0.0%"
	percentFormat  = `0.0"%"`
)

// formats is how numbers of a unit are shown; a number of another unit is shown with the decimals
// that it has.
var formats = map[string]string{
	schema.NotStated:     moneyFormat, // in marts, money
	"final_value per Wp": moneyFormat,
	"kWp":                moneyFormat,
	"Wp":                 tenthsFormat,
	"days":               tenthsFormat,
	"hours":              tenthsFormat,
	"fraction":           fractionFormat,
	"percent":            percentFormat,
}

func formatOf(c schema.Column) string {
	switch c.Type {
	case schema.Date:
		return dateFormat
	case schema.Timestamp:
		return timeFormat
	case schema.Real:
		return formats[c.Unit]
	case schema.BigInt, schema.Surrogate:
		if c.Unit == "" {
			return integerFormat
		}
		return countFormat
	}
	return ""
}

// sheetColumn is a column of a table in a workbook.
type sheetColumn struct {
	schema.Column
	letters string
	format  string // "" shows numbers with their own decimals
	style   string // attribute of a cell in this format
	asText  string // attribute of a text that Excel would take for a formula if somebody edited it
	toLocal bool   // times are UTC in the mirror
	widest  int
	cut     int // texts that were too long
}

func (b *book) newColumn(c schema.Column, index int) (sheetColumn, error) {
	column := sheetColumn{Column: c, format: formatOf(c), toLocal: c.Type == schema.Timestamp && c.Unit == "UTC"}
	var err error
	if column.letters, err = excelize.ColumnNumberToName(index + 1); err != nil {
		return column, err
	}
	if column.format != "" {
		style, err := b.file.NewStyle(&excelize.Style{CustomNumFmt: &column.format})
		if err != nil {
			return column, err
		}
		column.style = fmt.Sprintf(` s="%d"`, style)
	}
	prefixed, err := b.file.NewStyle(&excelize.Style{Alignment: &excelize.Alignment{Horizontal: "left"}})
	if err != nil {
		return column, err
	}
	yes := true
	b.file.Styles.CellXfs.Xf[prefixed].QuotePrefix = &yes
	column.asText = fmt.Sprintf(` s="%d"`, prefixed)
	return column, nil
}

// measure widens the column for a value.
func (c *sheetColumn) measure(value any) {
	switch v := value.(type) {
	case string:
		switch c.Type {
		case schema.Date:
			c.widen(dateFormat)
		case schema.Timestamp:
			c.widen(timeFormat)
		default:
			for line := range strings.Lines(v) {
				c.widen(line)
			}
		}
	case float64:
		_, decimals, _ := strings.Cut(strings.TrimRight(c.format, `%"`), ".")
		c.widen(grouped(v, cmp.Or(len(decimals), 4)))
	case int64:
		if c.Type == schema.Boolean {
			c.widen("VERDADEIRO")
		} else {
			c.widen(grouped(float64(v), 0))
		}
	case []byte:
		c.widen(hex.EncodeToString(v))
	}
}

// grouped is about what Excel shows of a number.
func grouped(v float64, decimals int) string {
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	return text + strings.Repeat(".", len(text)/4)
}

func (c *sheetColumn) widen(text string) { c.widest = max(c.widest, utf8.RuneCountInString(text)) }

func (c *sheetColumn) width() float64 { return float64(min(max(c.widest+1, minWidth), maxWidth)) }

// rowWriter writes the rows of a sheet.
type rowWriter struct {
	columns []sheetColumn
	zone    *time.Location
	out     *bufio.Writer // remembers its first error
	number  int           // of the row written last, from 1
	buffer  []byte
}

func (w *rowWriter) write(values []any) error {
	w.number++
	w.put(`<row r="`, strconv.Itoa(w.number), `">`)
	for i, v := range values {
		w.cell(&w.columns[i], v)
	}
	_, err := w.out.WriteString("</row>")
	return err
}

func (w *rowWriter) put(texts ...string) {
	for _, t := range texts {
		_, _ = w.out.WriteString(t)
	}
}

// cell writes a value as what its column declares, if Excel can hold it as that, or else as a text.
// SQLite would let another program store anything.
func (w *rowWriter) cell(c *sheetColumn, value any) {
	switch v := value.(type) {
	case int64:
		switch {
		case c.Type == schema.Boolean && (v == 0 || v == 1):
			w.value(c, ` t="b"`, strconv.FormatInt(v, 10))
		case -maxInteger < v && v < maxInteger:
			w.value(c, c.style, strconv.FormatInt(v, 10))
		default:
			w.text(c, strconv.FormatInt(v, 10))
		}
	case float64:
		text := strconv.FormatFloat(v, 'g', -1, 64)
		if size := math.Abs(v); v == 0 || size >= minNumber && size <= maxNumber {
			w.value(c, c.style, text)
		} else {
			w.text(c, text)
		}
	case string:
		if days, ok := w.serial(c, v); ok {
			w.value(c, c.style, strconv.FormatFloat(days, 'f', -1, 64))
		} else {
			w.text(c, v)
		}
	case []byte:
		w.text(c, hex.EncodeToString(v))
	}
}

func (w *rowWriter) value(c *sheetColumn, attributes, value string) {
	w.put(`<c r="`, c.letters, strconv.Itoa(w.number), `"`, attributes, `><v>`, value, `</v></c>`)
}

// Days are counted so that 1 is 1900-01-01 and a 29 February follows that never was; before
// 1 March programs do not agree.
var (
	dayZero  = time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC).UnixMilli()
	firstDay = time.Date(1900, 3, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	endOfAll = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
)

// serial returns the number of a date or time that Excel can hold.
func (w *rowWriter) serial(c *sheetColumn, text string) (float64, bool) {
	var at time.Time
	var err error
	switch c.Type {
	case schema.Date:
		at, err = time.Parse(time.DateOnly, text)
	case schema.Timestamp:
		at, err = sqlitefile.ParseTime(text)
	default:
		return 0, false
	}
	shown := at.UnixMilli()
	if c.toLocal {
		_, seconds := at.In(w.zone).Zone()
		shown += int64(seconds) * 1000
	}
	if err != nil || shown < firstDay || shown >= endOfAll {
		return 0, false
	}
	return float64(shown-dayZero) / (secondsPerDay * 1000), true
}

// text writes a text. Excel computes nothing of it, whatever it begins with.
func (w *rowWriter) text(c *sheetColumn, text string) {
	text, cut := fitting(text)
	if cut {
		c.cut++
	}
	attributes := ` t="inlineStr"`
	if strings.ContainsRune(startsFormula, firstRune(text)) {
		attributes += c.asText
	}
	w.put(`<c r="`, c.letters, strconv.Itoa(w.number), `"`, attributes, `><is><t`)
	if strings.TrimSpace(text) != text {
		w.put(` xml:space="preserve"`)
	}
	w.put(`>`)
	w.buffer = appendXML(w.buffer[:0], text)
	_, _ = w.out.Write(w.buffer)
	w.put(`</t></is></c>`)
}

func firstRune(text string) rune {
	r, _ := utf8.DecodeRuneInString(text)
	return r
}

// fitting cuts a text to what a cell holds, between characters.
func fitting(text string) (fits string, cut bool) {
	if len(text) <= maxCellUnits {
		return text, false
	}
	units := 0
	for i, r := range text {
		if units += utf16.RuneLen(r); units > maxCellUnits {
			return text[:i], true
		}
	}
	return text, false
}

// appendXML appends a text as the content of an element. What XML cannot hold, or would change, is
// written as in _x000D_, as ECMA-376 has it (ST_Xstring); so a text that looks like that has its
// underscore written in this way.
func appendXML(out []byte, text string) []byte {
	for i, r := range text {
		switch {
		case r == '&':
			out = append(out, "&amp;"...)
		case r == '<':
			out = append(out, "&lt;"...)
		case r == '>':
			out = append(out, "&gt;"...)
		case r < ' ' && r != '\t' && r != '\n', r == '\ufffe', r == '\uffff', r == '_' && isEscape(text[i:]):
			out = fmt.Appendf(out, "_x%04X_", r)
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}

// isEscape reports whether a text begins as an escape does. Its last underscore may be that of the
// next escape.
func isEscape(text string) bool {
	const digits = "0123456789abcdefABCDEF"
	return len(text) >= 6 && text[1] == 'x' && strings.Trim(text[2:6], digits) == ""
}
