package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"solarmirror/store/sqlitefile"
)

// asidePragmas are those of a connection for work that sorts a lot. Unlike the writer it sorts in a temporary file, a cache full at a time: in
// memory, the entries of an index over a million records would take several hundred megabytes.
var asidePragmas = []string{"busy_timeout(10000)", "synchronous(NORMAL)", "wal_autocheckpoint(4000)", "cache_size(-8192)", "temp_store(FILE)"}

// Aside runs f with the mirror on another writing connection, which is closed at its end. Other writers wait meanwhile, readers do not.
func (m *Mirror) Aside(ctx context.Context, f func(*Mirror) error) (err error) {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-m.turn:
	}
	defer func() { m.turn <- struct{}{} }()
	// The writer's cache would lie idle.
	if _, err := m.conn.ExecContext(ctx, "PRAGMA shrink_memory"); err != nil {
		return sqlitefile.Explain(m.path, err)
	}
	db := sqlx.NewDb(sql.OpenDB(writerConnector{sqlitefile.DSN(m.path, asidePragmas)}), sqlitefile.BindLabel)
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	conn, err := db.Connx(ctx)
	if err != nil {
		return fmt.Errorf("open %s a second time: %w", m.path, sqlitefile.Explain(m.path, err))
	}
	b := &Mirror{
		path: m.path, now: m.now, log: m.log, zone: m.zone, power: m.power, model: m.model, read: m.read,
		write: db, conn: conn, turn: make(chan struct{}, 1), statements: map[string]*sqlx.Stmt{},
	}
	b.turn <- struct{}{}
	defer func() { err = errors.Join(err, b.closeStatements(), conn.Close()) }()
	return f(b)
}
