package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
	"modernc.org/sqlite"

	"solarmirror/store/sqlitefile"
)

// sidePragmas are the pragmas of a side connection. temp_store is FILE, so that SQLite sorts in a
// temporary file, one cache full at a time. In memory, sorting the entries of an index over a
// million records would take several hundred megabytes.
var sidePragmas = []string{"busy_timeout(10000)", "synchronous(NORMAL)", "wal_autocheckpoint(4000)", "cache_size(-8192)", "temp_store(FILE)"}

// Side is a second writing connection, for work that sorts a lot. Its transactions take turns with
// those of the Mirror it was opened from. One goroutine uses it.
type Side struct{ *Mirror }

// WithSideConnection opens a side connection, runs f on it and closes it.
func (m *Mirror) WithSideConnection(ctx context.Context, f func(*Side) error) (err error) {
	// The writer needs its page cache less than f does.
	if err := m.inTurn(ctx, func() error {
		_, err := m.conn.ExecContext(ctx, "PRAGMA shrink_memory")
		return err
	}); err != nil {
		return sqlitefile.Explain(m.path, err)
	}
	db := sqlx.NewDb(sql.OpenDB(sqlitefile.WALConnector{Connector: writerConnector{sqlitefile.DSN(m.path, sidePragmas)}}), sqlitefile.BindLabel)
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	conn, err := db.Connx(ctx)
	if err != nil {
		return fmt.Errorf("open %s a second time: %w", m.path, sqlitefile.Explain(m.path, err))
	}
	side := &Side{&Mirror{
		path: m.path, now: m.now, log: m.log, zone: m.zone, power: m.power, deals: m.deals, own: m.own, model: m.model, read: m.read,
		write: db, conn: conn, turn: m.turn, statements: map[string]*sqlx.Stmt{},
	}}
	defer func() { err = errors.Join(err, side.closeStatements(), conn.Close()) }()
	return f(side)
}

// Compute runs a statement that writes temporary tables only. It takes no turn and no write lock:
// other writers, of this process or another, do not wait for it. When ctx ends it is interrupted.
func (s *Side) Compute(ctx context.Context, doing, query string) error {
	if _, err := s.conn.ExecContext(ctx, query); err != nil {
		return fmt.Errorf("%s: %w", doing, sqlitefile.Explain(s.path, err))
	}
	return nil
}

// inTurn runs f while no transaction of this process is open.
func (m *Mirror) inTurn(ctx context.Context, f func() error) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-m.turn:
	}
	defer func() { m.turn <- struct{}{} }()
	return f()
}

// Limits of the time for which work in steps keeps other processes from writing. SQLite looks for a
// free lock every 100 ms, so a waiting process misses the moment between two transactions.
const (
	heldAtMost = 400 * time.Millisecond
	freeFor    = 120 * time.Millisecond
)

// Turns lets other processes write during work in many transactions.
type Turns struct{ freed time.Time } // when GiveWay last paused, or was first called

// GiveWay pauses between two transactions if other processes could not write for long.
func (t *Turns) GiveWay(ctx context.Context) {
	switch {
	case t.freed.IsZero():
		t.freed = time.Now()
		return
	case time.Since(t.freed) < heldAtMost:
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(freeFor):
	}
	t.freed = time.Now()
}

// OpenBeside opens the mirror at path on one connection, for short transactions by a process that
// does not hold the mirror's lock. The lock protects pages and watermarks from a second sync, so
// such a process writes neither; SQLite's own lock orders its transactions and those of a sync,
// which holds it only while it commits a page. OpenBeside creates and migrates nothing.
//
// Errors: [sqlitefile.ErrNoDatabase], [sqlitefile.ErrNotMirror], [*sqlitefile.NewerError],
// [*sqlitefile.OlderError], [sqlitefile.ErrCorrupt], [sqlitefile.ErrBusy].
func OpenBeside(ctx context.Context, path string, pragmas []string) (*sqlx.DB, error) {
	if err := sqlitefile.MustExist(path); err != nil {
		return nil, err
	}
	connector, err := sqlite.NewConnector(sqlitefile.DSN(path, pragmas) + "&mode=rw&_txlock=immediate")
	if err != nil {
		return nil, fmt.Errorf("open mirror %s: %w", path, err)
	}
	db := sqlx.NewDb(sql.OpenDB(sqlitefile.WALConnector{Connector: connector}), sqlitefile.BindLabel)
	db.SetMaxOpenConns(1)
	if err := CheckCurrent(ctx, db, path); err != nil {
		return nil, errors.Join(fmt.Errorf("open mirror: %w", sqlitefile.Explain(path, err)), db.Close())
	}
	return db, nil
}
