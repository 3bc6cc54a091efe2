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

// martsEdition is part of the recipe: it grows when the marts' SQL says something else than before
// with the same columns.
const martsEdition = 4

// batchKeys is how many requests one statement of a refresh is about. It bounds the memory that
// statement takes, which grows with the rows it writes: measured, 2,000 at a time took 60 MB, 500
// take 16.
const batchKeys = 500

// recipe names everything besides the tables that the marts depend on.
func recipe(m *store.Mirror) string {
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

// Refresh brings the marts up to date with the tables they are derived from, in one transaction:
// what has changed since they last were, everything when they never were or when that is less work,
// and nothing when nothing has. When ctx ends it stops and leaves the marts as they were; the next
// refresh makes up for it.
func Refresh(ctx context.Context, m *store.Mirror) error {
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
// which rows are out of date. Their indices are made anew, so [store.Snapshot.Layout] changes too.
func Rebuild(ctx context.Context, m *store.Mirror) error {
	return bringMarts(ctx, m, m.Now().In(m.Zone()).Format(time.DateOnly), true)
}

func bringMarts(ctx context.Context, m *store.Mirror, today string, anew bool) (err error) {
	began := m.Now()
	debug.FreeOSMemory() // or what a long scan has left would lie beside what the marts take: 30 MB and more, of a million requests
	r := &refresh{today: today, anew: anew}
	bring := func(m *store.Mirror) error {
		return m.Update(ctx, func(tx *store.Tx) error {
			r.tx, r.ctx = tx, ctx
			return r.run()
		})
	}
	if r.anew {
		err = m.WithSideConnection(ctx, bring)
	} else {
		err = bring(m)
	}
	if err != nil {
		return fmt.Errorf("bring the marts up to date: %w; the next sync does it", err)
	}
	m.Log().Info().Bool("anew", r.anew).Int64("deals", r.deals).Dur("took_ms", m.Now().Sub(began)).Msg("marts brought up to date")
	return nil
}

// EmptyMarts leaves the marts as if they had never been built, and says whether they had.
func EmptyMarts(tx *store.Tx) (built bool, err error) {
	for _, t := range append(schema.Derived(), schema.Stale) {
		if _, err := tx.Exec("empty "+t.Name, "DELETE FROM "+t.Name); err != nil {
			return false, err
		}
	}
	rows, err := tx.Exec("empty _marts", "DELETE FROM _marts")
	return rows > 0, err
}

// readState returns what the marts were last built by, nothing when they never were, and what has
// changed since.
func readState(ctx context.Context, m *store.Mirror) (state martsState, err error) {
	err = m.Reader().GetContext(ctx, &state, `SELECT coalesce(max(recipe), '') AS recipe, coalesce(max(as_of), '') AS day, EXISTS (SELECT 1 FROM _stale) AS pending,
		(SELECT count(*) FROM _stale WHERE table_name = 'requests') > max(?, (SELECT coalesce(max(request_key), 0) FROM requests) / ?) AS many FROM _marts`,
		manyAtLeast, manyShare)
	if err != nil {
		return state, fmt.Errorf("read _marts: %w", sqlitefile.Explain(m.Path(), err))
	}
	return state, nil
}

// refresh is one Refresh under way.
type refresh struct {
	tx    *store.Tx
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
	s, err := r.tx.Prepared(query)
	if err != nil {
		return 0, r.tx.Fail(doing, err)
	}
	res, err := s.ExecContext(r.ctx, args...)
	if err != nil {
		return 0, r.tx.Fail(doing, err)
	}
	touched, err := res.RowsAffected()
	if err != nil {
		return 0, r.tx.Fail(doing, err)
	}
	return touched, nil
}

// list reads one column.
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

// clearAll empties the tables, and drops their indices: made when the rows are there, from sorted
// entries, they cost a fraction.
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
	_, err := EmptyMarts(r.tx)
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
	if _, err := r.tx.Exec("empty _stale", "DELETE FROM _stale"); err != nil {
		return err
	}
	_, err := r.tx.Exec("write _marts", `INSERT INTO _marts (marts_id, recipe, as_of, refreshed_at) VALUES (1, ?, ?, ?)
		ON CONFLICT (marts_id) DO UPDATE SET recipe = excluded.recipe, as_of = excluded.as_of, refreshed_at = excluded.refreshed_at`,
		recipe(r.tx.Mirror()), r.today, sqlitefile.FormatTime(r.tx.Mirror().Now()))
	return err
}
