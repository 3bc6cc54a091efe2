// Package owntables keeps the tables of own marts, named my_*, and what the ledger says of them.
// Package own, below marts, decides what they hold. A table is written beside its name and put in
// its place in one short transaction, so that readers have the old one or the new one.
//
// The schema does not declare these tables. Their columns stand in _own_marts.definition, from
// which [Tables] makes declarations like those of package schema: publish masks by them, exports
// write by them. Nothing but that row says what may be shown of a column, so a table without one,
// or with other columns, is in no masked copy.
package owntables

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/sqlitefile"
)

// Mart is what the ledger knows of an own mart.
type Mart struct {
	Table       string  `db:"table_name"`
	Description string  `db:"description"`
	Definition  string  `db:"definition"` // of the table there is, as [Definition]; "" without one
	Statement   string  `db:"statement_hash"`
	BuiltFor    string  `db:"built_for"`
	TriedAt     string  `db:"tried_at"`
	DurationMS  int64   `db:"duration_ms"`
	Error       string  `db:"error"` // "" when the last build succeeded
	BuiltAt     *string `db:"built_at"`
	Rows        *int64  `db:"row_count"`
	RowsHash    string  `db:"rows_hash"`
}

// Definition is what a build has found out of the columns of an own mart.
type Definition struct {
	Schema  int      `json:"schema"` // schema.Version at that time
	Columns []Column `json:"columns"`
}

// Column is a column of an own mart. A plain reference has the privacy of its origin, by the
// schema of whoever reads the definition. An expression is masked unless Public, which counts only
// for the schema it was checked against.
type Column struct {
	Name   string      `json:"name"`
	Type   schema.Type `json:"type"`
	Doc    string      `json:"description"`
	Label  string      `json:"label_pt"`
	Unit   string      `json:"unit,omitempty"`
	Origin string      `json:"origin,omitempty"` // TABLE.COLUMN of the mirror that it is taken from
	Public bool        `json:"public,omitempty"`
}

// Of returns the column of the mirror that c is taken from, or nil.
func (c *Column) Of() *schema.Column {
	table, column, _ := strings.Cut(c.Origin, ".")
	if t := schema.Find(table); t != nil {
		return t.Column(column)
	}
	return nil
}

// TableNamed returns the declaration of a table with these columns.
func (d *Definition) TableNamed(name, doc string) *schema.Table {
	t := &schema.Table{Name: name, Doc: doc, Label: name, Shape: schema.Mart}
	for _, c := range d.Columns {
		column := schema.Column{Name: c.Name, Type: c.Type, Doc: c.Doc, Label: c.Label, Unit: c.Unit, Privacy: schema.Personal}
		if of := c.Of(); of != nil {
			column.Privacy = of.Privacy
		} else if c.Public && d.Schema == schema.Version {
			column.Privacy = schema.Public
		}
		t.Columns = append(t.Columns, column)
	}
	return t
}

const ledgerSQL = `SELECT table_name, description, coalesce(definition, '') AS definition, statement_hash, +built_for AS built_for, +tried_at AS tried_at,
	duration_ms, coalesce(error, '') AS error, +built_at AS built_at, row_count, coalesce(rows_hash, '') AS rows_hash FROM %s_own_marts ORDER BY table_name`

// Ledger returns what the ledger knows of the own marts, by name. within is "main", or the name
// under which q has attached the database.
func Ledger(ctx context.Context, q sqlitefile.Querier, within string) (list []Mart, err error) {
	if err := q.SelectContext(ctx, &list, fmt.Sprintf(ledgerSQL, within+".")); err != nil {
		return nil, fmt.Errorf("read _own_marts: %w", err)
	}
	return list, nil
}

// Failed names the own marts whose last build failed: their tables have older rows, or there
// are none.
func Failed(ctx context.Context, q sqlitefile.Querier) (names []string, err error) {
	err = q.SelectContext(ctx, &names, "SELECT table_name FROM _own_marts WHERE error IS NOT NULL ORDER BY table_name")
	if err != nil {
		return nil, fmt.Errorf("read _own_marts: %w", err)
	}
	return names, nil
}

var ownName = regexp.MustCompile(`^` + store.OwnPrefix + `[a-z0-9_]+$`)

// Define returns the definition of the table there is; nil without one that can be read.
func (o *Mart) Define() *Definition {
	var d Definition
	if !ownName.MatchString(o.Table) || json.Unmarshal([]byte(o.Definition), &d) != nil {
		return nil
	}
	return &d
}

// Tables returns the declarations of the tables of own marts that a database has; within is that of
// [Ledger]. A table that was edited by hand, so that it lacks one of its columns, is left out.
func Tables(ctx context.Context, q sqlitefile.Querier, within string) ([]*schema.Table, error) {
	marts, err := Ledger(ctx, q, within)
	if err != nil {
		return nil, err
	}
	var tables []*schema.Table
	for _, o := range marts {
		d := o.Define()
		if d == nil {
			continue
		}
		t := d.TableNamed(o.Table, o.Description)
		var have []string
		if err := q.SelectContext(ctx, &have, "SELECT name FROM pragma_table_info(?, ?)", t.Name, within); err != nil {
			return nil, fmt.Errorf("look at %s: %w", t.Name, err)
		}
		if len(have) > 0 && len(t.MissingColumnsDDL(have)) == 0 {
			tables = append(tables, t)
		}
	}
	return tables, nil
}

