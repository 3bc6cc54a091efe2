package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/jmoiron/sqlx"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"solarmirror/store/sqlitefile"
)

// Snapshot is one state of the mirror, which stays as it is however much is written meanwhile: for those who read many tables and want
// them to fit each other. While it is open the WAL cannot be emptied and grows with every write. Close it.
type Snapshot struct {
	conn   *sqlx.Conn
	path   string
	layout int64
	mirror *Mirror // closed with the snapshot; nil when it is the caller's
}

// Snapshot begins one. Like [Mirror.Query] it can do nothing but read.
func (m *Mirror) Snapshot(ctx context.Context) (*Snapshot, error) {
	conn, err := m.read.Connx(ctx)
	if err != nil {
		return nil, fmt.Errorf("begin a snapshot: %w", sqlitefile.Explain(m.path, err))
	}
	s := &Snapshot{conn: conn, path: m.path}
	// BEGIN alone sees nothing yet; the first reading does.
	err = s.unguarded(func() error {
		if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
			return err
		}
		return conn.GetContext(ctx, &s.layout, "SELECT schema_version - (SELECT coalesce(max(own_layouts), 0) FROM _meta) FROM pragma_schema_version")
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("begin a snapshot: %w", sqlitefile.Explain(m.path, err)), s.Close())
	}
	return s, nil
}

// Layout is a number that changes whenever the whole file was rewritten or its tables or indices
// changed, those of own marts left out: after a migration, and after forget.Person and marts.Rebuild, which follow changes of records
// without a trace in their _changed_at.
func (s *Snapshot) Layout() int64 { return s.layout }

// Query runs one statement that reads. One Result at a time may be open.
func (s *Snapshot) Query(ctx context.Context, query string, args ...any) (*Result, error) {
	rows, err := s.conn.QueryxContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("query: %w", sqlitefile.Explain(s.path, err))
	}
	return newResult(rows, s.path)
}

// SelectContext reads rows into a slice, as sqlx does.
func (s *Snapshot) SelectContext(ctx context.Context, dest any, query string, args ...any) error {
	return sqlitefile.Explain(s.path, s.conn.SelectContext(ctx, dest, query, args...))
}

// GetContext reads one row, as sqlx does.
func (s *Snapshot) GetContext(ctx context.Context, dest any, query string, args ...any) error {
	return sqlitefile.Explain(s.path, s.conn.GetContext(ctx, dest, query, args...))
}

// Close ends the snapshot.
func (s *Snapshot) Close() error {
	err := s.unguarded(func() error {
		_, err := s.conn.ExecContext(context.Background(), "ROLLBACK")
		if sqlitefile.NothingToRollBack(err) {
			return nil
		}
		return err
	})
	err = errors.Join(err, s.conn.Close())
	if s.mirror != nil {
		err = errors.Join(err, s.mirror.Close())
	}
	return err
}

// unguarded runs f without the connection's authorizer, which knows no transactions. Nothing of a caller's is run meanwhile.
func (s *Snapshot) unguarded(f func() error) error {
	if err := s.guard(nil); err != nil {
		return err
	}
	return errors.Join(f(), s.guard(ReadsOnly))
}

// guard sets the connection's authorizer.
func (s *Snapshot) guard(with sqlite.AuthorizerFn) error { return authorize(s.conn, with) }

// authorize has a connection ask an authorizer from now on; none when it is nil.
func authorize(conn *sqlx.Conn, authorizer sqlite.AuthorizerFn) error {
	return conn.Raw(func(conn any) error {
		registerer, ok := conn.(sqlite.AuthorizerRegisterer)
		if !ok {
			return fmt.Errorf("the SQLite driver's %T takes no authorizer", conn)
		}
		return registerer.RegisterAuthorizer(authorizer)
	})
}

// Limits of the statements of a [Confined].
const (
	MaxValue   = 64 << 10 // bytes of a text, a blob, a computed row, and of a statement
	maxColumns = 200      // of a result
)

// Confined is a [Snapshot] for statements of others, which may be meant to take all memory or time.
// SQLite stops between the steps of a statement, but not inside a function; the longest (trim of one
// large text by another) takes seconds with values of MaxValue and minutes with ten times as large
// ones. [sqlitefile.LimitMemory] bounds the memory of sorting and grouping.
type Confined struct{ *Snapshot }

