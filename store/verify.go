package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"solarmirror/schema"
	"solarmirror/store/sqlitefile"
)

// What a verification reads beside the records, and what it notes.

// Orphan is a surrogate key without a root row, and the tables with rows under it.
type Orphan struct {
	Key    string // what the column holds: SQL can write any value there
	Tables []string
}

// Orphans returns the orphans of a root.
func (m *Mirror) Orphans(ctx context.Context, root *schema.Table) ([]Orphan, error) {
	list, err := findOrphans(ctx, m.read, root)
	if err != nil {
		return nil, fmt.Errorf("look for orphans of %s: %w", root.Name, sqlitefile.Explain(m.path, err))
	}
	return list, nil
}

// DeleteOrphans deletes the rows of the orphans and returns the orphans. The marts are not told:
// the caller calls marts.Rebuild.
func (tx *Tx) DeleteOrphans(root *schema.Table) ([]Orphan, error) {
	if err := tx.usable(); err != nil {
		return nil, fmt.Errorf("delete orphans of %s: %w", root.Name, err)
	}
	list, err := findOrphans(context.Background(), tx.m.conn, root)
	if err != nil {
		return nil, tx.Fail("look for orphans of "+root.Name, err)
	}
	for _, t := range root.Tables()[1:] {
		if !slices.ContainsFunc(list, func(o Orphan) bool { return slices.Contains(o.Tables, t.Name) }) {
			continue
		}
		if _, err := tx.Exec("delete orphans from "+t.Name, "DELETE"+orphansOf(t, root)); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// orphansOf picks the rows of a table whose record has no root row.
func orphansOf(t, root *schema.Table) string {
	return fmt.Sprintf(" FROM %s WHERE %s NOT IN (SELECT %s FROM %s)", t.Name, t.Key[0], root.Key[0], root.Name)
}

func findOrphans(ctx context.Context, q sqlx.QueryerContext, root *schema.Table) ([]Orphan, error) {
	var list []Orphan
	place := map[string]int{}
	for _, t := range root.Tables()[1:] {
		var keys []string
		query := fmt.Sprintf("SELECT %s%s GROUP BY 1 ORDER BY 1", t.Key[0], orphansOf(t, root))
		if err := sqlx.SelectContext(ctx, q, &keys, query); err != nil {
			return nil, err
		}
		for _, key := range keys {
			i, known := place[key]
			if !known {
				i = len(list)
				place[key] = i
				list = append(list, Orphan{Key: key})
			}
			list[i].Tables = append(list[i].Tables, t.Name)
		}
	}
	return list, nil
}

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
	Held        Hash   // of a record that differs: what the mirror holds
	ChangedAt   string // since when it does, as FormatTime writes it; not noted
	Sweeps      int    // of an extra record: how many sweeps in a row have missed it
	FirstSeenAt time.Time
	LastSeenAt  time.Time // zero until it is noted
}

// Findings returns what the last verification of a stream found, without tables.
func (m *Mirror) Findings(ctx context.Context, stream string) ([]Finding, error) {
	rows, err := m.read.QueryContext(ctx, `SELECT stream, type, key, kind, state, held_hash, sweeps, first_seen_at, last_seen_at
		FROM _findings WHERE stream = ?`, stream)
	if err != nil {
		return nil, fmt.Errorf("read _findings: %w", sqlitefile.Explain(m.path, err))
	}
	defer rows.Close()
	var list []Finding
	for rows.Next() {
		var f Finding
		var hash []byte
		err := rows.Scan(&f.Stream, &f.Key[0], &f.Key[1], &f.Kind, &f.State, &hash, &f.Sweeps, &f.FirstSeenAt, &f.LastSeenAt)
		if err != nil {
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
