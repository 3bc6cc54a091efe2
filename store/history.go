package store

import (
	"encoding/json"
	"fmt"
	"strings"

	"solarmirror/schema"
)

// Follow brings the history of records up to what their rows now say: where tracked columns differ from a record's open
// interval that interval ends and the next begins, at the record's _changed_at; elsewhere nothing is written. Call it
// after Upsert, in the same transaction. inserted are the records that were not in the mirror before: how long they had
// been as they are is not known, so their intervals count as inferred.
func (tx *Tx) Follow(root *schema.Table, inserted, replaced []int64) error {
	for _, h := range tx.m.model.history[root] {
		if err := tx.follow(h, inserted, replaced); err != nil {
			return err
		}
	}
	return nil
}

func (tx *Tx) follow(h *historyStatements, inserted, replaced []int64) error {
	if len(replaced) > 0 {
		if _, err := tx.Exec("end intervals of "+h.table.Name, h.end, keyList(replaced)); err != nil {
			return err
		}
		if err := tx.begin(h, replaced, false); err != nil {
			return err
		}
	}
	if len(inserted) > 0 {
		return tx.begin(h, inserted, true)
	}
	return nil
}

func (tx *Tx) begin(h *historyStatements, keys []int64, inferred bool) error {
	for _, begin := range h.begin {
		if _, err := tx.Exec("begin intervals of "+h.table.Name, begin, inferred, keyList(keys)); err != nil {
			return err
		}
	}
	return nil
}

// keyList writes surrogate keys as the JSON that the statements take apart.
func keyList(keys []int64) string {
	if len(keys) == 0 {
		return "[]" // and not null, beside which nothing is NOT IN the list
	}
	text, err := json.Marshal(keys)
	if err != nil {
		panic(err) // numbers can be written
	}
	return string(text)
}

// historyStatements are those of one history table.
type historyStatements struct {
	table *schema.Table
	end   string   // ends the open intervals of the records named that no longer hold
	begin []string // per source: begins an interval for the records named where none is open
	seed  []string // per source: the same for every record there is
}

func newHistoryStatements(t *schema.Table) *historyStatements {
	h := &historyStatements{table: t}
	root, key := t.Of.Name, t.Key[0]
	var holds strings.Builder
	for i := range t.Sources {
		s := &t.Sources[i]
		fmt.Fprintf(&holds, "\nAND NOT EXISTS (SELECT 1 FROM %s WHERE %s)", followedRows(t, s), strings.Join(stillHolds(t, s), " AND "))
		named := "json_each(?) AS named CROSS JOIN " + followedRows(t, s)
		onlyNamed := fmt.Sprintf("%s.%s = named.value AND ", root, key)
		h.begin = append(h.begin, beginSQL(t, s, "?", named, onlyNamed))
		h.seed = append(h.seed, beginSQL(t, s, "1", followedRows(t, s), ""))
	}
	h.end = fmt.Sprintf(`UPDATE %[1]s SET valid_to = (SELECT %[2]s._changed_at FROM %[2]s WHERE %[2]s.%[3]s = %[1]s.%[3]s)
WHERE %[3]s IN (SELECT value FROM json_each(?)) AND valid_to IS NULL%[4]s`, t.Name, root, key, holds.String())
	return h
}

// beginSQL begins an interval for each followed row that has none open. An interval that began with the very same page and was
// ended by it takes the new values: an empty interval would say nothing.
func beginSQL(t *schema.Table, s *schema.Source, inferred, rows, where string) string {
	var values, same []string
	for _, c := range t.Columns {
		values = append(values, historyValue(t, s, c.Name, inferred))
	}
	for _, name := range keyColumns(t) {
		same = append(same, fmt.Sprintf("now_open.%s = %s", name, historyValue(t, s, name, inferred)))
	}
	set := []string{"valid_to = NULL"}
	for _, f := range s.Feeds {
		if !t.IsKey(f.Into) {
			set = append(set, fmt.Sprintf("%[1]s = excluded.%[1]s", f.Into))
		}
	}
	return fmt.Sprintf(`INSERT INTO %s (%s)
SELECT %s
FROM %s
WHERE %s%sNOT EXISTS (SELECT 1 FROM %s AS now_open WHERE %s AND now_open.valid_to IS NULL)
ON CONFLICT (%s) DO UPDATE SET %s`,
		t.Name, strings.Join(t.ColumnNames(), ", "), strings.Join(values, ", "), rows,
		where, canBeFollowed(t, s), t.Name, strings.Join(same, " AND "), strings.Join(t.Key, ", "), strings.Join(set, ", "))
}

// keyColumns is the key of what has one interval at a time: the table's key but for valid_from.
func keyColumns(t *schema.Table) []string { return t.Key[:len(t.Key)-1] }

// historyValue is the SQL of a column's value in a new interval.
func historyValue(t *schema.Table, s *schema.Source, column, inferred string) string {
	switch column {
	case t.Key[0]:
		return t.Of.Name + "." + column
	case "valid_from":
		return t.Of.Name + "._changed_at"
	case "valid_to":
		return "NULL"
	case "is_inferred":
		return inferred
	}
	f := s.Feed(column)
	if f.Table == nil {
		return "''"
	}
	return f.Table.Name + "." + f.Column
}

// followedRows is the FROM of a source: the root, the rows followed, and the 1:1 tables that feed columns.
func followedRows(t *schema.Table, s *schema.Source) string {
	var b strings.Builder
	b.WriteString(t.Of.Name)
	joined := map[*schema.Table]bool{t.Of: true, nil: true}
	join := func(kind string, other *schema.Table) {
		if !joined[other] {
			joined[other] = true
			fmt.Fprintf(&b, " %s %s ON %s.%s = %s.%s", kind, other.Name, other.Name, t.Key[0], t.Of.Name, t.Key[0])
		}
	}
	join("JOIN", s.Rows)
	for _, f := range s.Feeds {
		join("LEFT JOIN", f.Table)
	}
	return b.String()
}

// stillHolds are the conditions under which a followed row says what the open interval says.
func stillHolds(t *schema.Table, s *schema.Source) []string {
	list := []string{fmt.Sprintf("%s.%s = %s.%s", t.Of.Name, t.Key[0], t.Name, t.Key[0])}
	for _, f := range s.Feeds {
		list = append(list, fmt.Sprintf("%s IS %s.%s", historyValue(t, s, f.Into, ""), t.Name, f.Into))
	}
	if c := strings.TrimSuffix(canBeFollowed(t, s), " AND "); c != "" {
		list = append(list, c)
	}
	return list
}

// canBeFollowed picks the elements of an array that can be told apart: those with a name, and of several with the same name the
// first. A root row needs no condition.
func canBeFollowed(t *schema.Table, s *schema.Source) string {
	if s.Rows == t.Of {
		return ""
	}
	key, position := s.Rows.Key[0], s.Rows.Key[1]
	var b strings.Builder
	for _, name := range keyColumns(t)[1:] {
		f := s.Feed(name)
		fmt.Fprintf(&b, `%[1]s.%[2]s <> '' AND NOT EXISTS (SELECT 1 FROM %[1]s AS earlier
	WHERE earlier.%[3]s = %[1]s.%[3]s AND earlier.%[2]s = %[1]s.%[2]s AND earlier.%[4]s < %[1]s.%[4]s) AND `, f.Table.Name, f.Column, key, position)
	}
	return b.String()
}
