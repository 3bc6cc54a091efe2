package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

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
	Erased    bool   // whether Forget blanked fields of this content
}

// Stored looks up the records of a page, in one query. The result is in the order of keys.
func (tx *Tx) Stored(root *schema.Table, keys []NaturalKey) ([]Stored, error) {
	doing := fmt.Sprintf("look up %d records in %s", len(keys), root.Name)
	known, err := tx.statements(root)
	if err != nil {
		return nil, tx.Fail(doing, err)
	}
	query, err := tx.Prepared(known.lookup)
	if err != nil {
		return nil, tx.Fail(doing, err)
	}
	values := make([]any, 0, 2*len(keys))
	for _, k := range keys {
		values = append(values, k[0], k[1])
	}
	tx.m.rows.show(values, 2)
	defer tx.m.rows.clear()
	rows, err := query.QueryContext(context.Background())
	if err != nil {
		return nil, tx.Fail(doing, err)
	}
	found, err := scanStored(rows, len(keys))
	if err != nil {
		return nil, tx.Fail(doing, err)
	}
	return found, nil
}

// scanStored reads the result of a lookup of n keys.
func scanStored(rows *sql.Rows, n int) ([]Stored, error) {
	defer rows.Close()
	found := make([]Stored, n)
	var hash sql.RawBytes
	for rows.Next() {
		var i int
		var s Stored
		if err := rows.Scan(&i, &s.Key, &hash, &s.ChangedAt, &s.Deleted, &s.Erased); err != nil {
			return nil, err
		}
		s.Hash = hashOf(hash)
		found[i] = s
	}
	return found, rows.Err()
}

// NewKey returns the next surrogate key of the root: one more than the greatest ever used, read
// once in a transaction and then counted. A transaction rolled back gives its keys back. An error,
// which later calls return, makes it 0.
func (tx *Tx) NewKey(root *schema.Table) int64 {
	if _, ok := tx.lastKey[root]; !ok {
		known, err := tx.statements(root)
		if err != nil {
			_ = tx.Fail("read the greatest key", err)
			return 0
		}
		var greatest int64
		if _, err := tx.Get("read the greatest key of "+root.Name, &greatest, known.maxKey); err != nil {
			return 0
		}
		tx.lastKey[root] = greatest
	}
	tx.lastKey[root]++
	return tx.lastKey[root]
}

// Upsert writes the rows of records of one root. replaced are the surrogate keys of those the mirror holds already: of their child rows,
// those that differ are written and those that are no more are deleted. A root row whose key exists is updated but for its key columns and
// _first_seen_at.
func (tx *Tx) Upsert(rows []schema.Rows, replaced []int64) error {
	if err := tx.usable(); err != nil {
		return fmt.Errorf("write records: %w", err)
	}
	if len(rows) == 0 && len(replaced) == 0 {
		return nil
	}
	root, err := tx.rootOf(rows)
	if err != nil {
		return tx.Fail("write records", err)
	}
	if err := tx.write(root.Tables(), rows, replaced); err != nil {
		return err
	}
	return tx.noteStaleRows(root, rows)
}

// write makes rows those of their records in some tables; replaced are the keys of the records that may have others there.
func (tx *Tx) write(tables []*schema.Table, rows []schema.Rows, replaced []int64) error {
	for _, t := range tables {
		of := schema.Rows{Table: t}
		if i := slices.IndexFunc(rows, func(r schema.Rows) bool { return r.Table == t }); i >= 0 {
			of = rows[i]
		}
		write := tx.writeChildren
		if t.Shape == schema.Root {
			write = tx.writeRoot
		}
		if err := write(&of, replaced); err != nil {
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

func (tx *Tx) writeRoot(rows *schema.Rows, replaced []int64) error {
	known := tx.m.model.statements[rows.Table]
	doing := "write to " + rows.Table.Name
	touched, err := tx.execOver(rows, doing, known.insert)
	if err != nil {
		return err
	}
	if touched != int64(rows.Len()) {
		return tx.failStray(doing, known, rows)
	}
	if len(replaced) > 0 {
		_, err = tx.execOver(rows, doing, known.reindex)
	}
	return err
}

func (tx *Tx) writeChildren(rows *schema.Rows, replaced []int64) error {
	known := tx.m.model.statements[rows.Table]
	write := known.insert
	if len(replaced) > 0 {
		if _, err := tx.execOver(rows, "delete from "+rows.Table.Name, known.surplus, keyList(replaced)); err != nil {
			return err
		}
		write = known.upsert
	}
	if len(rows.Values) == 0 {
		return nil
	}
	_, err := tx.execOver(rows, "write to "+rows.Table.Name, write)
	if violatesConstraint(err) { // the keys of new records are new: only SQL can have used one
		tx.failed = fmt.Errorf("%w: rows without a record are in the way; run `solarmirror sync --full --repair`", err)
		return tx.failed
	}
	return err
}

// failStray names the key that kept an upsert from touching all its rows.
func (tx *Tx) failStray(doing string, known *statements, rows *schema.Rows) error {
	tx.m.rows.show(rows.Values, len(rows.Table.Columns))
	defer tx.m.rows.clear()
	var key int64
	if _, err := tx.Get(doing, &key, known.stray); err != nil {
		return err
	}
	return tx.Fail(doing, fmt.Errorf("key %d belongs to another record", key))
}

// execOver runs a statement that finds rows in the source, and returns how many it touched.
func (tx *Tx) execOver(rows *schema.Rows, doing, query string, args ...any) (int64, error) {
	width := len(rows.Table.Columns)
	if len(rows.Values)%width != 0 {
		return 0, tx.Fail(doing, fmt.Errorf("%d values are no whole rows of %d columns", len(rows.Values), width))
	}
	tx.m.rows.show(rows.Values, width)
	defer tx.m.rows.clear()
	return tx.Exec(doing, query, args...)
}

// SetHash stores the hash of a record whose content has not changed, and touches nothing else.
func (tx *Tx) SetHash(root *schema.Table, key int64, h Hash) error {
	known, err := tx.statements(root)
	if err != nil {
		return tx.Fail("store a hash", err)
	}
	doing := fmt.Sprintf("store the hash of %s %d", root.Name, key)
	touched, err := tx.Exec(doing, known.setHash, h.Bytes(), key)
	if err != nil {
		return err
	}
	if touched != 1 {
		return tx.Fail(doing, fmt.Errorf("there is no such record"))
	}
	return nil
}

// Undelete clears the tombstone of a record that is there again with the content it had. It touches no row when
// there is no tombstone.
func (tx *Tx) Undelete(root *schema.Table, key int64) error {
	known, err := tx.statements(root)
	if err != nil {
		return tx.Fail("clear a tombstone", err)
	}
	touched, err := tx.Exec(fmt.Sprintf("clear the tombstone of %s %d", root.Name, key), known.undelete, key)
	if err != nil || touched == 0 {
		return err
	}
	return tx.NoteStaleKeys(root, key)
}

func (tx *Tx) statements(t *schema.Table) (*statements, error) {
	if s := tx.m.model.statements[t]; s != nil {
		return s, nil
	}
	return nil, fmt.Errorf("the mirror has no table %s", t.Name)
}

// violatesConstraint says whether the driver found two rows with one key, or a value that a CHECK
// forbids.
func violatesConstraint(err error) bool {
	var driver *sqlite.Error
	return errors.As(err, &driver) && driver.Code()&0xff == sqlite3.SQLITE_CONSTRAINT
}
