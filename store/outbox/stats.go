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

// OutboxGlance is how the outbox stands, without anything of the companies in it.
type Stats struct {
	Counts map[State]int64 // states without rows are left out
	Doubts []Doubt         // the ambiguous rows, the oldest first, ten at the most
}

// OutboxDoubt is a row of which nobody knows whether the platform has the company.
type Doubt struct {
	ID    int64
	Since time.Time // when it was last about to be sent; zero when no clock of ours says
}

// maxDoubts bounds the rows a glance names.
const maxDoubts = 10

// GlanceAtOutbox looks at the outbox at path and leaves it as it is. Where there is none, nothing
// is queued.
//
// Errors: [ErrNotOutbox], [sqlitefile.ErrCorrupt], [sqlitefile.ErrBusy].
func ReadStats(ctx context.Context, path string) (Stats, error) {
	glance := Stats{Counts: map[State]int64{}}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return glance, nil
	}
	db, err := sqlx.Open("sqlite", sqlitefile.DSN(path, sqlitefile.ReaderPragmas)+"&mode=ro")
	if err != nil {
		return glance, fmt.Errorf("look at outbox %s: %w", path, err)
	}
	if err := errors.Join(glance.read(ctx, db), db.Close()); err != nil {
		return glance, fmt.Errorf("look at the outbox: %w", Explain(path, err))
	}
	return glance, nil
}

func (g *Stats) read(ctx context.Context, db *sqlx.DB) error {
	var tables int
	if err := db.GetContext(ctx, &tables, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'company_outbox'"); err != nil || tables == 0 {
		return err // a file whose tables are still to be made
	}
	var counts []struct {
		State State
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
		at, _ := sqlitefile.ParseTime(d.Since)
		g.Doubts = append(g.Doubts, Doubt{ID: d.ID, Since: at})
	}
	return err
}
