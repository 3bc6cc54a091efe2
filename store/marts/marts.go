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
	"solarmirror/store/marts/own"
	"solarmirror/store/sqlitefile"
)

// martsEdition is part of the recipe. Increment it when the SQL of the marts gives other values
// without a change of the schema.
const martsEdition = 5

// recipe names the inputs of the marts other than the tables.
func recipe(m *store.Mirror, power store.PowerUnit) string {
	return fmt.Sprintf("schema %d, edition %d, %s, %s, statuses %s", schema.Version, martsEdition, m.Zone(), power, m.Deals().Digest())
}

// martsState is the row of _marts, and the size of the changes since.
type martsState struct {
	Recipe  string `db:"recipe"`
	AsOf    string `db:"day"`
	Pending bool   `db:"pending"` // _stale has rows
	Many    bool   `db:"many"`    // so many requests changed that a full build is faster
}

// A refresh builds the facts from nothing when more than one request in manyShare and more than
// manyAtLeast have changed.
const (
	manyShare   = 4
	manyAtLeast = 10 * batchKeys
)

// Refresh updates the marts from the record tables, then the own marts. It processes the changes
// since the last refresh, or builds everything when there was none or that is faster. Without changes
// it writes nothing. When ctx ends it stops; the next refresh goes on. The caller holds the lock of
// the mirror, so that no other process writes records or marts.
func Refresh(ctx context.Context, m *store.Mirror) error {
	return update(ctx, m, false)
}

// Rebuild builds the marts from nothing. It is for record tables that SQL has edited, of which
// _stale does not list the changes. It recreates the facts' indices, so [store.Snapshot.Layout]
// changes.
func Rebuild(ctx context.Context, m *store.Mirror) error {
	return update(ctx, m, true)
}

func update(ctx context.Context, m *store.Mirror, full bool) error {
	power, err := decidePower(ctx, m)
	if err != nil {
		return err
	}
	state, err := readState(ctx, m)
	if err != nil {
		return err
	}
	other := state.Recipe != recipe(m, power.Unit)
	if full || other || state.AsOf != today(m) || state.Pending {
		if err := refreshMarts(ctx, m, power, full || other || state.Many); err != nil {
			return err
		}
	}
	return own.Refresh(ctx, m)
}

// today is the date in the platform's time zone.
func today(m *store.Mirror) string { return m.Now().In(m.Zone()).Format(time.DateOnly) }

func refreshMarts(ctx context.Context, m *store.Mirror, power Power, full bool) error {
	began := m.Now()
	// A scan of a million requests leaves 30 MB and more of unused heap, which would add to the
	// peak.
	debug.FreeOSMemory()
	r := &refresh{ctx: ctx, today: today(m), power: power.Unit, full: full}
	err := m.WithSideConnection(ctx, func(side *store.Side) error {
		r.side = side
		return r.run()
	})
	if err != nil {
		return fmt.Errorf("bring the marts up to date: %w; the next sync does it", err)
	}
	if full && power.Basis == Assumed {
		m.Log().Info().Msg("unit of totalPower: " + power.String())
	}
	m.Log().Info().Bool("anew", r.full).Int64("deals", r.deals).Strs("summaries", r.changed).Dur("took_ms", m.Now().Sub(began)).Msg("marts brought up to date")
	return nil
}

// Empty deletes all rows of the marts, and the tables of the own marts, as if they had never been
// built. wereBuilt reports whether they had been.
func Empty(tx *store.Tx) (wereBuilt bool, err error) {
	if err := own.Drop(tx); err != nil {
		return false, err
	}
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
	ctx      context.Context // for long statements; it interrupts them
	side     *store.Side
	today    string    // in the platform's time zone
	midnight time.Time // when today began
	history  string    // see fill
	power    store.PowerUnit
	full     bool     // build all facts from nothing
	deals    int64    // number of requests processed
	changed  []string // the summaries that changed
	turns    store.Turns
}

func (r *refresh) run() (err error) {
	if r.midnight, err = startOfDay(r.today, r.side.Zone()); err != nil {
		return err
	}
	if err := r.side.Update(r.ctx, r.readHistory); err != nil {
		return err
	}
	facts := r.keepInStep
	if r.full {
		facts = r.buildAnew
	}
	if err := facts(); err != nil {
		return err
	}
	return r.summarize()
}

// readHistory finds out since when prices are known.
func (r *refresh) readHistory(tx *store.Tx) error {
	_, err := tx.Get("find the first known price", &r.history, "SELECT coalesce(strftime('%Y-%m-%d %H:%M:%f', min(valid_from), '-2 days'), '') FROM equipment_price_history")
	return err
}

