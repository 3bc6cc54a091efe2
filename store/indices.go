package store

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"solarmirror/store/sqlitefile"
)

// loadedSQL says whether something was read whole, and no first reading waits to be gone on with.
const loadedSQL = `SELECT EXISTS (SELECT 1 FROM _watermarks) AND NOT EXISTS (SELECT 1 FROM _windows AS w
	WHERE w.completed_at IS NULL AND w.from_date IS NULL AND w.to_date IS NULL
	AND NOT EXISTS (SELECT 1 FROM _watermarks AS m WHERE m.stream = w.stream AND m.pass = w.pass))`

// MakeIndices makes the secondary indices of the record tables, those that are not there yet. Until a first load is over a file does without
// them: made at the end, from sorted entries, they cost a fraction of what keeping them up row by row does. Call it when a load is over; [Open]
// does so for one whose process was stopped before it could. Each index is there whole or not at all. Other writers wait meanwhile, readers
// do not. A context that ends interrupts it.
func (m *Mirror) MakeIndices(ctx context.Context) error {
	missing, err := m.missingIndices(ctx)
	if err != nil || len(missing) == 0 {
		return err
	}
	return m.WithSideConnection(ctx, func(b *Side) error {
		for _, ddl := range missing {
			err := b.Update(ctx, func(tx *Tx) error {
				_, err := tx.ExecContext(ctx, ddl, ddl)
				return err
			})
			if err != nil {
				return err
			}
		}
		m.log.Debug().Str("path", m.path).Int("indices", len(missing)).Msg("indices made")
		return nil
	})
}

// missingIndices returns the statements that make those of the record tables.
func (m *Mirror) missingIndices(ctx context.Context) ([]string, error) {
	var have []string
	if err := m.read.SelectContext(ctx, &have, indicesSQL); err != nil {
		return nil, fmt.Errorf("list the indices: %w", sqlitefile.Explain(m.path, err))
	}
	var missing []string
	for _, t := range m.model.tables {
		if m.model.roots[t] == nil {
			continue
		}
		for _, ddl := range slices.Sorted(maps.Values(t.IndexDDL())) {
			if !slices.Contains(have, ddl) {
				missing = append(missing, ddl)
			}
		}
	}
	return missing, nil
}

// catchUpIndices makes what a load left to do that came to its end, but whose process did not. The mirror works without.
func (m *Mirror) catchUpIndices(ctx context.Context) error {
	var loaded bool
	if err := m.read.GetContext(ctx, &loaded, loadedSQL); err != nil || !loaded {
		return err
	}
	if err := m.MakeIndices(ctx); err != nil {
		m.log.Warn().Err(err).Msg("some queries are slow until the next run makes the indices")
	}
	return nil
}
