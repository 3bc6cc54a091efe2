package marts

import (
	"fmt"
	"strings"

	"solarmirror/schema"
	"solarmirror/store"
)

// batchKeys is the number of requests per statement of a refresh. It bounds the memory of the
// statement, which grows with the rows written: measured, 2,000 requests took 60 MB, 500 take 16.
const batchKeys = 500

// walk builds facts from the records of one root, in batches.
type walk struct {
	root  *schema.Table
	note  string // table_name of the rows of _stale that name the stale records
	facts []fact // each may read those before it
}

// staleLines is the note of linesWalk.
const staleLines = "request_products"

var (
	catalogueWalk = walk{schema.Equipments, schema.Equipments.Name, []fact{priceChangeFact}}
	requestsWalk  = walk{schema.Requests, schema.Requests.Name, []fact{requestFact, lineFact, leadTimeFact, stayFact, dealFact}}
	// linesWalk is of requests whose lines show an item of the catalogue that changed.
	linesWalk = walk{schema.Requests, staleLines, []fact{lineFact}}
)

// next returns a query for the last of the keys of a batch, and their number.
func (w walk) next(full bool) string {
	keys := fmt.Sprintf("SELECT key FROM _stale WHERE table_name = '%s' AND key > ? ORDER BY key LIMIT ?", w.note)
	if full {
		keys = fmt.Sprintf("SELECT %[1]s AS key FROM %[2]s WHERE %[1]s > ? ORDER BY %[1]s LIMIT ?", w.root.Key[0], w.root.Name)
	}
	return "SELECT max(key) AS last, count(*) AS n FROM (" + keys + ")"
}

// records returns SQL for the records of a batch. It is a subquery: with a mere alias SQLite no
// longer uses the primary key for the joins.
func (w walk) records(full bool) string {
	if full {
		return fmt.Sprintf("(SELECT * FROM %s WHERE %s BETWEEN ?1 AND ?2)", w.root.Name, w.root.Key[0])
	}
	return fmt.Sprintf("(SELECT x.* FROM {stale} AS s CROSS JOIN %s AS x ON x.%s = s.key)", w.root.Name, w.root.Key[0])
}

// buildBatch builds the facts of the next records after a key. It returns the last key of the
// batch, and whether there may be more.
func (r *refresh) buildBatch(tx *store.Tx, w walk, after int64) (last int64, more bool, err error) {
	var batch struct {
		Last *int64
		N    int64
	}
	if _, err := tx.Get("find the next records", &batch, w.next(r.full), after, batchKeys); err != nil || batch.N == 0 {
		return after, false, err
	}
	for _, f := range w.facts {
		build := r.replaceRows
		if r.full {
			build = r.insertRows
		}
		if err := build(tx, w, f, after+1, *batch.Last); err != nil {
			return after, false, err
		}
	}
	if w.root == schema.Requests {
		r.deals += batch.N
	}
	return *batch.Last, batch.N == batchKeys, nil
}

// insertRows builds the rows of a batch in an empty mart.
func (r *refresh) insertRows(tx *store.Tx, w walk, f fact, first, last int64) error {
	_, err := tx.ExecContext(r.ctx, "build "+f.table.Name, r.fill(w, f.insert(f.table.Name)), first, last)
	return err
}

// replaceRows builds the rows of a batch beside the mart and writes those that differ.
func (r *refresh) replaceRows(tx *store.Tx, w walk, f fact, first, last int64) error {
	doing := "build " + f.table.Name
	if _, err := tx.ExecContext(r.ctx, doing, fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s AS SELECT * FROM %s WHERE false", f.buildTable(), f.table.Name)); err != nil {
		return err
	}
	if _, err := tx.ExecContext(r.ctx, doing, r.fill(w, f.insert(f.buildTable())), first, last); err != nil {
		return err
	}
	if w.root == schema.Equipments {
		if err := r.noteLines(tx, first, last); err != nil {
			return err
		}
	}
	var written int64
	for _, query := range f.replace() {
		rows, err := tx.ExecContext(r.ctx, doing, r.fill(w, query), first, last)
		if err != nil {
			return err
		}
		written += rows
	}
	if _, err := tx.ExecContext(r.ctx, doing, f.discard()); err != nil {
		return err
	}
	if written == 0 {
		return nil
	}
	return noteChanged(tx, f.table.Name)
}

