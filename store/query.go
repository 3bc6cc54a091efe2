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
	if err := OneStatement(query); err != nil {
		return nil, err
	}
	rows, err := m.read.QueryxContext(ctx, query)
	if err != nil {
		return nil, queryError(m.path, err)
	}
	return newResult(rows, m.path)
}

// OneStatement returns [ErrNotAQuery] unless a text holds exactly one statement.
func OneStatement(query string) error {
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

// ErrTooLarge: the rows of a statement do not fit into the file that [Mirror.ComputeRows] keeps them in.
var ErrTooLarge = errors.New("its rows are too large")

const (
	maxComputed      = 1 << 30  // bytes of that file
	maxComputedValue = 64 << 20 // of one text or row
	pageSize         = 4096     // SQLite's, of new files
)

// Computed are the rows of a statement, in a temporary file.
type Computed struct {
	conn *sqlx.Conn
	path string
}

// ComputeRows runs one statement that reads, and gives f its rows. They are those of one moment, and lie
// in a temporary file: while f uses them, no reader holds a state of the mirror. When ctx ends, the
// statement is interrupted wherever it is; Query could be interrupted only before its first row.
//
// Errors: [ErrNotAQuery], [ErrTooLarge].
func (m *Mirror) ComputeRows(ctx context.Context, query string, f func(*Computed) error) (err error) {
	if err := OneStatement(query); err != nil {
		return err
	}
	db, err := sqlx.Open("sqlite", sqlitefile.DSN(m.path, []string{"busy_timeout(10000)", "temp_store(FILE)", "cache_size(-8192)"})+"&mode=ro")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Connx(ctx)
	if err != nil {
		return fmt.Errorf("open %s a second time: %w", m.path, sqlitefile.Explain(m.path, err))
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	// The temporary file takes its limits from the moment that it is there.
	limits := fmt.Sprintf(`CREATE TEMP TABLE first (x); PRAGMA temp.journal_mode = OFF; PRAGMA temp.cache_size = -8192;
		PRAGMA temp.max_page_count = %d`, maxComputed/pageSize)
	if _, err := conn.ExecContext(ctx, limits); err != nil {
		return err
	}
	if _, err := sqlite.Limit(conn.Conn, sqlite3.SQLITE_LIMIT_LENGTH, maxComputedValue); err != nil {
		return err
	}
	if err := authorize(conn, readsIntoTemp); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, "CREATE TEMP TABLE computed AS "+query)
	switch {
	case refused(err):
		return fmt.Errorf("%w: the mirror can only be read from here (%w)", ErrNotAQuery, err)
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(sqlitefile.Explain(m.path, err), sqlitefile.ErrDiskFull):
		return fmt.Errorf("%w: more than %d MiB, or than the directory of temporary files has room for", ErrTooLarge, maxComputed>>20)
	case err != nil:
		return err
	}
	return f(&Computed{conn: conn, path: m.path})
}

// Rows yields the rows in the order of the statement, as [Result.Rows] does.
func (c *Computed) Rows(ctx context.Context) iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		rows, err := c.conn.QueryxContext(context.WithoutCancel(ctx), "SELECT * FROM temp.computed ORDER BY rowid")
		if err != nil {
			yield(nil, sqlitefile.Explain(c.path, err))
			return
		}
		defer rows.Close()
		for rows.Next() {
			values, err := rows.SliceScan()
			if err = errors.Join(err, ctx.Err()); !yield(values, err) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(nil, sqlitefile.Explain(c.path, err))
		}
	}
}
