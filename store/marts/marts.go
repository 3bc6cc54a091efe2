package marts

import (
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/sqlitefile"
)

// martsEdition is part of the recipe. Increment it when the SQL of the marts gives other values
// without a change of the schema.
const martsEdition = 4

// batchKeys is the number of requests per statement of a refresh. It bounds the memory of the
// statement, which grows with the rows written: measured, 2,000 requests took 60 MB, 500 take 16.
const batchKeys = 500

// recipe names the inputs of the marts other than the tables.
func recipe(m *store.Mirror, power store.PowerUnit) string {
	return fmt.Sprintf("schema %d, edition %d, %s, %s", schema.Version, martsEdition, m.Zone(), power)
}

// martsState is the row of _marts, and the size of the changes since.
type martsState struct {
	Recipe  string `db:"recipe"`
	AsOf    string `db:"day"`
	Pending bool   `db:"pending"` // _stale has rows
	Many    bool   `db:"many"`    // so many requests changed that a full build is faster
}

// A refresh builds everything when more than one request in manyShare and more than manyAtLeast
// have changed.
const (
	manyShare   = 4
	manyAtLeast = 10 * batchKeys
)

// Refresh updates the marts from the record tables, in one transaction. It processes the changes
// since the last refresh, or builds everything when there was none or that is faster. Without
// changes it writes nothing. When ctx ends it stops and rolls back; the next refresh catches up.
func Refresh(ctx context.Context, m *store.Mirror) error {
	today := m.Now().In(m.Zone()).Format(time.DateOnly)
	power, err := decidePower(ctx, m)
	if err != nil {
		return err
	}
	state, err := readState(ctx, m)
	if err != nil {
		return err
	}
	sameRecipe := state.Recipe == recipe(m, power.Unit)
	if sameRecipe && state.AsOf == today && !state.Pending {
		return nil
	}
	return refreshMarts(ctx, m, today, power, !sameRecipe || state.Many)
}

// Rebuild builds the marts from nothing. It is for record tables that SQL has edited, of which
// _stale does not list the changes. It recreates the marts' indices, so [store.Snapshot.Layout]
// changes.
func Rebuild(ctx context.Context, m *store.Mirror) error {
	power, err := decidePower(ctx, m)
	if err != nil {
		return err
	}
	return refreshMarts(ctx, m, m.Now().In(m.Zone()).Format(time.DateOnly), power, true)
}

func refreshMarts(ctx context.Context, m *store.Mirror, today string, power Power, full bool) (err error) {
	began := m.Now()
	// A scan of a million requests leaves 30 MB and more of unused heap, which would add to the
	// peak.
	debug.FreeOSMemory()
	r := &refresh{today: today, power: power.Unit, full: full}
	update := func(m *store.Mirror) error {
		return m.Update(ctx, func(tx *store.Tx) error {
			r.tx, r.ctx = tx, ctx
			return r.run()
		})
	}
	if r.full {
		err = m.WithSideConnection(ctx, update)
	} else {
		err = update(m)
	}
	if err != nil {
		return fmt.Errorf("bring the marts up to date: %w; the next sync does it", err)
	}
	if full && power.Basis == Assumed {
		m.Log().Info().Msg("unit of totalPower: " + power.String())
	}
	m.Log().Info().Bool("anew", r.full).Int64("deals", r.deals).Dur("took_ms", m.Now().Sub(began)).Msg("marts brought up to date")
	return nil
}

// Empty deletes all rows of the marts, as if they had never been built. wereBuilt reports whether
// they had been.
func Empty(tx *store.Tx) (wereBuilt bool, err error) {
	for _, t := range append(schema.Derived(), schema.Stale) {
		if _, err := tx.Exec("empty "+t.Name, "DELETE FROM "+t.Name); err != nil {
			return false, err
		}
	}
	rows, err := tx.Exec("empty _marts", "DELETE FROM _marts")
	return rows > 0, err
}

