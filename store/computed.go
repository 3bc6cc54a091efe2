package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"

	"github.com/jmoiron/sqlx"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"solarmirror/store/sqlitefile"
)

// ErrTooLarge: the rows of a statement do not fit into the file that [Mirror.Compute] keeps them in.
var ErrTooLarge = errors.New("its rows are too large")

const (
	maxComputed      = 1 << 30  // bytes of that file
	maxComputedValue = 64 << 20 // of one text or row
)

// Computed are the rows of a statement, in a temporary file.
type Computed struct {
	conn *sqlx.Conn
	path string
}

// Compute runs one statement that reads, and gives f its rows. They are those of one moment, and lie
// in a temporary file: while f uses them, no reader holds a state of the mirror. When ctx ends, the
// statement is interrupted wherever it is; Query could be interrupted only before its first row.
//
// Errors: [ErrNotAQuery], [ErrTooLarge].
func (m *Mirror) Compute(ctx context.Context, query string, f func(*Computed) error) (err error) {
	if err := OneStatement(query); err != nil {
		return err
	}
	connector, err := sqlite.NewConnector(sqlitefile.DSN(m.path, []string{
		"busy_timeout(10000)", "temp_store(FILE)", "cache_size(-8192)", "temp.cache_size(-8192)", "temp.journal_mode(OFF)",
		fmt.Sprintf("temp.max_page_count(%d)", maxComputed/4096),
	}) + "&mode=ro")
	if err != nil {
		return err
	}
	db := sqlx.NewDb(sql.OpenDB(guarded{Connector: connector, guard: readsAndComputes}), sqlitefile.BindLabel)
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Connx(ctx)
	if err != nil {
		return fmt.Errorf("open %s a second time: %w", m.path, sqlitefile.Explain(m.path, err))
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if _, err := sqlite.Limit(conn.Conn, sqlite3.SQLITE_LIMIT_LENGTH, maxComputedValue); err != nil {
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

// readsAndComputes lets a statement write temporary tables, besides reading.
func readsAndComputes(action sqlite.AuthorizerActionCode, arg1, arg2, database, view string) sqlite.AuthorizerReturnCode {
	if database == "temp" && action != sqlite.AuthPragma {
		return sqlite.AuthorizerOK
	}
	return ReadsOnly(action, arg1, arg2, database, view)
}