// buildAnew builds the facts from nothing, in one transaction: readers see the old ones until it
// is done.
func (r *refresh) buildAnew() error {
	return r.side.Update(r.ctx, func(tx *store.Tx) error {
		if err := r.clear(tx); err != nil {
			return err
		}
		for _, w := range []walk{catalogueWalk, requestsWalk} {
			for after, more := int64(0), true; more; {
				var err error
				if after, more, err = r.buildBatch(tx, w, after); err != nil {
					return err
				}
			}
		}
		for _, t := range factTables() {
			for _, ddl := range slices.Sorted(maps.Values(t.IndexDDL())) {
				if _, err := tx.ExecContext(r.ctx, ddl, ddl); err != nil {
					return err
				}
			}
		}
		for _, name := range sources() {
			if err := noteChanged(tx, name); err != nil {
				return err
			}
		}
		return r.finishFacts(tx)
	})
}

// clear empties the facts and drops their indices. Creating an index after the rows, from sorted
// entries, costs a fraction of updating it per row.
func (r *refresh) clear(tx *store.Tx) error {
	for _, t := range factTables() {
		for _, name := range slices.Sorted(maps.Keys(t.IndexDDL())) {
			if _, err := tx.ExecContext(r.ctx, "drop "+name, "DROP INDEX IF EXISTS "+name); err != nil {
				return err
			}
		}
		if _, err := tx.ExecContext(r.ctx, "empty "+t.Name, "DELETE FROM "+t.Name); err != nil {
			return err
		}
	}
	return nil
}

// factTables are the tables of all facts.
func factTables() []*schema.Table { return append(slices.Clone(schema.Facts), schema.Deals) }

// keepInStep rebuilds the facts of stale records. Each batch is a transaction, so that no other
// writer waits long, and a deal has all its facts from one state of its records.
func (r *refresh) keepInStep() error {
	if err := r.side.Update(r.ctx, r.addOtherRows); err != nil {
		return err
	}
	for _, w := range []walk{catalogueWalk, requestsWalk, linesWalk} {
		for after, more := int64(0), true; more; {
			err := r.side.Update(r.ctx, func(tx *store.Tx) (err error) {
				after, more, err = r.buildBatch(tx, w, after)
				return err
			})
			if err != nil {
				return err
			}
			r.turns.GiveWay(r.ctx)
		}
	}
	if err := r.countOpenStays(); err != nil {
		return err
	}
	return r.side.Update(r.ctx, r.finishFacts)
}

// addOtherRows adds the other row of each stale deal to _stale: the row that represents the deal
// may have changed.
func (r *refresh) addOtherRows(tx *store.Tx) error {
	_, err := tx.ExecContext(r.ctx, "find the deals concerned", `INSERT OR IGNORE INTO _stale (table_name, key, name)
		SELECT 'requests', other.request_key, other.id FROM _stale AS s
		CROSS JOIN (VALUES ('order'), ('budget')) AS kind
		CROSS JOIN requests AS other ON other.request_type = kind.column1 AND other.id = s.name
		WHERE s.table_name = 'requests'`)
	return err
}

// finishFacts writes _marts and removes the records from _stale, where only the notes for the
// summaries stay.
func (r *refresh) finishFacts(tx *store.Tx) error {
	for _, s := range []struct {
		doing, query string
		args         []any
	}{
		{"note that the catalogue changed", "INSERT OR IGNORE INTO _stale (table_name, key, name) SELECT DISTINCT table_name, 0, '' FROM _stale WHERE table_name = 'equipments'", nil},
		{"note that a day has passed", "INSERT OR IGNORE INTO _stale (table_name, key, name) SELECT '_marts', 0, '' WHERE NOT EXISTS (SELECT 1 FROM _marts WHERE as_of = ?)", []any{r.today}},
		{"remove the records from _stale", "DELETE FROM _stale WHERE key <> 0", nil},
		{"write _marts", `INSERT INTO _marts (marts_id, recipe, as_of, refreshed_at) VALUES (1, ?, ?, ?)
			ON CONFLICT (marts_id) DO UPDATE SET recipe = excluded.recipe, as_of = excluded.as_of, refreshed_at = excluded.refreshed_at`,
			[]any{recipe(r.side.Mirror, r.power), r.today, sqlitefile.FormatTime(r.side.Now())}},
	} {
		if _, err := tx.Exec(s.doing, s.query, s.args...); err != nil {
			return err
		}
	}
	return nil
}

// noteChanged notes in _stale that a table which summaries read has changed.
func noteChanged(tx *store.Tx, table string) error {
	_, err := tx.Exec("note that "+table+" changed", "INSERT OR IGNORE INTO _stale (table_name, key, name) VALUES (?, 0, '')", table)
	return err
}

// startOfDay returns the first moment of a day in a zone.
func startOfDay(day string, zone *time.Location) (time.Time, error) {
	return time.ParseInLocation(time.DateOnly, day, zone)
}
