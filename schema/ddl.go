package schema

import (
	"fmt"
	"slices"
	"strings"
)

// DDL returns the statement that creates the table.
func (t *Table) DDL() string {
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE %s (\n", t.Name)
	for _, c := range t.Columns {
		fmt.Fprintf(&b, "  %s,\n", t.columnDDL(c))
	}
	if t.rowidKey() {
		if len(t.Unique) > 0 {
			fmt.Fprintf(&b, "  UNIQUE (%s),\n", strings.Join(t.Unique, ", "))
		}
		return strings.TrimSuffix(b.String(), ",\n") + "\n)"
	}
	if len(t.Key) == 0 {
		return strings.TrimSuffix(b.String(), ",\n") + "\n)"
	}
	fmt.Fprintf(&b, "  PRIMARY KEY (%s)\n) WITHOUT ROWID", strings.Join(t.Key, ", "))
	return b.String()
}

// deletedAt is NULL in all rows but the tombstones. An index over it holds these alone.
const deletedAt = "_deleted_at"

// IndexDDL returns the statements that create the secondary indices, by the indices' names.
func (t *Table) IndexDDL() map[string]string {
	list := map[string]string{}
	for _, columns := range t.Indices {
		name := t.Name + "_" + strings.Join(columns, "_")
		list[name] = fmt.Sprintf("CREATE INDEX %s ON %s (%s)", name, t.Name, strings.Join(columns, ", "))
		if columns[0] == deletedAt {
			list[name] += " WHERE " + deletedAt + " IS NOT NULL"
		}
	}
	return list
}

// AddColumnDDL returns the statement that adds a column to an existing table. SQLite wants a default for a NOT NULL
// column added later, so such a column's Clause must carry one.
func (t *Table) AddColumnDDL(c Column) string {
	return fmt.Sprintf("ALTER TABLE %s ADD COLUMN %s", t.Name, t.columnDDL(c))
}

// MissingColumnsDDL returns the statements that add the columns not among those that a table has.
func (t *Table) MissingColumnsDDL(have []string) []string {
	var list []string
	for _, c := range t.Columns {
		if !slices.Contains(have, c.Name) {
			list = append(list, t.AddColumnDDL(c))
		}
	}
	return list
}

func (t *Table) columnDDL(c Column) string {
	words := []string{c.Name, string(c.Type)}
	switch {
	case t.rowidKey() && c.Name == t.Key[0]:
		words = append(words, "PRIMARY KEY")
	case c.Not:
		words = append(words, "NOT NULL")
	}
	if c.Clause != "" {
		words = append(words, c.Clause)
	}
	return strings.Join(words, " ")
}

// rowidKey says whether the table's key is SQLite's own row number.
func (t *Table) rowidKey() bool {
	return len(t.Key) == 1 && t.Column(t.Key[0]).Type == Surrogate
}

// SourcePath returns the full JSON Pointer of a column in the platform's record, "*" standing for every element of an array,
// or "" when no field of the record feeds it. A column with several sources has their paths, separated by spaces.
func SourcePath(t *Table, c Column) string {
	if t.Shape == History {
		return followedPaths(t, c)
	}
	if c.Path == "" {
		return ""
	}
	if t.Shape == Values {
		paths := make([]string, len(t.Arrays))
		for i, a := range t.Arrays {
			paths[i] = a.Path + "/*"
		}
		return strings.Join(paths, " ")
	}
	path := elementPath(t)
	if c.Path != "." {
		path += c.Path
	}
	return path
}

func followedPaths(t *Table, c Column) string {
	var paths []string
	for _, s := range t.Sources {
		if f := s.Feed(c.Name); f != nil && f.Table != nil {
			paths = append(paths, SourcePath(f.Table, *f.Table.Column(f.Column)))
		}
	}
	return strings.Join(paths, " ")
}

// elementPath is where the table's element stands in the record.
func elementPath(t *Table) string {
	for _, root := range Roots() {
		if path, ok := findElement(root, t, ""); ok {
			return path
		}
	}
	return ""
}

func findElement(at, t *Table, prefix string) (string, bool) {
	prefix += at.Path
	if at.Shape == Many {
		prefix += "/*"
	}
	if at == t {
		return prefix, true
	}
	for _, c := range at.Children {
		if path, ok := findElement(c, t, prefix); ok {
			return path, true
		}
	}
	return "", false
}

// Dictionary returns the rows of the data dictionary, table by table in the order of All.
func Dictionary() *Rows {
	rows := &Rows{Table: Columns}
	for _, t := range All() {
		for _, c := range t.Columns {
			personal := int64(1)
			if c.Privacy == Public {
				personal = 0
			}
			rows.Values = append(rows.Values, t.Name, c.Name, string(c.Type), orNull(SourcePath(t, c)), c.Doc, c.Label, orNull(c.Unit), personal, Portuguese.Text(c.Doc))
		}
	}
	return rows
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// IsKey says whether the column is part of the table's primary key.
func (t *Table) IsKey(column string) bool { return slices.Contains(t.Key, column) }
