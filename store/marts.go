package store

import (
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"solarmirror/schema"
)

// The marts are derived from the tables of records and history, and could be built from nothing at any time. Because that takes about
// as long as the first load did, they are kept in step instead:
//
//   - Whatever changes a record notes its key in _stale, in the same transaction. So a run that is cut off between its last page and the
//     refresh leaves nothing behind that the next refresh would not see. Nothing is noted before the marts were first built.
//   - A refresh is one transaction. Of the marts with one row per deal, line or stay it builds the rows of the deals in _stale, and
//     of the deals of the same id, and writes those that differ; of those that add up, the groups these rows left or joined; then it empties _stale.
//   - A change of the catalogue reaches the lines of its product code, and only if it changed something that lines show.
//   - Open stays and recent sales are counted up to today; the first refresh of a day brings them forward.
//   - Another recipe (program, time zone, power unit) builds everything anew, and so does a change of a quarter of the requests. That is done on a
//     connection of its own that sorts in a file (aside.go): rows first, then their indices, then what adds them up, each from an index that
//     holds all it needs. Looking rows up one by one in another order than they lie in is what costs most where the table is larger than the cache.
//
// A refresh ends with the same rows as building from nothing would, which the tests compare after random histories. Sums are rounded to a millionth so
// that the order of adding does not show.

// martsEdition is part of the recipe: it grows when the marts' SQL says something else than before with the same columns.
const martsEdition = 4

// batchKeys is how many requests one statement of a refresh is about. It bounds the memory that statement takes, which grows with the rows it
// writes: measured, 2,000 at a time took 60 MB, 500 take 16.
const batchKeys = 500

// recipe names everything besides the tables that the marts depend on.
func recipe(m *Mirror) string {
	return fmt.Sprintf("schema %d, edition %d, %s, %s", schema.Version, martsEdition, m.Zone(), m.PowerUnit())
}

// martsState is the row of _marts, and what has changed since it was written.
type martsState struct {
	Recipe  string `db:"recipe"`
	AsOf    string `db:"day"`
	Pending bool   `db:"pending"` // something has
	Many    bool   `db:"many"`    // so many requests have that building everything anew is less work
}

// From one request in manyShare on, but not below manyAtLeast, everything is built anew.
const (
	manyShare   = 4
	manyAtLeast = 10 * batchKeys
)

// Refresh brings the marts up to date with the tables they are derived from, in one transaction: what has changed since they last
// were, everything when they never were or when that is less work, and nothing when nothing has. When ctx ends it stops and leaves the marts as they were; the next refresh makes up
// for it.
func Refresh(ctx context.Context, m *Mirror) error {
	today := m.Now().In(m.Zone()).Format(time.DateOnly)
	state, err := readState(ctx, m)
	if err != nil {
		return err
	}
	if state.Recipe == recipe(m) && state.AsOf == today && !state.Pending {
		return nil
	}
	return bringMarts(ctx, m, today, state.Recipe != recipe(m) || state.Many)
}

// Rebuild builds the marts from nothing: after SQL has edited the records, _stale does not say
// which rows are out of date. Their indices are made anew, so [Snapshot.Layout] changes too.
func Rebuild(ctx context.Context, m *Mirror) error {
	return bringMarts(ctx, m, m.Now().In(m.Zone()).Format(time.DateOnly), true)
}

func bringMarts(ctx context.Context, m *Mirror, today string, anew bool) (err error) {
	began := m.Now()
	debug.FreeOSMemory() // or what a long scan has left would lie beside what the marts take: 30 MB and more, of a million requests
	r := &refresh{today: today, anew: anew}
	bring := func(m *Mirror) error {
		return m.update(ctx, func(tx *Tx) error {
			r.tx, r.ctx = tx, ctx
			return r.run()
		})
	}
	if r.anew {
		err = m.aside(ctx, bring)
	} else {
		err = bring(m)
	}
	if err != nil {
		return fmt.Errorf("bring the marts up to date: %w; the next sync does it", err)
	}
	m.Log().Info().Bool("anew", r.anew).Int64("deals", r.deals).Dur("took_ms", m.Now().Sub(began)).Msg("marts brought up to date")
	return nil
}

