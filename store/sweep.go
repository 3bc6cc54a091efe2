package store

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"solarmirror/schema"
	"solarmirror/store/sqlitefile"
)

// Present is a record that is not known to be gone.
type Present struct {
	Key       int64 // surrogate
	Natural   NaturalKey
	Hash      Hash
	Removed   bool   // the platform listed it among the removed ones; never of a table without that column
	RevisedAt string // when content came that was not its first, as FormatTime writes it; "" when there was only one
}

// Present yields the records of a root table that have no tombstone, in the order of their surrogate keys; partition, where it is not
// "", is the only value of the natural key's first column wanted.
func (m *Mirror) Present(ctx context.Context, root *schema.Table, partition string) iter.Seq2[Present, error] {
	return m.present(ctx, root, "? IN ('', "+root.Unique[0]+")", partition)
}

func (m *Mirror) present(ctx context.Context, root *schema.Table, where string, arg any) iter.Seq2[Present, error] {
	return func(yield func(Present, error) bool) {
		removed := "0"
		if slices.Contains(root.ColumnNames(), "removed") {
			removed = "coalesce(removed, 0)"
		}
		query := fmt.Sprintf(`SELECT %s, %s, %s, _hash, %s, CASE WHEN _changed_at > _first_seen_at THEN _changed_at ELSE '' END
			FROM %s WHERE _deleted_at IS NULL AND %s ORDER BY 1`,
			root.Key[0], root.Unique[0], root.Unique[1], removed, root.Name, where)
		rows, err := m.read.QueryContext(ctx, query, arg)
		if err != nil {
			yield(Present{}, fmt.Errorf("read %s: %w", root.Name, sqlitefile.Explain(m.path, err)))
			return
		}
		defer rows.Close()
		var hash []byte
		for rows.Next() {
			var p Present
			if err := rows.Scan(&p.Key, &p.Natural[0], &p.Natural[1], &hash, &p.Removed, &p.RevisedAt); err != nil {
				yield(Present{}, fmt.Errorf("read %s: %w", root.Name, sqlitefile.Explain(m.path, err)))
				return
			}
			p.Hash = hashOf(hash)
			if !yield(p, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(Present{}, fmt.Errorf("read %s: %w", root.Name, sqlitefile.Explain(m.path, err)))
		}
	}
}

// Unseen returns those records that Present would yield and seen does not know by their surrogate keys, and how many others there are. Of those it
// reads nothing but an index.
func (m *Mirror) Unseen(ctx context.Context, root *schema.Table, partition string, seen func(key int64) bool) (unseen []Present, others int, err error) {
	keys, others, err := m.unseenKeys(ctx, root, partition, seen)
	if err != nil {
		return nil, 0, fmt.Errorf("read the keys of %s: %w", root.Name, sqlitefile.Explain(m.path, err))
	}
	const atOnce = 1000
	for some := range slices.Chunk(keys, atOnce) {
		for p, err := range m.present(ctx, root, root.Key[0]+" IN (SELECT value FROM json_each(?))", keyList(some)) {
			if err != nil {
				return nil, 0, err
			}
			unseen = append(unseen, p)
		}
	}
	return unseen, others, nil
}

// unseenKeys includes the keys of tombstones. Its two queries are for SQLite, which finds the index only when the column stands alone.
func (m *Mirror) unseenKeys(ctx context.Context, root *schema.Table, partition string, seen func(key int64) bool) (unseen []int64, others int, err error) {
	query, args := fmt.Sprintf("SELECT %s FROM %s", root.Key[0], root.Name), []any(nil)
	if partition != "" {
		query, args = query+" WHERE "+root.Unique[0]+" = ?", []any{partition}
	}
	rows, err := m.read.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var key int64
		if err := rows.Scan(&key); err != nil {
			return nil, 0, err
		}
		if seen(key) {
			others++
		} else {
			unseen = append(unseen, key)
		}
	}
	return unseen, others, rows.Err()
}

// Absences returns the keys of a stream that the last complete sweep did not find, with how many
// sweeps in a row have missed each.
func (m *Mirror) Absences(ctx context.Context, stream string) (map[int64]int, error) {
	var rows []struct {
		Key    int64 `db:"key"`
		Sweeps int   `db:"sweeps"`
	}
	if err := m.read.SelectContext(ctx, &rows, "SELECT key, sweeps FROM _absences WHERE stream = ?", stream); err != nil {
		return nil, fmt.Errorf("read _absences: %w", sqlitefile.Explain(m.path, err))
	}
	missed := make(map[int64]int, len(rows))
	for _, r := range rows {
		missed[r.Key] = r.Sweeps
	}
	return missed, nil
}

// SetAbsences replaces what is remembered of a stream by the keys that a sweep did not find. A key
// that was remembered has been missed once more.
func (tx *Tx) SetAbsences(stream string, keys []int64) error {
	doing := "note absences of " + stream
	if _, err := tx.Exec(doing, "DELETE FROM _absences WHERE stream = ? AND key NOT IN (SELECT value FROM json_each(?))", stream, keyList(keys)); err != nil {
		return err
	}
	now := sqlitefile.FormatTime(tx.m.now())
	for _, key := range keys {
		if _, err := tx.Exec(doing, `INSERT INTO _absences (stream, key, first_sweep, sweeps) VALUES (?, ?, ?, 1)
			ON CONFLICT (stream, key) DO UPDATE SET sweeps = sweeps + 1`, stream, key, now); err != nil {
			return err
		}
	}
	return nil
}

// Tombstone marks a record as gone from the platform. Its rows stay.
func (tx *Tx) Tombstone(root *schema.Table, key int64) error {
	touched, err := tx.Exec(fmt.Sprintf("mark %s %d as gone", root.Name, key),
		fmt.Sprintf("UPDATE %s SET _deleted_at = ? WHERE %s = ? AND _deleted_at IS NULL", root.Name, root.Key[0]), sqlitefile.FormatTime(tx.m.now()), key)
	if err != nil || touched == 0 {
		return err
	}
	return tx.NoteStaleKeys(root, key)
}

// Prune deletes the records of a root table that have been gone since before a time, with everything that hangs under them and their history, and
// returns how many. partition, where it is not "", is the only value of the natural key's first column that is touched.
//
// The record with the greatest surrogate key stays, however long it has been gone: its key would be given away a second time, and whoever
// remembers which keys were seen would take the new record for the old one.
func (tx *Tx) Prune(root *schema.Table, partition string, goneBefore time.Time) (int64, error) {
	key := root.Key[0]
	pruned := fmt.Sprintf("SELECT %[1]s FROM %[2]s WHERE _deleted_at < ? AND ? IN ('', %[3]s) AND %[1]s < (SELECT max(%[1]s) FROM %[2]s)",
		key, root.Name, root.Unique[0])
	tables := root.Tables()
	for _, h := range tx.m.model.history[root] {
		tables = append(tables, h.table)
	}
	if err := tx.NoteStale(root, pruned, sqlitefile.FormatTime(goneBefore), partition); err != nil {
		return 0, err
	}
	deleted := int64(0)
	for i := len(tables) - 1; i >= 0; i-- { // the root last: it says which
		rows, err := tx.Exec("prune "+tables[i].Name, fmt.Sprintf("DELETE FROM %s WHERE %s IN (%s)", tables[i].Name, key, pruned), sqlitefile.FormatTime(goneBefore), partition)
		if err != nil {
			return 0, err
		}
		deleted = rows
	}
	return deleted, nil
}