// readState reads martsState. Recipe and AsOf are "" when the marts were never built.
func readState(ctx context.Context, m *store.Mirror) (state martsState, err error) {
	err = m.Reader().GetContext(ctx, &state, `SELECT coalesce(max(recipe), '') AS recipe, coalesce(max(as_of), '') AS day, EXISTS (SELECT 1 FROM _stale) AS pending,
		(SELECT count(*) FROM _stale WHERE table_name = 'requests') > max(?, (SELECT coalesce(max(request_key), 0) FROM requests) / ?) AS many FROM _marts`,
		manyAtLeast, manyShare)
	if err != nil {
		return state, fmt.Errorf("read _marts: %w", sqlitefile.Explain(m.Path(), err))
	}
	return state, nil
}

// refresh is the state of one [Refresh] or [Rebuild].
type refresh struct {
	tx    *store.Tx
	ctx   context.Context // for long statements; it interrupts them
	today string          // in the platform's time zone
	power store.PowerUnit // KWp or Wp
	full  bool            // build everything from nothing
	deals int64           // number of requests processed
}

func (r *refresh) run() error {
	steps := []func() error{r.addOtherRows, r.updateItems, r.noteGroups, r.buildRows, r.noteGroups,
		r.sumGroups, r.sumMonths, r.buildStock, r.updateOpenStays, r.finishRefresh}
	if r.full {
		steps = []func() error{r.clear, r.buildRows, r.makeIndices, r.sumGroups, r.sumMonths, r.buildStock, r.finishRefresh}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// exec runs a long statement, which r.ctx may interrupt, and returns the number of changed rows.
func (r *refresh) exec(doing, query string, args ...any) (int64, error) {
	s, err := r.tx.Prepared(query)
	if err != nil {
		return 0, r.tx.Fail(doing, err)
	}
	res, err := s.ExecContext(r.ctx, args...)
	if err != nil {
		return 0, r.tx.Fail(doing, err)
	}
	rows, err := res.RowsAffected()
	if err != nil {
		return 0, r.tx.Fail(doing, err)
	}
	return rows, nil
}

// list returns the rows of a query for one column.
func list[T any](r *refresh, doing, query string, args ...any) ([]T, error) {
	s, err := r.tx.Prepared(query)
	if err != nil {
		return nil, r.tx.Fail(doing, err)
	}
	var values []T
	if err := s.SelectContext(r.ctx, &values, args...); err != nil {
		return nil, r.tx.Fail(doing, err)
	}
	return values, nil
}

// clear empties the marts and drops their indices. Creating an index after the rows, from sorted
// entries, costs a fraction of updating it per row.
func (r *refresh) clear() error {
	for _, t := range schema.Derived() {
		indices, err := list[string](r, "list the indices of "+t.Name, "SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL AND tbl_name = ?", t.Name)
		if err != nil {
			return err
		}
		for _, name := range indices {
			if _, err := r.exec("drop "+name, "DROP INDEX "+name); err != nil {
				return err
			}
		}
	}
	_, err := Empty(r.tx)
	return err
}

func (r *refresh) makeIndices() error {
	for _, t := range schema.Derived() {
		for _, ddl := range slices.Sorted(maps.Values(t.IndexDDL())) {
			if _, err := r.exec(ddl, ddl); err != nil {
				return err
			}
		}
	}
	return nil
}

// addOtherRows adds the other row of each stale deal to _stale: the row that represents the deal
// may have changed.
func (r *refresh) addOtherRows() error {
	_, err := r.exec("find the deals concerned", `INSERT OR IGNORE INTO _stale (table_name, key, name)
		SELECT 'requests', other.request_key, other.id FROM _stale AS s
		CROSS JOIN (VALUES ('order'), ('budget')) AS kind
		CROSS JOIN requests AS other ON other.request_type = kind.column1 AND other.id = s.name
		WHERE s.table_name = 'requests'`)
	return err
}

// finishRefresh empties _stale and writes _marts.
func (r *refresh) finishRefresh() error {
	if _, err := r.tx.Exec("empty _stale", "DELETE FROM _stale"); err != nil {
		return err
	}
	_, err := r.tx.Exec("write _marts", `INSERT INTO _marts (marts_id, recipe, as_of, refreshed_at) VALUES (1, ?, ?, ?)
		ON CONFLICT (marts_id) DO UPDATE SET recipe = excluded.recipe, as_of = excluded.as_of, refreshed_at = excluded.refreshed_at`,
		recipe(r.tx.Mirror(), r.power), r.today, sqlitefile.FormatTime(r.tx.Mirror().Now()))
	return err
}