// noteLines notes the requests whose lines show what has changed in a batch of the catalogue.
// Most changes concern the stock, which lines do not show.
func (r *refresh) noteLines(tx *store.Tx, first, last int64) error {
	// All lines of an item show the same of it, so one is compared.
	var differs []string
	for _, column := range []string{"equipment_key", "manufacturer", "model", "unit_cost", "rated_power_w"} {
		differs = append(differs, fmt.Sprintf("i.%s IS NOT %s", column, lineFact.values[column]))
	}
	for _, query := range []string{
		`INSERT OR IGNORE INTO _stale (table_name, key, name)
		SELECT '` + staleLines + `', p.request_key, '' FROM (
			SELECT DISTINCT s.name FROM _stale AS s LEFT JOIN equipments AS e ON e.equipment_key = s.key
			LEFT JOIN module_specifications AS m ON m.equipment_key = e.equipment_key
			WHERE s.table_name = 'equipments' AND s.key BETWEEN ?1 AND ?2 AND (e.equipment_key IS NULL OR (
				SELECT ` + strings.Join(differs, " OR ") + ` FROM request_products AS p
				CROSS JOIN bi_items AS i ON i.request_key = p.request_key AND i.position = p.position
				WHERE p.product_code = s.name AND coalesce(p.type, '') = e.type LIMIT 1))
		) AS item CROSS JOIN request_products AS p ON p.product_code = item.name`,
		// A new price is the cost at order of the orders since, and of those of the day on which
		// the item was first seen.
		`INSERT OR IGNORE INTO _stale (table_name, key, name)
		SELECT '` + staleLines + `', b.request_key, '' FROM (
			SELECT product_code, local_date(min(changed_at), {zone}) AS day FROM (
				SELECT equipment_key, product_code, price_name, changed_at, new_value FROM ` + priceChangeFact.buildTable() + `
				EXCEPT SELECT equipment_key, product_code, price_name, changed_at, new_value FROM bi_price_changes WHERE equipment_key BETWEEN ?1 AND ?2)
			WHERE price_name = 'cost_price' GROUP BY 1
		) AS item CROSS JOIN bi_requests AS b ON b.order_date >= item.day
		CROSS JOIN request_products AS p ON p.request_key = b.request_key AND p.product_code = item.product_code`,
	} {
		if _, err := tx.ExecContext(r.ctx, "find the lines concerned", r.fill(catalogueWalk, query), first, last); err != nil {
			return err
		}
	}
	return nil
}

// countOpenStays recomputes the length of open stays once a day.
func (r *refresh) countOpenStays() error {
	const (
		doing   = "count the days of open stays"
		perTurn = 20_000 // keys
	)
	days := r.fill(requestsWalk, stayDays("started_at", "ended_at"))
	for after := int64(0); ; after += perTurn {
		var state struct {
			Behind bool
			Last   int64
		}
		err := r.side.Update(r.ctx, func(tx *store.Tx) error {
			if _, err := tx.Get(doing, &state, "SELECT as_of <> ? AS behind, (SELECT coalesce(max(request_key), 0) FROM requests) AS last FROM _marts", r.today); err != nil || !state.Behind {
				return err
			}
			rows, err := tx.ExecContext(r.ctx, doing, fmt.Sprintf("UPDATE bi_status_duration SET days = %s WHERE is_open = 1 AND request_key > ? AND request_key <= ?", days), after, after+perTurn)
			if err != nil || rows == 0 {
				return err
			}
			return noteChanged(tx, schema.BiStatusDuration.Name)
		})
		if err != nil || !state.Behind || after+perTurn >= state.Last {
			return err
		}
		r.turns.GiveWay(r.ctx)
	}
}