// emptyMarts leaves the marts as if they had never been built, and says whether they had.
func emptyMarts(tx *Tx) (built bool, err error) {
	for _, t := range append(schema.Derived(), schema.Stale) {
		if _, err := tx.exec("empty "+t.Name, "DELETE FROM "+t.Name); err != nil {
			return false, err
		}
	}
	rows, err := tx.exec("empty _marts", "DELETE FROM _marts")
	return rows > 0, err
}

// readState returns what the marts were last built by, nothing when they never were, and what has changed since.
func readState(ctx context.Context, m *Mirror) (state martsState, err error) {
	err = m.Reader().GetContext(ctx, &state, `SELECT coalesce(max(recipe), '') AS recipe, coalesce(max(as_of), '') AS day, EXISTS (SELECT 1 FROM _stale) AS pending,
		(SELECT count(*) FROM _stale WHERE table_name = 'requests') > max(?, (SELECT coalesce(max(request_key), 0) FROM requests) / ?) AS many FROM _marts`,
		manyAtLeast, manyShare)
	if err != nil {
		return state, fmt.Errorf("read _marts: %w", explain(m.Path(), err))
	}
	return state, nil
}

// refresh is one Refresh under way.
type refresh struct {
	tx    *Tx
	ctx   context.Context // of the long statements; the rest of a transaction does without
	today string          // in the platform's zone
	anew  bool
	deals int64 // requests looked at
}

func (r *refresh) run() error {
	steps := []func() error{r.expandStale, r.alterItems, r.collectGroups, r.buildRows, r.collectGroups,
		r.sumGroups, r.sumMonths, r.buildStock, r.countOpenStays, r.settle}
	if r.anew {
		steps = []func() error{r.clearAll, r.buildRows, r.makeIndices, r.sumGroups, r.sumMonths, r.buildStock, r.settle}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// exec runs a statement that may take long, and that the context may interrupt.
func (r *refresh) exec(doing, query string, args ...any) (int64, error) {
	s, err := r.tx.prepared(query)
	if err != nil {
		return 0, r.tx.fail(doing, err)
	}
	res, err := s.ExecContext(r.ctx, args...)
	if err != nil {
		return 0, r.tx.fail(doing, err)
	}
	touched, err := res.RowsAffected()
	if err != nil {
		return 0, r.tx.fail(doing, err)
	}
	return touched, nil
}

// list reads one column.
func list[T any](r *refresh, doing, query string, args ...any) ([]T, error) {
	s, err := r.tx.prepared(query)
	if err != nil {
		return nil, r.tx.fail(doing, err)
	}
	var values []T
	if err := s.SelectContext(r.ctx, &values, args...); err != nil {
		return nil, r.tx.fail(doing, err)
	}
	return values, nil
}

// clearAll empties the tables, and drops their indices: made when the rows are there, from sorted entries, they cost a fraction.
func (r *refresh) clearAll() error {
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
	_, err := emptyMarts(r.tx)
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

// expandStale adds the other row of each deal concerned: which of the two speaks may have changed.
func (r *refresh) expandStale() error {
	_, err := r.exec("find the deals concerned", `INSERT OR IGNORE INTO _stale (table_name, key, name)
		SELECT 'requests', other.request_key, other.id FROM _stale AS s
		CROSS JOIN (VALUES ('order'), ('budget')) AS kind
		CROSS JOIN requests AS other ON other.request_type = kind.column1 AND other.id = s.name
		WHERE s.table_name = 'requests'`)
	return err
}

// settle notes what the marts now show.
func (r *refresh) settle() error {
	if _, err := r.tx.exec("empty _stale", "DELETE FROM _stale"); err != nil {
		return err
	}
	_, err := r.tx.exec("write _marts", `INSERT INTO _marts (marts_id, recipe, as_of, refreshed_at) VALUES (1, ?, ?, ?)
		ON CONFLICT (marts_id) DO UPDATE SET recipe = excluded.recipe, as_of = excluded.as_of, refreshed_at = excluded.refreshed_at`,
		recipe(r.tx.Mirror()), r.today, FormatTime(r.tx.Mirror().Now()))
	return err
}
