package store

import (
	"fmt"
	"slices"
	"strings"

	"solarmirror/schema"
)

// lookupSizes are the numbers of keys a lookup is prepared for. A page is filled up with NULLs, which find nothing, to the
// next of them, so that a page takes one query and few statements are kept.
var lookupSizes = [...]int{16, 64, 256, 1024}

// statements are those of one table, derived from its declaration.
type statements struct {
	insert string // an upsert for a root
	// delete removes the rows of one record from a child table; "" where no record owns the rows.
	delete string

	// Of a root only.
	lookup   [len(lookupSizes)]string
	maxKey   string
	setHash  string
	undelete string
}

// allStatements derives the statements of the tables.
func allStatements(tables []*schema.Table) map[*schema.Table]*statements {
	all := make(map[*schema.Table]*statements, len(tables))
	for _, t := range tables {
		if t.Shape == schema.Root {
			all[t] = rootStatements(t)
			continue
		}
		all[t] = &statements{insert: insertSQL(t)}
		if t.Shape != schema.Ledger && t.Shape != schema.History && t.Shape != schema.Mart {
			all[t].delete = fmt.Sprintf("DELETE FROM %s WHERE %s = ?", t.Name, t.Key[0])
		}
	}
	return all
}

func rootStatements(t *schema.Table) *statements {
	s := &statements{
		insert:   insertSQL(t) + upsertClause(t),
		maxKey:   fmt.Sprintf("SELECT coalesce(max(%s), 0) FROM %s", t.Key[0], t.Name),
		setHash:  fmt.Sprintf("UPDATE %s SET _hash = ? WHERE %s = ?", t.Name, t.Key[0]),
		undelete: fmt.Sprintf("UPDATE %s SET _deleted_at = NULL WHERE %s = ? AND _deleted_at IS NOT NULL", t.Name, t.Key[0]),
	}
	for i, n := range lookupSizes {
		s.lookup[i] = lookupSQL(t, n)
	}
	return s
}

func insertSQL(t *schema.Table) string {
	marks := strings.TrimSuffix(strings.Repeat("?, ", len(t.Columns)), ", ")
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", t.Name, strings.Join(t.ColumnNames(), ", "), marks)
}

// upsertClause updates every column that content can change. The WHERE keeps a row from being written over a record of
// another natural key: it then touches no row, which insertRows reports.
func upsertClause(t *schema.Table) string {
	var set []string
	for _, c := range t.Columns {
		if t.IsKey(c.Name) || slices.Contains(t.Unique, c.Name) || c.Name == "_first_seen_at" {
			continue
		}
		set = append(set, fmt.Sprintf("%s = excluded.%s", c.Name, c.Name))
	}
	var same []string
	for _, name := range t.Unique {
		same = append(same, fmt.Sprintf("%s.%s = excluded.%s", t.Name, name, name))
	}
	return fmt.Sprintf(" ON CONFLICT (%s) DO UPDATE SET %s WHERE %s", t.Key[0], strings.Join(set, ", "), strings.Join(same, " AND "))
}

// lookupSQL finds n natural keys, each with its number in the list. CROSS JOIN makes SQLite walk the list and search
// the table; the + takes the declared type away from _changed_at, which the driver would parse otherwise.
func lookupSQL(t *schema.Table, n int) string {
	var list strings.Builder
	for i := range n {
		if i > 0 {
			list.WriteString(", ")
		}
		fmt.Fprintf(&list, "(%d, ?, ?)", i)
	}
	return fmt.Sprintf(`SELECT k.column1, r.%s, r._hash, +r._changed_at, r._deleted_at IS NOT NULL
		FROM (VALUES %s) AS k CROSS JOIN %s AS r ON r.%s = k.column2 AND r.%s = k.column3`,
		t.Key[0], list.String(), t.Name, t.Unique[0], t.Unique[1])
}
