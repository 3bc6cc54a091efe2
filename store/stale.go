package store

import (
	"fmt"

	"solarmirror/schema"
)

// NoteStale notes that records have changed, or are about to be deleted: those whose keys a query
// gives.
func (tx *Tx) NoteStale(root *schema.Table, keys string, args ...any) error {
	_, err := tx.Exec("note what the marts are to be told", fmt.Sprintf(`INSERT OR IGNORE INTO _stale (table_name, key, name)
		SELECT '%[1]s', %[2]s, %[3]s FROM %[1]s WHERE %[2]s IN (%[4]s) AND EXISTS (SELECT 1 FROM _marts)`,
		root.Name, root.Key[0], root.Unique[1], keys), args...)
	return err
}

// NoteStaleKeys does so for the records of the given keys.
func (tx *Tx) NoteStaleKeys(root *schema.Table, keys ...int64) error {
	return tx.NoteStale(root, "SELECT value FROM json_each(?)", keyList(keys))
}

// noteStaleRows does so for the records whose root rows are among the given ones.
func (tx *Tx) noteStaleRows(root *schema.Table, rows []schema.Rows) error {
	var keys []int64
	for i := range rows {
		if rows[i].Table == root {
			for n := range rows[i].Len() {
				keys = append(keys, rows[i].Row(n)[0].(int64))
			}
		}
	}
	return tx.NoteStaleKeys(root, keys...)
}
