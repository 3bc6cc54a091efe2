package export

import (
	"io"
	"strings"

	"solarmirror/schema"
)

// Format is a form of files.
type Format struct {
	Name      string // as the manifest has it
	extension string
	months    bool // tables are cut into months
	encoder   func(io.Writer, *schema.Table) encoder
}

// encoder writes the rows of one table to a file.
type encoder interface {
	// row takes the values of one row, in the order of the table's columns: nil, int64, float64, string or []byte. Dates and times
	// are text as the mirror has it. The slice is the caller's again afterwards, the values are not.
	row(values []any) error
	close() error
}

var (
	// Parquet is typed, compressed with zstd and cut into months.
	Parquet = Format{Name: "parquet", extension: ".parquet", months: true, encoder: newParquetEncoder}
	// CSV is RFC 4180: commas, quotes where needed, lines that end in CR LF. NULL is empty, the empty text is "", a BOOLEAN 0 or 1, a BLOB hexadecimal,
	// a number has a point, and dates and times stand as in the mirror.
	CSV = Format{Name: "csv", extension: ".csv", encoder: newCSVEncoder(plainStyle{}, Names)}
	// ExcelBR is CSV that a Brazilian Excel opens with a double click: a byte order mark, semicolons, decimal commas. Times are cut
	// to the second, since Excel takes "10:30:00.000" for text there. A text that Excel would take for a number, a date or a formula is written as
	// ="00123", which it shows as 00123: leading zeros survive, and nothing is run. Excel allows that for up to 255 characters on one line; a
	// longer text that begins like a formula gets an apostrophe before it.
	ExcelBR = Format{Name: "csv excel-br", extension: ".csv", encoder: newCSVEncoder(excelStyle{}, Names)}
	// ExcelBRLabels is ExcelBR with the columns' Portuguese labels as headings.
	ExcelBRLabels = Format{Name: "csv excel-br with labels", extension: ".csv", encoder: newCSVEncoder(excelStyle{}, Labels)}
)

// Headers are the headings of columns.
type Headers int

// The headings.
const (
	Names  Headers = iota // of the columns in the mirror
	Labels                // for people, in Portuguese
)

// of returns the headings of a table's columns, all different. A column without a label, or with
// one that another has too, shows its name.
func (h Headers) of(t *schema.Table) []string {
	headings := t.ColumnNames()
	if h == Names {
		return headings
	}
	count := map[string]int{}
	for _, c := range t.Columns {
		count[strings.ToLower(c.Label)]++
	}
	for i, c := range t.Columns {
		switch {
		case c.Label == "":
		case count[strings.ToLower(c.Label)] > 1:
			headings[i] = c.Label + " (" + c.Name + ")"
		default:
			headings[i] = c.Label
		}
	}
	return headings
}