// OpenConfined opens the file at path as [OpenReadOnly] does, on one connection. A name in double
// quotes that stands for no column is an error there; elsewhere SQLite takes it for a text.
func OpenConfined(ctx context.Context, path string) (*Confined, error) {
	// Without query_only, which refuses temporary tables too.
	mirror, err := openReadOnly(ctx, path, sqlitefile.DSN(path, []string{"busy_timeout(10000)", "temp_store(MEMORY)"})+"&mode=ro&_dqs=0")
	if err != nil {
		return nil, err
	}
	s, err := mirror.Snapshot(ctx)
	if err != nil {
		return nil, errors.Join(err, mirror.Close())
	}
	s.mirror = mirror
	for limit, value := range map[int]int{
		sqlite3.SQLITE_LIMIT_LENGTH: MaxValue, sqlite3.SQLITE_LIMIT_SQL_LENGTH: MaxValue, sqlite3.SQLITE_LIMIT_COLUMN: maxColumns,
	} {
		if _, err := sqlite.Limit(s.conn.Conn, limit, value); err != nil {
			return nil, errors.Join(fmt.Errorf("limit the statements on %s: %w", path, err), s.Close())
		}
	}
	return &Confined{s}, nil
}

// Reader is the connection of the snapshot.
func (c *Confined) Reader() sqlitefile.Querier { return c.conn }

// Answer is the Result of a statement and the columns of tables behind it.
type Answer struct {
	*Result
	Origins []ColumnRef // what each column of the Result is; zero for an expression
	Reads   []ColumnRef // every column that the statement reads, sorted
}

// Ask runs one SELECT, WITH or VALUES and returns at most so many of its rows, with the errors of
// [Mirror.Query]. The driver interrupts a statement only before its first row; so the rows are
// computed into a temporary table in memory, and ctx ends that wherever it is.
func (c *Confined) Ask(ctx context.Context, query string, most int) (*Answer, error) {
	if err := OneStatement(query); err != nil {
		return nil, err
	}
	answer, columns, err := c.prepare(query)
	if err != nil {
		return nil, queryError(c.path, err)
	}
	compute := fmt.Sprintf("CREATE TEMP TABLE answer AS SELECT * FROM (\n%s\n) LIMIT %d", onlyStatement(query), most)
	if err := c.guard(readsIntoTemp); err != nil {
		return nil, err
	}
	_, err = c.conn.ExecContext(ctx, compute)
	if err := errors.Join(err, c.guard(ReadsOnly)); err != nil {
		return nil, queryError(c.path, err)
	}
	rows, err := c.conn.QueryxContext(ctx, "SELECT * FROM temp.answer ORDER BY rowid")
	if err != nil {
		return nil, queryError(c.path, err)
	}
	if answer.Result, err = newResult(rows, c.path); err != nil {
		return nil, err
	}
	answer.Columns = columns
	return answer, nil
}

// readsIntoTemp lets a statement that only reads be written into a temporary table.
func readsIntoTemp(action sqlite.AuthorizerActionCode, arg1, arg2, db, by string) sqlite.AuthorizerReturnCode {
	if db == "temp" && action != sqlite.AuthPragma {
		return sqlite.AuthorizerOK
	}
	return ReadsOnly(action, arg1, arg2, db, by)
}

// prepare has SQLite say what a statement reads, and does not run it.
func (c *Confined) prepare(query string) (answer *Answer, columns []ResultColumn, err error) {
	read := map[ColumnRef]bool{}
	err = c.guard(func(action sqlite.AuthorizerActionCode, arg1, arg2, db, by string) sqlite.AuthorizerReturnCode {
		if action == sqlite.AuthRead && arg2 != "" { // without a column it is count(*)
			read[ColumnRef{arg1, arg2}] = true
		}
		return ReadsOnly(action, arg1, arg2, db, by)
	})
	if err != nil {
		return nil, nil, err
	}
	answer = &Answer{}
	err = c.conn.Raw(func(conn any) error {
		describer, ok := conn.(interface {
			ColumnInfo(query string) ([]sqlite.ColumnInfo, error)
		})
		if !ok {
			return fmt.Errorf("the SQLite driver's %T describes no columns", conn)
		}
		described, err := describer.ColumnInfo(query)
		for _, d := range described {
			columns = append(columns, ResultColumn{d.Name, d.DeclType})
			answer.Origins = append(answer.Origins, ColumnRef{d.TableName, d.OriginName})
		}
		return err
	})
	if err := errors.Join(err, c.guard(ReadsOnly)); err != nil {
		return nil, nil, err
	}
	answer.Reads = slices.SortedFunc(maps.Keys(read), func(a, b ColumnRef) int {
		return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Column, b.Column))
	})
	return answer, columns, nil
}
