package store

import (
	"fmt"
	"slices"
	"strings"

	"solarmirror/schema"
)

// statements are those of one table, derived from its declaration. The first ones take what they work on from the source.
type statements struct {
	insert string // of whole rows; of a root, an upsert of all but what its indices hold

	// Of a table under a root. surplus takes the surrogate keys of records.
	upsert  string // writes whole rows, but for those that are there just so
	surplus string // deletes the rows of records of which the source holds none with the same key

	// Of a root only.
	reindex  string // writes what the indices hold, of the rows in the source of which the mirror says something else
	lookup   string // the records whose natural keys the source holds
	find     string // the same for a JSON array of pairs, since readers have no source
	stray    string // a surrogate key of whole rows in the source that the mirror holds for another natural key
	maxKey   string
	setHash  string
	undelete string
}

// allStatements derives the statements of the tables.
func allStatements(tables []*schema.Table) map[*schema.Table]*statements {
	all := make(map[*schema.Table]*statements, len(tables))
	for _, t := range tables {
		if t.Shape == schema.Root {
			all[t] = rootStatements(t, tables)
			continue
		}
		all[t] = &statements{insert: insertSQL(t)}
		if t.Shape != schema.Ledger && t.Shape != schema.History && t.Shape != schema.Mart {
			all[t].upsert, all[t].surplus = insertSQL(t)+DifferingClause(t), surplusSQL(t)
		}
	}
	return all
}

func rootStatements(t *schema.Table, tables []*schema.Table) *statements {
	return &statements{
		insert:   insertSQL(t) + upsertClause(t),
		reindex:  reindexSQL(t),
		lookup:   lookupSQL(t, sourceTable, "rowid", sourceColumn(0), sourceColumn(1)),
		find:     lookupSQL(t, "json_each(?)", "key", "value ->> 0", "value ->> 1"),
		stray:    straySQL(t),
		maxKey:   maxKeySQL(t, tables),
		setHash:  fmt.Sprintf("UPDATE %s SET _hash = ? WHERE %s = ?", t.Name, t.Key[0]),
		undelete: fmt.Sprintf("UPDATE %s SET _deleted_at = NULL WHERE %s = ? AND _deleted_at IS NOT NULL", t.Name, t.Key[0]),
	}
}

// insertSQL inserts what the source holds. The WHERE is for SQLite's parser, which would else take ON CONFLICT for a join's ON.
func insertSQL(t *schema.Table) string {
	values := make([]string, len(t.Columns))
	for i := range values {
		values[i] = sourceColumn(i)
	}
	return fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM %s WHERE true", t.Name, strings.Join(t.ColumnNames(), ", "), strings.Join(values, ", "), sourceTable)
}

// upsertClause updates every column of a root that content can change, but for those that indices hold: whatever a statement sets in those is
// written to the indices, too, also when it says what was there. The WHERE keeps a row from being written over a record of another natural key:
// it then touches no row, which writeRoot reports.
func upsertClause(t *schema.Table) string {
	var set, same []string
	for _, c := range t.Columns {
		if t.IsKey(c.Name) || slices.Contains(t.Unique, c.Name) || c.Name == "_first_seen_at" || slices.Contains(indexed(t), c.Name) {
			continue
		}
		set = append(set, fmt.Sprintf("%s = excluded.%s", c.Name, c.Name))
	}
	for _, name := range t.Unique {
		same = append(same, fmt.Sprintf("%s.%s = excluded.%s", t.Name, name, name))
	}
	return fmt.Sprintf(" ON CONFLICT (%s) DO UPDATE SET %s WHERE %s", t.Key[0], strings.Join(set, ", "), strings.Join(same, " AND "))
}

// indexed are the columns in a table's secondary indices.
func indexed(t *schema.Table) []string { return slices.Concat(t.Indices...) }

func reindexSQL(t *schema.Table) string {
	var set, differs []string
	for _, name := range indexed(t) {
		said := "s." + sourceColumn(slices.Index(t.ColumnNames(), name))
		set = append(set, fmt.Sprintf("%s = %s", name, said))
		differs = append(differs, fmt.Sprintf("%s.%s IS NOT %s", t.Name, name, said))
	}
	return fmt.Sprintf("UPDATE %[1]s SET %[2]s FROM %[3]s AS s WHERE %[1]s.%[4]s = s.%[5]s AND (%[6]s)",
		t.Name, strings.Join(set, ", "), sourceTable, t.Key[0], sourceColumn(0), strings.Join(differs, " OR "))
}

// DifferingClause updates a row that is there, if it says something else.
func DifferingClause(t *schema.Table) string {
	var set, differs []string
	for _, c := range t.Columns {
		if !t.IsKey(c.Name) {
			set = append(set, fmt.Sprintf("%s = excluded.%[1]s", c.Name))
			differs = append(differs, fmt.Sprintf("%s.%s IS NOT excluded.%[2]s", t.Name, c.Name))
		}
	}
	return fmt.Sprintf(" ON CONFLICT (%s) DO UPDATE SET %s WHERE %s", strings.Join(t.Key, ", "), strings.Join(set, ", "), strings.Join(differs, " OR "))
}

func surplusSQL(t *schema.Table) string {
	kept := make([]string, len(t.Key))
	for i, name := range t.Key {
		kept[i] = sourceColumn(slices.Index(t.ColumnNames(), name))
	}
	return fmt.Sprintf("DELETE FROM %s WHERE %s IN (SELECT value FROM json_each(?)) AND (%s) NOT IN (SELECT %s FROM %s)",
		t.Name, t.Key[0], strings.Join(t.Key, ", "), strings.Join(kept, ", "), sourceTable)
}

// lookupSQL finds natural keys, each with its number. CROSS JOIN makes SQLite walk the keys and
// search the table; coalesce takes the declared type away from _changed_at, which the driver would
// parse otherwise.
func lookupSQL(t *schema.Table, keys, number, first, second string) string {
	return fmt.Sprintf(`SELECT k.%s, r.%s, r._hash, coalesce(r._changed_at, ''), r._deleted_at IS NOT NULL, r._erased_at IS NOT NULL
		FROM %s AS k CROSS JOIN %s AS r ON r.%s = k.%s AND r.%s = k.%s`,
		number, t.Key[0], keys, t.Name, t.Unique[0], first, t.Unique[1], second)
}

// maxKeySQL reads the greatest surrogate key ever used. A root row deleted by SQL leaves its
// history, which must not become that of a new record.
func maxKeySQL(t *schema.Table, tables []*schema.Table) string {
	used := []string{fmt.Sprintf("SELECT max(%s) AS key FROM %s", t.Key[0], t.Name)}
	for _, h := range tables {
		if h.Of == t {
			used = append(used, fmt.Sprintf("SELECT max(%s) FROM %s", h.Key[0], h.Name))
		}
	}
	return fmt.Sprintf("SELECT coalesce(max(key), 0) FROM (%s)", strings.Join(used, " UNION ALL "))
}

func straySQL(t *schema.Table) string {
	at := func(name string) string { return "k." + sourceColumn(slices.Index(t.ColumnNames(), name)) }
	return fmt.Sprintf("SELECT r.%[1]s FROM %[2]s AS k CROSS JOIN %[3]s AS r ON r.%[1]s = %[4]s WHERE r.%[5]s <> %[6]s OR r.%[7]s <> %[8]s LIMIT 1",
		t.Key[0], sourceTable, t.Name, at(t.Key[0]), t.Unique[0], at(t.Unique[0]), t.Unique[1], at(t.Unique[1]))
}
