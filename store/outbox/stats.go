package outbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/jmoiron/sqlx"

	"solarmirror/store/sqlitefile"
)

// Stats summarizes an outbox, without data of its companies.
type Stats struct {
	Counts map[State]int64 // rows by state; states without rows are absent
	Doubts []Doubt         // ambiguous rows, oldest first, at most ten
}

// Doubt is an ambiguous row: the platform may or may not have the company.
type Doubt struct {
	ID    int64
	Since time.Time // of its last claim; zero when that is not in [sqlitefile.TimeLayout]
}

// maxDoubts is the length limit of Stats.Doubts.
const maxDoubts = 10

// ReadStats reads the outbox at path without writing to it. Without a file there, or without its
// tables, the Stats are empty.
//
// Errors: [ErrNotOutbox], [sqlitefile.ErrCorrupt], [sqlitefile.ErrBusy].
func ReadStats(ctx context.Context, path string) (Stats, error) {
	stats := Stats{Counts: map[State]int64{}}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return stats, nil
	}
	db, err := sqlitefile.OpenUnguarded(path, "ro")
	if err != nil {
		return stats, fmt.Errorf("look at outbox %s: %w", path, err)
	}
	if err := errors.Join(stats.read(ctx, db), db.Close()); err != nil {
		return stats, fmt.Errorf("look at the outbox: %w", Explain(path, err))
	}
	return stats, nil
}

func (s *Stats) read(ctx context.Context, db *sqlx.DB) (err error) {
	var tables int
	if err := db.GetContext(ctx, &tables, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'company_outbox'"); err != nil || tables == 0 {
		return err
	}
	if s.Counts, err = countStates(ctx, db); err != nil {
		return err
	}
	var doubts []struct {
		ID    int64
		Since string
	}
	err = db.SelectContext(ctx, &doubts, `SELECT id, coalesce(CAST(claimed_at AS TEXT), '') AS since FROM company_outbox
		WHERE state = 'ambiguous' ORDER BY id LIMIT ?`, maxDoubts)
	for _, d := range doubts {
		at, _ := sqlitefile.ParseTime(d.Since)
		s.Doubts = append(s.Doubts, Doubt{ID: d.ID, Since: at})
	}
	return err
}
