package store

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"solarmirror/schema"
)

// NaturalKey is how the platform names a record: the values of the two columns of root.Unique.
type NaturalKey [2]string

// Hash is what a record is compared by.
type Hash struct {
	Raw       uint64 // of the bytes as they came
	Canonical uint64 // of the content, whatever the order of keys and the white space
}

// Bytes returns what the _hash column holds: raw, then canonical, both big-endian.
func (h Hash) Bytes() []byte {
	b := make([]byte, 0, 16)
	b = binary.BigEndian.AppendUint64(b, h.Raw)
	return binary.BigEndian.AppendUint64(b, h.Canonical)
}

// hashOf reads what Bytes wrote. Anything else is no record's hash, so the zero Hash makes it be read again.
func hashOf(b []byte) Hash {
	if len(b) != 16 {
		return Hash{}
	}
	return Hash{Raw: binary.BigEndian.Uint64(b), Canonical: binary.BigEndian.Uint64(b[8:])}
}

// Stored is what the mirror holds of a record.
type Stored struct {
	Key       int64 // surrogate key; 0 when the mirror does not hold the record
	Hash      Hash
	ChangedAt string // as FormatTime writes it
	Deleted   bool   // whether it is a tombstone
}

// Stored looks up the records of a page, in one query for up to 1,024 of them. The result is in the order of keys.
func (tx *Tx) Stored(root *schema.Table, keys []NaturalKey) ([]Stored, error) {
	found := make([]Stored, 0, len(keys))
	for part := range slices.Chunk(keys, lookupSizes[len(lookupSizes)-1]) {
		some, err := tx.lookup(root, part)
		if err != nil {
			return nil, tx.fail(fmt.Sprintf("look up %d records in %s", len(keys), root.Name), err)
		}
		found = append(found, some...)
	}
	return found, nil
}

