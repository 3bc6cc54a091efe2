package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"solarmirror/schema"
	"solarmirror/store/sqlitefile"
)

// model is what the file should hold.
type model struct {
	version    int
	tables     []*schema.Table
	dictionary *schema.Rows
	statements map[*schema.Table]*statements
	roots      map[*schema.Table]*schema.Table        // the root each table of records hangs under
	history    map[*schema.Table][]*historyStatements // by the root they follow
}

func currentModel() *model {
	return newModel(schema.Version, schema.All(), schema.Dictionary())
}

func newModel(version int, tables []*schema.Table, dictionary *schema.Rows) *model {
	mod := &model{
		version: version, tables: tables, dictionary: dictionary,
		statements: allStatements(tables), roots: map[*schema.Table]*schema.Table{},
		history: map[*schema.Table][]*historyStatements{},
	}
	for _, t := range tables {
		switch t.Shape {
		case schema.Root:
			t.Walk(func(child *schema.Table) { mod.roots[child] = t })
		case schema.History:
			mod.history[t.Of] = append(mod.history[t.Of], newHistoryStatements(t))
		}
	}
	return mod
}

// width is the number of columns of the widest table.
func (mod *model) width() int {
	n := 0
	for _, t := range mod.tables {
		n = max(n, len(t.Columns))
	}
	return n
}

// layout is what the file does hold.
type layout struct {
	columns map[string][]string // of every table, SQLite's own left out
	views   []string
	indices []string // the statements that made them
	version int      // 0 without a row in _meta
}

const indicesSQL = `SELECT sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL`

func inspect(ctx context.Context, q sqlitefile.Querier) (*layout, error) {
	columns, err := sqlitefile.Columns(ctx, q)
	if err != nil {
		return nil, err
	}
	found := &layout{columns: columns}
	if err := q.SelectContext(ctx, &found.indices, indicesSQL); err != nil {
		return nil, fmt.Errorf("list the indices: %w", err)
	}
	if err := q.SelectContext(ctx, &found.views, "SELECT name FROM sqlite_master WHERE type = 'view'"); err != nil {
		return nil, fmt.Errorf("list the views: %w", err)
	}
	if found.Ours() {
		if err := q.GetContext(ctx, &found.version, "SELECT coalesce(max(schema_version), 0) FROM _meta"); err != nil {
			return nil, fmt.Errorf("read the schema version: %w", err)
		}
	}
	return found, nil
}

// InspectFile looks at the tables of a database of any kind. [sqlitefile.ErrNoDatabase] when there is none.
func InspectFile(ctx context.Context, path, mode string) (*layout, error) {
	if err := sqlitefile.MustExist(path); err != nil {
		return nil, err
	}
	db, err := sqlitefile.OpenUnguarded(path, mode)
	if err != nil {
		return nil, err
	}
	found, err := inspect(ctx, db)
	return found, errors.Join(err, db.Close())
}

// Empty says whether there are no tables.
func (l *layout) Empty() bool { return len(l.columns) == 0 }

// Has says whether there is the table.
func (l *layout) Has(t *schema.Table) bool { return l.columns[t.Name] != nil }

// Ours says whether solarmirror made the tables.
func (l *layout) Ours() bool {
	return slices.Contains(l.columns[schema.Meta.Name], "schema_version")
}

// refuse returns an error for a file this binary must leave alone. An empty one is welcome.
func (l *layout) refuse(path string, mod *model) error {
	switch {
	case len(l.columns) > 0 && !l.Ours():
		return fmt.Errorf("%w: %s holds the tables of something else (%s): set [mirror] path to another file, then run `solarmirror sync`",
			sqlitefile.ErrNotMirror, path, strings.Join(slices.Sorted(maps.Keys(l.columns)), ", "))
	case l.version > mod.version:
		return &sqlitefile.NewerError{Path: path, Have: l.version, Know: mod.version}
	case l.version == mod.version:
		return l.refuseLost(path, mod)
	}
	return nil
}

// refuseLost returns an error when a table of records is missing. Made anew it would be empty, and
// nothing would say so: the watermarks are past its records, and their keys are in the history.
func (l *layout) refuseLost(path string, mod *model) error {
	for t := range mod.roots {
		if !l.Has(t) {
			return fmt.Errorf("%w: %s: another program has dropped or renamed the table %s: give it back its name, or put the last backup back: "+
				"`solarmirror restore --from DIR`; without one, move the file away with its -wal and -shm and run `solarmirror sync` to read everything again",
				sqlitefile.ErrCorrupt, path, t.Name)
		}
	}
	return nil
}

// missing returns the statements that bring the file to the model, but for the indices of record tables, which have their own time; see
// [Mirror.MakeIndices].
func (l *layout) missing(mod *model) []string {
	list, dropped := l.dropMarts()
	for _, t := range mod.tables {
		have, exists := l.columns[t.Name]
		exists = exists && !slices.Contains(dropped, t)
		if !exists {
			for _, index := range slices.Sorted(maps.Keys(t.IndexDDL())) {
				// A renamed table has kept its indices, and their names.
				list = append(list, "DROP INDEX IF EXISTS "+index)
			}
			list = append(list, t.DDL())
		} else {
			list = append(list, t.MissingColumnsDDL(have)...)
		}
		if mod.roots[t] != nil {
			continue
		}
		for _, ddl := range t.IndexDDL() {
			// SQLite keeps the statement without these words.
			if !exists || !slices.Contains(l.indices, strings.Replace(ddl, "IF NOT EXISTS ", "", 1)) {
				list = append(list, ddl)
			}
		}
	}
	return list
}

