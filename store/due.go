package store

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"solarmirror/schema"
)

// due returns what is to be promoted once the file has the model's columns: what was left before, and what the model documents
// beyond the file's own data dictionary. An unknown value stands in extra whole, at the highest unknown path; that path is what is
// listed.
func (m *Mirror) due(ctx context.Context, found *layout) ([]Promotion, error) {
	if found.version == 0 {
		return nil, nil
	}
	var list []Promotion
	if slices.Contains(found.columns[schema.Meta.Name], "promotion") {
		var err error
		if list, err = readPromotions(ctx, m.conn); err != nil {
			return nil, err
		}
	}
	documented, err := m.documented(ctx)
	if err != nil {
		return nil, err
	}
	for _, root := range m.model.tables {
		known := documented[root]
		if root.Shape != schema.Root || len(known) == 0 {
			continue
		}
		if gained := gainedPaths(known, m.model.sources(root)); len(gained) > 0 {
			list = addPaths(list, root.Name, gained)
		}
	}
	return list, nil
}

// documented returns, by root, every path that the file's data dictionary gives a meaning: those of its columns, and of the objects and
// arrays around them.
func (m *Mirror) documented(ctx context.Context) (map[*schema.Table]map[string]bool, error) {
	var columns []struct {
		Table  string `db:"table_name"`
		Source string `db:"source_path"`
	}
	err := m.conn.SelectContext(ctx, &columns, "SELECT table_name, source_path FROM _columns WHERE source_path IS NOT NULL")
	if err != nil {
		return nil, fmt.Errorf("read the data dictionary: %w", err)
	}
	all := map[*schema.Table]map[string]bool{}
	for _, c := range columns {
		root := m.model.rootOfName(c.Table)
		if root == nil {
			continue
		}
		if all[root] == nil {
			all[root] = map[string]bool{}
		}
		for path := range strings.FieldsSeq(c.Source) {
			for prefix := range prefixes(path) {
				all[root][prefix] = true
			}
		}
	}
	return all, nil
}

// sources returns the paths of all columns under a root, as the model's data dictionary has them.
func (mod *model) sources(root *schema.Table) []string {
	var all []string
	for i := range mod.dictionary.Len() {
		row := mod.dictionary.Row(i)
		table, source := row[0].(string), row[3]
		if source != nil && mod.rootOfName(table) == root {
			all = append(all, strings.Fields(source.(string))...)
		}
	}
	return all
}

// rootOfName returns the root that the named table of records hangs under, or nil.
func (mod *model) rootOfName(name string) *schema.Table {
	for t, root := range mod.roots {
		if t.Name == name {
			return root
		}
	}
	return nil
}

// gainedPaths returns, of paths that are not known, the highest unknown steps, each once.
func gainedPaths(known map[string]bool, paths []string) []string {
	var gained []string
	for _, path := range paths {
		for prefix := range prefixes(path) {
			if !known[prefix] {
				gained = append(gained, prefix)
				break
			}
		}
	}
	slices.Sort(gained)
	return slices.Compact(gained)
}

// prefixes yields /a, /a/b, /a/b/c of /a/b/c.
func prefixes(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := 1; i <= len(path); i++ {
			if (i == len(path) || path[i] == '/') && !yield(path[:i]) {
				return
			}
		}
	}
}

// addPaths adds paths of a root to the list; the records that are done with the paths before are not done with these.
func addPaths(list []Promotion, root string, paths []string) []Promotion {
	i := slices.IndexFunc(list, func(p Promotion) bool { return p.Root == root })
	if i < 0 {
		return append(list, Promotion{Root: root, Paths: paths})
	}
	all := slices.Concat(list[i].Paths, paths)
	slices.Sort(all)
	list[i] = Promotion{Root: root, Paths: slices.Compact(all)}
	return list
}
