package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"solarmirror/store/sqlitefile"
)

// ErrNotAQuery: Query was given something that is not exactly one reading statement.
var ErrNotAQuery = errors.New("not a query")

// ResultColumn is one column of a query's result.
type ResultColumn struct {
	Name string
	Type string // declared type; "" for an expression
}

// Result is the answer to a query, read row by row. Close it.
type Result struct {
	Columns []ResultColumn
	rows    *sqlx.Rows
	path    string
}

// ColumnRef names a column of a table.
type ColumnRef struct{ Table, Column string }

// Query runs one statement that reads. It cannot change this database or any other file, whatever the statement: both the
// file and the connection are read-only, and an authorizer lets nothing through but reading. [ErrNotAQuery] tells
// that it was turned down, or that the text holds no statement or several.
func (m *Mirror) Query(ctx context.Context, query string) (*Result, error) {
	if err := checkOneStatement(query); err != nil {
		return nil, err
	}
	rows, err := m.read.QueryxContext(ctx, query)
	if err != nil {
		return nil, queryError(m.path, err)
	}
	return newResult(rows, m.path)
}

func checkOneStatement(query string) error {
	switch n := countStatements(query); {
	case n == 0:
		return fmt.Errorf("%w: the text holds no statement", ErrNotAQuery)
	case n > 1:
		return fmt.Errorf("%w: one statement at a time, please; this is %d", ErrNotAQuery, n)
	}
	return nil
}

// queryError explains the driver's error about a statement.
func queryError(path string, err error) error {
	if refused(err) {
		return fmt.Errorf("%w: the mirror can only be read from here (%w)", ErrNotAQuery, err)
	}
	return fmt.Errorf("query: %w", sqlitefile.Explain(path, err))
}

func newResult(rows *sqlx.Rows, path string) (*Result, error) {
	result := &Result{rows: rows, path: path}
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("query: read the columns: %w", err), rows.Close())
	}
	for _, t := range types {
		result.Columns = append(result.Columns, ResultColumn{Name: t.Name(), Type: t.DatabaseTypeName()})
	}
	return result, nil
}

// Rows yields the rows, or the error that ended them. A value is nil, an int64, a float64, a string or a []byte: dates and
// timestamps are the stored text, booleans 0 or 1. A row is the caller's to keep.
func (r *Result) Rows() iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		for r.rows.Next() {
			values, err := r.rows.SliceScan()
			if err != nil {
				yield(nil, fmt.Errorf("query: read a row: %w", err))
				return
			}
			for i, v := range values {
				values[i] = asStored(v, r.Columns[i].Type)
			}
			if !yield(values, nil) {
				return
			}
		}
		if err := r.rows.Err(); err != nil {
			yield(nil, queryError(r.path, err))
		}
	}
}

// Close frees the connection the result is read from.
func (r *Result) Close() error { return r.rows.Close() }

// asStored undoes the driver's parsing of columns declared DATE or TIMESTAMP, which it offers no way to turn off. A
// TIMESTAMP has one form and a DATE another, so formatting gives back the stored text.
func asStored(v any, declared string) any {
	t, ok := v.(time.Time)
	switch {
	case !ok:
		return v
	case declared == "DATE":
		return t.Format(time.DateOnly)
	}
	return t.Format(sqlitefile.TimeLayout)
}

// countStatements counts the statements of an SQL text. Semicolons inside quotes and comments do not count, and
// nothing but white space and comments is no statement.
func countStatements(text string) int {
	n, inside := 0, false
	for len(text) > 0 {
		size, content := token(text)
		switch {
		case text[0] == ';':
			inside = false
		case content && !inside:
			inside = true
			n++
		}
		text = text[size:]
	}
	return n
}

// onlyStatement returns the statement of a text that holds one, without its semicolon.
func onlyStatement(text string) string {
	for rest, inside := text, false; len(rest) > 0; {
		size, content := token(rest)
		if rest[0] == ';' && inside {
			return text[:len(text)-len(rest)]
		}
		if rest[0] == ';' {
			text = rest[size:]
		}
		inside = inside || content && rest[0] != ';'
		rest = rest[size:]
	}
	return text
}

// token measures what text begins with: a quoted name or string, a comment, or one byte. content is false for white
// space and comments.
func token(text string) (size int, content bool) {
	switch c := text[0]; {
	case strings.HasPrefix(text, "--"):
		return through(text, 2, "\n"), false
	case strings.HasPrefix(text, "/*"):
		return through(text, 2, "*/"), false
	case c == '\'' || c == '"' || c == '`':
		return through(text, 1, text[:1]), true
	case c == '[':
		return through(text, 1, "]"), true
	default:
		return 1, !strings.ContainsRune(" \t\r\n\f", rune(c))
	}
}

// through returns the length of text up to and with the first end after skip bytes, or all of it.
func through(text string, skip int, end string) int {
	i := strings.Index(text[skip:], end)
	if i < 0 {
		return len(text)
	}
	return skip + i + len(end)
}

// refused says whether the driver turned a statement down because it would do more than read.
func refused(err error) bool {
	var driver *sqlite.Error
	if !errors.As(err, &driver) {
		return false
	}
	code := driver.Code() & 0xff
	return code == sqlite3.SQLITE_AUTH || code == sqlite3.SQLITE_READONLY
}
