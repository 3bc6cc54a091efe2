package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"

	"solarmirror/schema"
	"solarmirror/store/sqlitefile"
)

// Orphan is a surrogate key without a root row, and the tables with rows under it.
type Orphan struct {
	Key    string // what the column holds: SQL can write any value there
	Tables []string
}

// Orphans returns the orphans of a root.
func (m *Mirror) Orphans(ctx context.Context, root *schema.Table) ([]Orphan, error) {
	list, err := findOrphans(ctx, m.read, root)
	if err != nil {
		return nil, fmt.Errorf("look for orphans of %s: %w", root.Name, sqlitefile.Explain(m.path, err))
	}
	return list, nil
}

// DeleteOrphans deletes the rows of the orphans and returns the orphans. The marts are not told:
// the caller calls marts.Rebuild.
func (tx *Tx) DeleteOrphans(root *schema.Table) ([]Orphan, error) {
	if err := tx.usable(); err != nil {
		return nil, fmt.Errorf("delete orphans of %s: %w", root.Name, err)
	}
	list, err := findOrphans(context.Background(), tx.m.conn, root)
	if err != nil {
		return nil, tx.Fail("look for orphans of "+root.Name, err)
	}
	for _, t := range root.Tables()[1:] {
		if !slices.ContainsFunc(list, func(o Orphan) bool { return slices.Contains(o.Tables, t.Name) }) {
			continue
		}
		if _, err := tx.Exec("delete orphans from "+t.Name, "DELETE"+orphansOf(t, root)); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// orphansOf picks the rows of a table whose record has no root row.
func orphansOf(t, root *schema.Table) string {
	return fmt.Sprintf(" FROM %s WHERE %s NOT IN (SELECT %s FROM %s)", t.Name, t.Key[0], root.Key[0], root.Name)
}

func findOrphans(ctx context.Context, q sqlx.QueryerContext, root *schema.Table) ([]Orphan, error) {
	var list []Orphan
	place := map[string]int{}
	for _, t := range root.Tables()[1:] {
		var keys []string
		query := fmt.Sprintf("SELECT %s%s GROUP BY 1 ORDER BY 1", t.Key[0], orphansOf(t, root))
		if err := sqlx.SelectContext(ctx, q, &keys, query); err != nil {
			return nil, err
		}
		for _, key := range keys {
			i, known := place[key]
			if !known {
				i = len(list)
				place[key] = i
				list = append(list, Orphan{Key: key})
			}
			list[i].Tables = append(list[i].Tables, t.Name)
		}
	}
	return list, nil
}