// dropMarts returns the statements that make all marts due for a rebuild when one is missing or
// lacks a column, because an analyst changed it or an earlier version made it; and the tables they
// drop. The other marts are dropped because SQLite may have changed their foreign keys to a new
// name.
func (l *layout) dropMarts() (list []string, dropped []*schema.Table) {
	gone := func(t *schema.Table) bool { return l.columns[t.Name] == nil }
	outdated := func(t *schema.Table) bool { return len(t.MissingColumnsDDL(l.columns[t.Name])) > 0 }
	if gone(schema.Marts) || !slices.ContainsFunc(schema.Derived(), outdated) {
		return nil, nil
	}
	for _, t := range slices.DeleteFunc(schema.Derived(), gone) {
		list, dropped = append(list, "DROP TABLE "+t.Name), append(dropped, t)
	}
	return append(list, "DELETE FROM "+schema.Marts.Name), dropped
}

// migrate brings the file, as it was found, to the model, in one transaction. It writes only what differs.
func (m *Mirror) migrate(ctx context.Context, found *layout) error {
	stale, err := m.stale(ctx, found)
	if err != nil || !stale {
		return err
	}
	for _, t := range m.model.tables {
		if slices.Contains(found.views, t.Name) {
			return fmt.Errorf("%s: a view has the name of the table %s: run DROP VIEW %[2]s in it, then `solarmirror sync`", m.path, t.Name)
		}
	}
	if err := m.roomToMigrate(ctx, found); err != nil {
		return err
	}
	err = m.Update(ctx, func(tx *Tx) error {
		// Another process may have been faster; only what is seen inside the transaction counts.
		found, err := inspect(context.Background(), m.conn)
		if err != nil {
			return err
		}
		if err := found.refuse(m.path, m.model); err != nil {
			return err
		}
		return tx.apply(found)
	})
	if err != nil {
		return fmt.Errorf("migrate from schema %d to %d: %w", found.version, m.model.version, err)
	}
	m.log.Info().Str("path", m.path).Int("from", found.version).Int("to", m.model.version).Msg("tables brought up to date")
	return nil
}

func (m *Mirror) stale(ctx context.Context, found *layout) (bool, error) {
	if found.version != m.model.version || len(found.missing(m.model)) > 0 {
		return true, nil
	}
	same, err := m.sameDictionary(ctx)
	return !same, err
}

func (tx *Tx) apply(found *layout) error {
	mod := tx.m.model
	due, err := tx.m.due(context.Background(), found)
	if err != nil {
		return tx.Fail("compare the data dictionaries", err)
	}
	for _, ddl := range found.missing(mod) {
		if _, err := tx.m.conn.ExecContext(context.Background(), ddl); err != nil {
			return tx.Fail(sqlitefile.FirstLine(ddl), err)
		}
	}
	if err := tx.seedHistory(found); err != nil {
		return err
	}
	_, err = tx.Exec("write _meta", `INSERT INTO _meta (meta_id, schema_version, created_at) VALUES (1, ?, ?)
		ON CONFLICT (meta_id) DO UPDATE SET schema_version = excluded.schema_version`, mod.version, sqlitefile.FormatTime(tx.m.now()))
	if err != nil {
		return err
	}
	if len(due) > 0 {
		if err := tx.writePromotions(due); err != nil {
			return err
		}
	}
	if _, err := tx.Exec("empty _columns", "DELETE FROM _columns WHERE NOT "+ofOwnMart); err != nil {
		return err
	}
	_, err = tx.execOver(mod.dictionary, "fill _columns", mod.statements[mod.dictionary.Table].insert)
	return err
}

// ofOwnMart tells the rows of the data dictionary that are not the schema's.
const ofOwnMart = "table_name GLOB '" + OwnPrefix + "*'"

// seedHistory begins the history of the records a file holds already, in the tables it did not have. The mirror knows since when
// the present content is there, and what is begun now need not be guessed when it next changes.
func (tx *Tx) seedHistory(found *layout) error {
	for _, h := range tx.m.unseeded(found) {
		for _, seed := range h.seed {
			if _, err := tx.Exec("begin "+h.table.Name, seed); err != nil {
				return err
			}
		}
	}
	return nil
}

// unseeded are the history tables that the file does not have although it has what they follow.
func (m *Mirror) unseeded(found *layout) []*historyStatements {
	var list []*historyStatements
	for root, tables := range m.model.history {
		for _, h := range tables {
			if found.columns[root.Name] != nil && found.columns[h.table.Name] == nil {
				list = append(list, h)
			}
		}
	}
	return list
}

// sameDictionary says whether the file's data dictionary is the model's, row by row.
func (m *Mirror) sameDictionary(ctx context.Context) (same bool, err error) {
	want := m.model.dictionary
	t := want.Table
	var holds []string
	for i, c := range t.Columns {
		is := "IS"
		if t.IsKey(c.Name) {
			is = "="
		}
		holds = append(holds, fmt.Sprintf("c.%s %s s.%s", c.Name, is, sourceColumn(i)))
	}
	m.rows.show(want.Values, len(t.Columns))
	defer m.rows.clear()
	err = m.conn.GetContext(ctx, &same, fmt.Sprintf("SELECT count(*) = ?1 AND (SELECT count(*) FROM %[1]s WHERE NOT "+ofOwnMart+") = ?1 FROM %[2]s AS s CROSS JOIN %[1]s AS c ON %[3]s",
		t.Name, sourceTable, strings.Join(holds, " AND ")), want.Len())
	if err != nil {
		return false, fmt.Errorf("read the data dictionary: %w", err)
	}
	return same, nil
}
