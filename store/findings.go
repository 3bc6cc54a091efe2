package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"solarmirror/store/sqlitefile"
)

// State says whether a difference between mirror and platform needs somebody's attention.
type State string

// The states of findings.
const (
	Pending     State = "pending"     // a sync or a full read is expected to settle it
	Unexplained State = "unexplained" // nothing is
)

// Finding is one difference that a verification found: a row of _findings.
type Finding struct {
	Stream      string
	Key         NaturalKey // of an orphan: name and value of its surrogate key; of a total: pass and what it counts
	Kind        string     // how it differs
	Tables      []string   // of edited and orphaned rows
	State       State
	Held        Hash // of a record that differs: what the mirror holds
	Sweeps      int  // of an extra record: how many sweeps in a row have missed it
	FirstSeenAt time.Time
}

// Findings returns what the last verification of a stream found, without tables.
func (m *Mirror) Findings(ctx context.Context, stream string) ([]Finding, error) {
	rows, err := m.read.QueryContext(ctx, `SELECT stream, type, key, kind, state, held_hash, sweeps, first_seen_at
		FROM _findings WHERE stream = ?`, stream)
	if err != nil {
		return nil, fmt.Errorf("read _findings: %w", sqlitefile.Explain(m.path, err))
	}
	defer rows.Close()
	var list []Finding
	for rows.Next() {
		var f Finding
		var hash []byte
		if err := rows.Scan(&f.Stream, &f.Key[0], &f.Key[1], &f.Kind, &f.State, &hash, &f.Sweeps, &f.FirstSeenAt); err != nil {
			return nil, fmt.Errorf("read _findings: %w", err)
		}
		f.Held = hashOf(hash)
		list = append(list, f)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read _findings: %w", sqlitefile.Explain(m.path, err))
	}
	return list, nil
}

var findingsPragmas = []string{"busy_timeout(10000)", "synchronous(NORMAL)", "temp_store(MEMORY)"}

// NoteFindings replaces the findings of the streams that a verification compared at a time. It
// takes no lock of the mirror, so that a verification can be noted while a sync is running.
func NoteFindings(ctx context.Context, path string, at time.Time, streams []string, found []Finding) error {
	db, err := OpenBeside(ctx, path, findingsPragmas)
	if err != nil {
		return err
	}
	err = errors.Join(noteFindings(ctx, db, at, streams, found), db.Close())
	if err != nil {
		return fmt.Errorf("write _findings: %w", sqlitefile.Explain(path, err))
	}
	return nil
}

func noteFindings(ctx context.Context, db *sqlx.DB, at time.Time, streams []string, found []Finding) error {
	tx, err := db.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, stream := range streams {
		if _, err := tx.Exec("DELETE FROM _findings WHERE stream = ?", stream); err != nil {
			return err
		}
	}
	insert, err := tx.Prepare(`INSERT INTO _findings (stream, type, key, kind, state, tables, held_hash, sweeps, first_seen_at, last_seen_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
	if err != nil {
		return err
	}
	defer insert.Close()
	for _, f := range found {
		var held any
		if f.Held != (Hash{}) {
			held = f.Held.Bytes()
		}
		_, err := insert.Exec(f.Stream, f.Key[0], f.Key[1], f.Kind, string(f.State), sqlitefile.NullableText(strings.Join(f.Tables, ", ")),
			held, f.Sweeps, sqlitefile.FormatTime(f.FirstSeenAt), sqlitefile.FormatTime(at))
		if err != nil {
			return err
		}
	}
	return tx.Commit()
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
	conn, err := sql.Open("sqlite", sqlitefile.DSN(path, pragmas)+"&mode=rw&_txlock=immediate")
	if err != nil {
		return nil, fmt.Errorf("open mirror %s: %w", path, err)
	}
	db := sqlx.NewDb(conn, sqlitefile.BindLabel)
	db.SetMaxOpenConns(1)
	if err := CheckCurrent(ctx, db, path); err != nil {
		return nil, errors.Join(fmt.Errorf("open mirror: %w", sqlitefile.Explain(path, err)), db.Close())
	}
	return db, nil
}
