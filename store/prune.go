package store

import (
	"fmt"
	"time"

	"solarmirror/schema"
)

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
	if err := tx.noteStale(root, pruned, FormatTime(goneBefore), partition); err != nil {
		return 0, err
	}
	deleted := int64(0)
	for i := len(tables) - 1; i >= 0; i-- { // the root last: it says which
		rows, err := tx.exec("prune "+tables[i].Name, fmt.Sprintf("DELETE FROM %s WHERE %s IN (%s)", tables[i].Name, key, pruned), FormatTime(goneBefore), partition)
		if err != nil {
			return 0, err
		}
		deleted = rows
	}
	return deleted, nil
}
