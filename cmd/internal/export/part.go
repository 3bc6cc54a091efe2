package export

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"

	"solarmirror/schema"
)

// part is one file to be: a table, or one month of it.
type part struct {
	table    *schema.Table
	path     string  // from the directory of the export, with slashes
	month    string  // "" where the table is not cut
	keyed    bool    // holds the rows of the records in keys, and no others
	keys     []int64 // surrogate
	madeFrom string  // "" where only the rows themselves can tell
}

// parts cuts a table into one part for each month of the records that its rows belong to.
func (s *source) parts(t *schema.Table, f Format) []part {
	of, known := s.records[t]
	switch {
	case !known:
		return []part{{table: t, path: wholePath(t, f)}}
	case of.whole, !f.months:
		return []part{{table: t, path: wholePath(t, f), madeFrom: of.fingerprint()}}
	}
	var list []part
	for _, month := range of.months() {
		list = append(list, part{
			table: t, month: month, path: path.Join(t.Name, "month="+month, "part"+f.extension), madeFrom: of.prints[month],
			keyed: of.keys != nil, keys: of.keys[month],
		})
	}
	return list
}

func wholePath(t *schema.Table, f Format) string {
	if f.months {
		return path.Join(t.Name, "part"+f.extension)
	}
	return t.Name + f.extension
}

// keysAtOnce is how many records one statement asks for.
const keysAtOnce = 1000

// rows yields the rows of a part, in the order of the table's key.
func (s *source) rows(ctx context.Context, p part) iter.Seq2[[]any, error] {
	query, order := selectSQL(p.table), orderSQL(p.table)
	switch {
	case p.keyed:
		return s.rowsOfKeys(ctx, fmt.Sprintf("%s WHERE %s IN (SELECT value FROM json_each(?))%s", query, p.table.Key[0], order), p.keys)
	case p.month == noMonth:
		return s.query(ctx, query+" WHERE substr(valid_from, 1, 7) NOT GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]'"+order)
	case p.month != "":
		return s.query(ctx, query+" WHERE substr(valid_from, 1, 7) = ?"+order, p.month)
	}
	return s.query(ctx, query+order)
}

func (s *source) rowsOfKeys(ctx context.Context, query string, keys []int64) iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		for some := range slices.Chunk(keys, keysAtOnce) {
			list, err := json.Marshal(some)
			if err != nil {
				yield(nil, err)
				return
			}
			for row, err := range s.query(ctx, query, string(list)) {
				if !yield(row, err) || err != nil {
					return
				}
			}
		}
	}
}

// slice yields some of a table's rows, in the order of its key.
func (s *source) slice(ctx context.Context, t *schema.Table, limit, offset int64) iter.Seq2[[]any, error] {
	return s.query(ctx, selectSQL(t)+orderSQL(t)+" LIMIT ? OFFSET ?", limit, offset)
}

func selectSQL(t *schema.Table) string {
	return "SELECT " + strings.Join(columnsSQL(t), ", ") + " FROM " + t.Name
}

func orderSQL(t *schema.Table) string {
	if len(t.Key) == 0 { // a mart; the same rows shall make the same file
		return " ORDER BY " + strings.Join(t.ColumnNames(), ", ")
	}
	return " ORDER BY " + strings.Join(t.Key, ", ")
}

// columnsSQL lists a table's columns; the sign keeps the driver from reading dates and times.
func columnsSQL(t *schema.Table) []string {
	names := t.ColumnNames()
	for i, c := range t.Columns {
		if c.Type == schema.Date || c.Type == schema.Timestamp {
			names[i] = "+" + c.Name
		}
	}
	return names
}
