// Package schema is the mirror's model, written down once as data.
//
// A [Table] lists its columns; a [Column] says where in the platform's record its value stands (a
// JSON Pointer), its declared type, and the words people need: a description, a unit, a Portuguese
// label, whether it is personal data. Everything else derives from these declarations: the DDL and
// additive migrations (store), the flattener's plan and its drift report (sync/flatten), the data
// dictionary (_columns) and the documentation (schema commands). A new platform field is one added
// line here, masked in published copies unless that line says public, and its description in
// Portuguese (see [Language]). A [Stream] is data as well: which list of the platform fills which
// table, and how it is asked for.
//
// # Shape of the mirror
//
// Two root tables, requests and equipments, hold one row per record of the platform, keyed by an
// integer surrogate key (random text keys in child tables cost two to three times as much) and
// unique by a natural key of two columns: (request_type, id) and (type, product_code). Under a root
// hang tables of three shapes:
//
//   - [One]: an object of the record. A row exists exactly when the platform sent an object there.
//   - [Many]: an array of objects, or of plain strings. Rows carry the 1-based position of their
//     element.
//   - [Values]: several arrays of numbers gathered in one table, told apart by a name.
//
// Child rows are written together with their root row, in one transaction. A child table's key
// starts with the root's surrogate key, so a record's rows lie side by side on disk (WITHOUT
// ROWID). Foreign keys are declared, because tools infer joins from them, but not enforced while
// writing: the writer writes whole records, and a check per row would cost a seventh of the load.
//
// The platform only ever shows the present. What analysts need of the past stands in [History]
// tables, which follow some columns of a root and of what hangs under it: a row is an interval in
// which they did not change, the open one has valid_to NULL, and the intervals of a key follow each
// other without gaps for as long as the platform lists it. They are written with the record, and
// never when only other columns changed.
//
// [Mart] tables, named bi_*, hold the same facts once more in the form in which questions are asked
// of them. They can be built from the other tables at any time. One whose groups may be unknown has
// no primary key: NULL stands for the unknown group.
//
// Tables whose name starts with an underscore are the ledger: what ran, up to when the mirror is
// complete, what was rejected, what drifted. They have no place in the platform's records.
//
// # Types
//
// Declared types are exactly those of the Type constants. ODBC, Metabase and DuckDB map them well,
// whereas INTEGER columns overflow at 32 bits over ODBC, and DECIMAL and STRICT tables break it.
// Values are guarded by CHECK where that is cheap.
package schema

import (
	"slices"
	"strings"
)

// Version numbers the model; it grows by one with every change of a table, which
// testdata/ddl.golden holds it to. The database remembers the version that last wrote it, and
// refuses a binary that knows less.
const Version = 7

// Type is a column's declared SQL type.
type Type string

// The only declared types in the mirror.
const (
	Text      Type = "TEXT"
	Real      Type = "REAL"
	BigInt    Type = "BIGINT"
	Boolean   Type = "BOOLEAN"   // 0 or 1
	Date      Type = "DATE"      // text, YYYY-MM-DD
	Timestamp Type = "TIMESTAMP" // text, YYYY-MM-DD HH:MM:SS.SSS, UTC unless the column is Local
	Surrogate Type = "INTEGER"   // an INTEGER PRIMARY KEY of our own making
	Blob      Type = "BLOB"
)

// NotStated is the unit of amounts whose unit the platform's interface does not give.
const NotStated = "not stated by the platform"

// Shape says how a table's rows relate to the JSON of a record.
type Shape int

// The shapes of a table.
const (
	Root    Shape = iota // one row per record
	One                  // one row when the record has an object at Path
	Many                 // one row per element of the array at Path
	Values               // one row per number of the arrays in Arrays
	History              // intervals of what records said; see Sources
	Mart                 // derived from other tables
	Ledger               // not fed by records
)

// Privacy says what a masked copy holds of a column. All but Public columns count as personal data.
type Privacy int

// The privacies. Every column of the mirror declares one of the last three.
const (
	Undeclared Privacy = iota // nothing: a column nobody thought about is masked
	Personal                  // nothing
	Counted                   // a stable pseudonym: people or companies are counted and joined by it
	Public                    // its values: they can hold no personal data
)