// changeLayout runs f, which creates, drops or renames tables of own marts, so that
// [store.Snapshot.Layout] stays as it is.
func changeLayout(tx *store.Tx, f func() error) error {
	var before, after int64
	const doing, query = "read schema_version", "PRAGMA schema_version"
	if _, err := tx.Get(doing, &before, query); err != nil {
		return err
	}
	if err := f(); err != nil {
		return err
	}
	if _, err := tx.Get(doing, &after, query); err != nil {
		return err
	}
	if after == before {
		return nil
	}
	_, err := tx.Exec("write _meta", "UPDATE _meta SET own_layouts = coalesce(own_layouts, 0) + ?", after-before)
	return err
}

// part is the table of an own mart while its rows are written.
const part = "_own_part"

// Begin creates the table that [AddRows] fills, in place of what an interrupted build
// left. t need not have its final name.
func Begin(tx *store.Tx, t *schema.Table) error {
	beside := *t
	beside.Name = part
	return changeLayout(tx, func() error { return execAll(tx, "DROP TABLE IF EXISTS "+part, beside.DDL()) })
}

// AddRows adds rows to the table begun.
func AddRows(tx *store.Tx, rows [][]any) error {
	for _, row := range rows {
		insert := "INSERT INTO " + part + " VALUES (?" + strings.Repeat(", ?", len(row)-1) + ")"
		if _, err := tx.Exec("write rows", insert, row...); err != nil {
			return err
		}
	}
	return nil
}

// Place puts the table begun in the place of t.
func Place(tx *store.Tx, t *schema.Table) error {
	return changeLayout(tx, func() error {
		// The legacy way leaves alone what views others made say of the table.
		return execAll(tx, "PRAGMA legacy_alter_table = ON", "DROP TABLE IF EXISTS "+t.Name, "ALTER TABLE "+part+" RENAME TO "+t.Name)
	})
}

// HasPart says whether there is what an interrupted build left.
func HasPart(ctx context.Context, q sqlitefile.Querier) (found bool, err error) {
	err = q.GetContext(ctx, &found, "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = ?)", part)
	return found, err
}

// DropPart removes what an interrupted build left.
func DropPart(tx *store.Tx) error {
	return changeLayout(tx, func() error { return execAll(tx, "DROP TABLE IF EXISTS "+part) })
}

// Note writes the ledger's row of an own mart.
func Note(tx *store.Tx, o Mart) error {
	_, err := tx.Exec("write _own_marts", `INSERT OR REPLACE INTO _own_marts (table_name, description, definition, statement_hash, built_for, tried_at,
		duration_ms, error, built_at, row_count, rows_hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		o.Table, o.Description, sqlitefile.NullableText(o.Definition), o.Statement, o.BuiltFor, o.TriedAt,
		o.DurationMS, sqlitefile.NullableText(o.Error), o.BuiltAt, o.Rows, sqlitefile.NullableText(o.RowsHash))
	return err
}

// Describe writes the rows of the data dictionary about the table of an own mart.
func Describe(tx *store.Tx, t *schema.Table) error {
	if _, err := tx.Exec("write _columns", "DELETE FROM _columns WHERE table_name = ?", t.Name); err != nil {
		return err
	}
	for _, c := range t.Columns {
		_, err := tx.Exec("write _columns", `INSERT INTO _columns (table_name, column_name, type, description, label_pt, unit, personal, description_pt)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, t.Name, c.Name, string(c.Type), c.Doc, c.Label, sqlitefile.NullableText(c.Unit), c.Privacy != schema.Public, portuguese(c.Doc))
		if err != nil {
			return err
		}
	}
	return nil
}

// Computed is the description of a column that is an expression.
const Computed = "Computed by the SELECT of the mart."

func portuguese(doc string) string {
	if doc == Computed {
		return "Calculada pelo SELECT do mart."
	}
	return schema.Portuguese.Text(doc)
}

// Names lists the own marts of the ledger.
func Names(tx *store.Tx) ([]string, error) {
	const doing = "list the own marts"
	query, err := tx.Prepared("SELECT table_name FROM _own_marts")
	if err != nil {
		return nil, tx.Fail(doing, err)
	}
	var names []string
	if err := query.SelectContext(context.Background(), &names); err != nil {
		return nil, tx.Fail(doing, err)
	}
	return names, nil
}

// Drop drops the table of an own mart with what the ledger and the dictionary say of it.
func Drop(tx *store.Tx, name string) error {
	if ownName.MatchString(name) {
		if err := changeLayout(tx, func() error { return execAll(tx, "DROP TABLE IF EXISTS "+name) }); err != nil {
			return err
		}
	}
	for _, table := range []string{schema.OwnMarts.Name, schema.Columns.Name} {
		if _, err := tx.Exec("forget "+name, "DELETE FROM "+table+" WHERE table_name = ?", name); err != nil {
			return err
		}
	}
	return nil
}

func execAll(tx *store.Tx, statements ...string) error {
	for _, s := range statements {
		if _, err := tx.Exec(sqlitefile.FirstLine(s), s); err != nil {
			return err
		}
	}
	return nil
}
