package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"solarmirror/store/sqlitefile"
)

// sidePragmas are the pragmas of a side connection. temp_store is FILE, so that SQLite sorts in a
// temporary file, one cache full at a time. In memory, sorting the entries of an index over a
// million records would take several hundred megabytes.
var sidePragmas = []string{"busy_timeout(10000)", "synchronous(NORMAL)", "wal_autocheckpoint(4000)", "cache_size(-8192)", "temp_store(FILE)"}

// WithSideConnection opens a second writing connection for work that sorts a lot, runs f on it and
// closes it. Other writers of this process wait until f returns; readers do not wait.
func (m *Mirror) WithSideConnection(ctx context.Context, f func(*Mirror) error) (err error) {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-m.turn:
	}
	defer func() { m.turn <- struct{}{} }()
	// The writer does not use its page cache while f runs.
	if _, err := m.conn.ExecContext(ctx, "PRAGMA shrink_memory"); err != nil {
		return sqlitefile.Explain(m.path, err)
	}
	db := sqlx.NewDb(sql.OpenDB(writerConnector{sqlitefile.DSN(m.path, sidePragmas)}), sqlitefile.BindLabel)
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	conn, err := db.Connx(ctx)
	if err != nil {
		return fmt.Errorf("open %s a second time: %w", m.path, sqlitefile.Explain(m.path, err))
	}
	side := &Mirror{
		path: m.path, now: m.now, log: m.log, zone: m.zone, power: m.power, deals: m.deals, model: m.model, read: m.read,
		write: db, conn: conn, turn: make(chan struct{}, 1), statements: map[string]*sqlx.Stmt{},
	}
	side.turn <- struct{}{}
	defer func() { err = errors.Join(err, side.closeStatements(), conn.Close()) }()
	return f(side)
}
