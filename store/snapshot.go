package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"
	"modernc.org/sqlite"

	"solarmirror/store/sqlitefile"
)

// Snapshot is one state of the mirror, which stays as it is however much is written meanwhile: for those who read many tables and want
// them to fit each other. While it is open the WAL cannot be emptied and grows with every write. Close it.
type Snapshot struct {
	conn   *sqlx.Conn
	path   string
	layout int64
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
	return errors.Join(err, s.conn.Close())
}

// unguarded runs f without the connection's authorizer, which knows no transactions. Nothing of a caller's is run meanwhile.
func (s *Snapshot) unguarded(f func() error) error {
	if err := authorize(s.conn, nil); err != nil {
		return err
	}
	return errors.Join(f(), authorize(s.conn, ReadsOnly))
}

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