func (tx *Tx) lookup(root *schema.Table, keys []NaturalKey) ([]Stored, error) {
	known, err := tx.statements(root)
	if err != nil {
		return nil, err
	}
	size := slices.IndexFunc(lookupSizes[:], func(n int) bool { return n >= len(keys) })
	query, err := tx.prepared(known.lookup[size])
	if err != nil {
		return nil, err
	}
	args := make([]any, 2*lookupSizes[size])
	for i, k := range keys {
		args[2*i], args[2*i+1] = k[0], k[1]
	}
	rows, err := query.QueryContext(context.Background(), args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := make([]Stored, len(keys))
	var hash []byte
	for rows.Next() {
		var i int
		var s Stored
		if err := rows.Scan(&i, &s.Key, &hash, &s.ChangedAt, &s.Deleted); err != nil {
			return nil, err
		}
		s.Hash = hashOf(hash)
		found[i] = s
	}
	return found, rows.Err()
}

// NewKey returns the next surrogate key of the root: one more than the greatest in use, read once in a transaction and then
// counted. A transaction rolled back gives its keys back. An error, which later calls return, makes it 0.
func (tx *Tx) NewKey(root *schema.Table) int64 {
	if _, ok := tx.lastKey[root]; !ok {
		known, err := tx.statements(root)
		if err != nil {
			_ = tx.fail("read the greatest key", err)
			return 0
		}
		var greatest int64
		if _, err := tx.get("read the greatest key of "+root.Name, &greatest, known.maxKey); err != nil {
			return 0
		}
		tx.lastKey[root] = greatest
	}
	tx.lastKey[root]++
	return tx.lastKey[root]
}

// Upsert writes the rows of records of one root. replaced are the surrogate keys of those the mirror holds already: their
// child rows are deleted first. A root row whose key exists is updated but for its key columns and _first_seen_at.
func (tx *Tx) Upsert(rows []schema.Rows, replaced []int64) error {
	if err := tx.usable(); err != nil {
		return fmt.Errorf("write records: %w", err)
	}
	if len(rows) == 0 && len(replaced) == 0 {
		return nil
	}
	root, err := tx.rootOf(rows)
	if err != nil {
		return tx.fail("write records", err)
	}
	return tx.replace(root.Tables()[1:], rows, replaced)
}

// replace deletes the rows that records have in some child tables, and writes others.
func (tx *Tx) replace(children []*schema.Table, rows []schema.Rows, keys []int64) error {
	for _, child := range children {
		if err := tx.deleteChildren(child, keys); err != nil {
			return err
		}
	}
	for i := range rows {
		if err := tx.insertRows(&rows[i]); err != nil {
			return err
		}
	}
	return nil
}

// rootOf returns the one root all the rows belong to.
func (tx *Tx) rootOf(rows []schema.Rows) (*schema.Table, error) {
	var root *schema.Table
	for i := range rows {
		r := tx.m.model.roots[rows[i].Table]
		switch {
		case r == nil:
			return nil, fmt.Errorf("%s is no table of records", rows[i].Table.Name)
		case root != nil && r != root:
			return nil, fmt.Errorf("%s and %s in one call", root.Name, r.Name)
		}
		root = r
	}
	if root == nil {
		return nil, fmt.Errorf("records to replace, but no rows of them")
	}
	return root, nil
}

func (tx *Tx) deleteChildren(child *schema.Table, keys []int64) error {
	if len(keys) == 0 {
		return nil
	}
	doing := "delete from " + child.Name
	statement, err := tx.prepared(tx.m.model.statements[child].delete)
	if err != nil {
		return tx.fail(doing, err)
	}
	for _, key := range keys {
		if _, err := tx.run(doing, statement, []any{key}); err != nil {
			return err
		}
	}
	return nil
}

// insertRows writes rows into their table, one by one through a prepared statement.
func (tx *Tx) insertRows(rows *schema.Rows) error {
	t := rows.Table
	doing := "insert into " + t.Name
	if len(rows.Values)%len(t.Columns) != 0 {
		return tx.fail(doing, fmt.Errorf("%d values are no whole rows of %d columns", len(rows.Values), len(t.Columns)))
	}
	known, err := tx.statements(t)
	if err != nil {
		return tx.fail(doing, err)
	}
	statement, err := tx.prepared(known.insert)
	if err != nil {
		return tx.fail(doing, err)
	}
	for i := range rows.Len() {
		touched, err := tx.run(doing, statement, rows.Row(i))
		if err != nil {
			return err
		}
		if touched != 1 {
			return tx.fail(doing, fmt.Errorf("key %v belongs to another record", rows.Row(i)[0]))
		}
	}
	return nil
}

// SetHash stores the hash of a record whose content has not changed, and touches nothing else.
func (tx *Tx) SetHash(root *schema.Table, key int64, h Hash) error {
	known, err := tx.statements(root)
	if err != nil {
		return tx.fail("store a hash", err)
	}
	doing := fmt.Sprintf("store the hash of %s %d", root.Name, key)
	touched, err := tx.exec(doing, known.setHash, h.Bytes(), key)
	if err != nil {
		return err
	}
	if touched != 1 {
		return tx.fail(doing, fmt.Errorf("there is no such record"))
	}
	return nil
}

// Undelete clears the tombstone of a record that is there again with the content it had. It touches no row when
// there is no tombstone.
func (tx *Tx) Undelete(root *schema.Table, key int64) error {
	known, err := tx.statements(root)
	if err != nil {
		return tx.fail("clear a tombstone", err)
	}
	_, err = tx.exec(fmt.Sprintf("clear the tombstone of %s %d", root.Name, key), known.undelete, key)
	return err
}

func (tx *Tx) statements(t *schema.Table) (*statements, error) {
	if s := tx.m.model.statements[t]; s != nil {
		return s, nil
	}
	return nil, fmt.Errorf("the mirror has no table %s", t.Name)
}