// Column is one column of a table.
type Column struct {
	Name string
	Type Type
	// Path is the JSON Pointer of the value, relative to the table's own element; "" when no field
	// feeds the column. In a Many table over plain strings the one value column has Path ".".
	Path    string
	Doc     string // meaning, in English; Language.Text has it in others
	Unit    string // "" where a unit makes no sense, NotStated where the platform does not say
	Label   string // for people, in Portuguese
	Privacy Privacy
	Local   bool   // a Timestamp without zone at the source, kept as local text
	Not     bool   // NOT NULL
	Clause  string // further SQL: CHECK, DEFAULT, REFERENCES
}

// Array is one source of a Values table.
type Array struct {
	Path string // JSON Pointer of the array of numbers, from the root
	Name string // what the table's name column says
}

// Table is one table of the mirror.
type Table struct {
	Name    string
	Doc     string
	Label   string
	Shape   Shape
	Path    string // JSON Pointer of the object or array, relative to the parent's element
	Columns []Column
	Key     []string   // primary key columns
	Unique  []string   // the natural key of a Root: always two columns
	Indices [][]string // secondary indices; see IndexDDL
	Arrays  []Array    // of a Values table
	// Bare is the field a plain string stands for where the array at Path holds one in place of an
	// object: "x" is read as {Bare: "x"}. "" when a plain string has no meaning there.
	Bare     string
	Of       *Table   // of a History table: the root whose records it follows
	Sources  []Source // of a History table
	Children []*Table
}

// Column returns the named column, or nil.
func (t *Table) Column(name string) *Column {
	for i := range t.Columns {
		if t.Columns[i].Name == name {
			return &t.Columns[i]
		}
	}
	return nil
}

// ColumnNames returns the names of all columns, in order.
func (t *Table) ColumnNames() []string {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = c.Name
	}
	return names
}

// Walk calls f for the table and everything under it, parents first.
func (t *Table) Walk(f func(*Table)) {
	f(t)
	for _, c := range t.Children {
		c.Walk(f)
	}
}

// Tables returns the table and everything under it, parents first.
func (t *Table) Tables() []*Table {
	var all []*Table
	t.Walk(func(t *Table) { all = append(all, t) })
	return all
}

// All returns every table of the mirror: the roots with what hangs under them, the history, the
// marts, then the ledger.
func All() []*Table {
	var all []*Table
	for _, r := range Roots() {
		all = append(all, r.Tables()...)
	}
	return slices.Concat(all, HistoryTables, MartTables, LedgerTables)
}

// RootOf returns the root that a table of records hangs under; nil for other tables.
func RootOf(t *Table) *Table {
	for _, root := range Roots() {
		if slices.Contains(root.Tables(), t) {
			return root
		}
	}
	return nil
}

// Find returns the named table, or nil.
func Find(name string) *Table {
	for _, t := range All() {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// Rows are rows of one table on their way into it: Values holds them one after another, each as
// long as the table has columns and in the columns' order. A value is nil, a string, an int64, a
// float64 or a []byte.
type Rows struct {
	Table  *Table
	Values []any
}

// Len returns the number of rows.
func (r *Rows) Len() int { return len(r.Values) / len(r.Table.Columns) }

// Row returns the i-th row.
func (r *Rows) Row(i int) []any {
	w := len(r.Table.Columns)
	return r.Values[i*w : (i+1)*w : (i+1)*w]
}

// oddNames are the JSON names whose column name does not follow from the rule.
var oddNames = map[string]string{
	"lenght":       "length", // the platform's own spelling
	"baseprice":    "base_price",
	"last4digits":  "last4_digits",
	"first6digits": "first6_digits",
}

// SnakeCase turns a JSON name or pointer into a column name: words are split where a capital
// follows a small letter, where a word follows an acronym, and around digits; the steps of a
// pointer are joined by sep.
func SnakeCase(pointer, sep string) string {
	var out []string
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if odd, ok := oddNames[step]; ok {
			out = append(out, odd)
			continue
		}
		out = append(out, snake(step))
	}
	return strings.Join(out, sep)
}

func snake(name string) string {
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		if i > 0 && startsWord(name, i) {
			b.WriteByte('_')
		}
		if isUpper(c) {
			c += 'a' - 'A'
		}
		b.WriteByte(c)
	}
	return b.String()
}

func startsWord(name string, i int) bool {
	prev, c := name[i-1], name[i]
	switch {
	case isDigit(c) != isDigit(prev):
		return true
	case !isUpper(c):
		return false
	case !isUpper(prev):
		return true
	}
	return i+1 < len(name) && !isUpper(name[i+1]) && !isDigit(name[i+1])
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
