package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/jmoiron/sqlx"
)

// RunsSince returns the runs that started at a time or later, the newest first. It stops at the first older one, so it costs no more as the
// ledger grows.
func (m *Mirror) RunsSince(ctx context.Context, since time.Time) ([]Run, error) {
	rows, err := m.read.QueryxContext(ctx, runsSQL)
	if err != nil {
		return nil, fmt.Errorf("read _runs: %w", explain(m.path, err))
	}
	defer rows.Close()
	var runs []Run
	for rows.Next() {
		var r runRow
		if err := rows.StructScan(&r); err != nil {
			return nil, fmt.Errorf("read _runs: %w", explain(m.path, err))
		}
		if r.StartedAt.Before(since) {
			return runs, nil
		}
		runs = append(runs, r.run())
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read _runs: %w", explain(m.path, err))
	}
	return runs, nil
}

// OutboxGlance is how the outbox stands, without anything of the companies in it.
type OutboxGlance struct {
	Counts map[OutboxState]int64 // states without rows are left out
	Doubts []OutboxDoubt         // the ambiguous rows, the oldest first, ten at the most
}

// OutboxDoubt is a row of which nobody knows whether the platform has the company.
type OutboxDoubt struct {
	ID    int64
	Since time.Time // when it was last about to be sent; zero when no clock of ours says
}

// maxDoubts bounds the rows a glance names.
const maxDoubts = 10

// GlanceAtOutbox looks at the outbox at path and leaves it as it is. Where there is none, nothing is queued.
//
// Errors: [ErrNotOutbox], [ErrCorrupt], [ErrBusy].
func GlanceAtOutbox(ctx context.Context, path string) (OutboxGlance, error) {
	glance := OutboxGlance{Counts: map[OutboxState]int64{}}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return glance, nil
	}
	db, err := sqlx.Open("sqlite", dsn(path, readerPragmas)+"&mode=ro")
	if err != nil {
		return glance, fmt.Errorf("look at outbox %s: %w", path, err)
	}
	if err := errors.Join(glance.read(ctx, db), db.Close()); err != nil {
		return glance, fmt.Errorf("look at the outbox: %w", explainOutbox(path, err))
	}
	return glance, nil
}

func (g *OutboxGlance) read(ctx context.Context, db *sqlx.DB) error {
	var tables int
	if err := db.GetContext(ctx, &tables, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'company_outbox'"); err != nil || tables == 0 {
		return err // a file whose tables are still to be made
	}
	var counts []struct {
		State OutboxState
		N     int64
	}
	if err := db.SelectContext(ctx, &counts, "SELECT state, count(*) AS n FROM company_outbox GROUP BY state"); err != nil {
		return err
	}
	for _, c := range counts {
		g.Counts[c.State] = c.N
	}
	var doubts []struct {
		ID    int64
		Since string
	}
	err := db.SelectContext(ctx, &doubts, `SELECT id, coalesce(CAST(claimed_at AS TEXT), '') AS since FROM company_outbox
		WHERE state = 'ambiguous' ORDER BY id LIMIT ?`, maxDoubts)
	for _, d := range doubts {
		at, _ := ParseTime(d.Since)
		g.Doubts = append(g.Doubts, OutboxDoubt{ID: d.ID, Since: at})
	}
	return err
}
