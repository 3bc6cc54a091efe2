package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jmoiron/sqlx"

	"solarmirror/schema"
	"solarmirror/store/sqlitefile"
)

// Held is a record in the mirror with its rows.
type Held struct {
	Stored
	Rows []schema.Rows // of every table of the root; nil when the mirror does not hold the record
}

// Held reads records by their natural keys, with all their rows, in one read transaction: a sync
// that commits meanwhile cannot pair an old hash with new rows. The result is in the order of keys.
func (m *Mirror) Held(ctx context.Context, root *schema.Table, keys []NaturalKey) ([]Held, error) {
	snapshot, err := m.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	held, err := m.held(root, keys, func(query string, arg any) (*sqlx.Rows, error) {
		return snapshot.conn.QueryxContext(ctx, query, arg)
	})
	if err != nil {
		return nil, fmt.Errorf("read %d records of %s: %w", len(keys), root.Name, sqlitefile.Explain(m.path, err))
	}
	return held, nil
}

func (m *Mirror) held(root *schema.Table, keys []NaturalKey, query rowsQuery) ([]Held, error) {
	pairs, err := json.Marshal(keys)
	if err != nil {
		return nil, err
	}
	found, err := query(m.model.statements[root].find, string(pairs))
	if err != nil {
		return nil, err
	}
	stored, err := scanStored(found.Rows, len(keys))
	if err != nil {
		return nil, err
	}
	held := make([]Held, len(keys))
	var known []int64
	for i, s := range stored {
		if held[i].Stored = s; s.Key != 0 {
			known = append(known, s.Key)
		}
	}
	records, err := readRecords(root, known, query)
	if err != nil {
		return nil, err
	}
	for i := range held {
		if held[i].Key != 0 {
			held[i].Rows, records = records[0], records[1:]
		}
	}
	return held, nil
}

// Records reads the rows of records by their surrogate keys: for each key those of every table of
// the root, in the order of the table's key, with values as the flattener makes them.
func (tx *Tx) Records(root *schema.Table, keys []int64) ([][]schema.Rows, error) {
	records, err := readRecords(root, keys, func(query string, arg any) (*sqlx.Rows, error) {
		s, err := tx.Prepared(query)
		if err != nil {
			return nil, err
		}
		return s.QueryxContext(context.Background(), arg)
	})
	if err != nil {
		return nil, tx.Fail("read records of "+root.Name, err)
	}
	return records, nil
}

// rowsQuery runs a query with one argument, on a connection that reads or writes.
type rowsQuery func(query string, arg any) (*sqlx.Rows, error)

func readRecords(root *schema.Table, keys []int64, query rowsQuery) ([][]schema.Rows, error) {
	tables := root.Tables()
	records := make([][]schema.Rows, len(keys))
	place := make(map[int64]int, len(keys))
	for i, key := range keys {
		place[key] = i
		records[i] = make([]schema.Rows, len(tables))
		for j, t := range tables {
			records[i][j].Table = t
		}
	}
	for j, t := range tables {
		err := readRows(t, keys, query, func(row []any) error {
			i, known := place[row[0].(int64)]
			if !known {
				return fmt.Errorf("key %v was not asked for", row[0])
			}
			records[i][j].Values = append(records[i][j].Values, row...)
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	return records, nil
}

func readRows(t *schema.Table, keys []int64, query rowsQuery, each func([]any) error) error {
	columns := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		columns[i] = "+" + c.Name // without a declared type, by which the driver parses dates
	}
	rows, err := query(fmt.Sprintf("SELECT %s FROM %s WHERE %s IN (SELECT value FROM json_each(?)) ORDER BY %s",
		strings.Join(columns, ", "), t.Name, t.Key[0], strings.Join(t.Key, ", ")), keyList(keys))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		row, err := rows.SliceScan()
		if err != nil {
			return err
		}
		if err := each(row); err != nil {
			return err
		}
	}
	return rows.Err()
}
