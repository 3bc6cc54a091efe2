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
		return conn.GetContext(ctx, &s.layout, "PRAGMA schema_version")
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("begin a snapshot: %w", sqlitefile.Explain(m.path, err)), s.Close())
	}
	return s, nil
}

// Layout is a number that changes whenever the whole file was rewritten or its tables or indices
// changed: after a migration, and after forget.Person and marts.Rebuild, which follow changes of records
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
	return errors.Join(f(), s.guard(readsOnly))
}

// guard sets the connection's authorizer.
func (s *Snapshot) guard(with sqlite.AuthorizerFn) error {
	return s.conn.Raw(func(conn any) error {
		registerer, ok := conn.(sqlite.AuthorizerRegisterer)
		if !ok {
			return fmt.Errorf("the SQLite driver's %T takes no authorizer", conn)
		}
		return registerer.RegisterAuthorizer(with)
	})
}
