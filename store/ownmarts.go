package store

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"solarmirror/schema"
	"solarmirror/store/sqlitefile"
)

// OwnPrefix begins the name of the table of every own mart, and of no other table.
const OwnPrefix = "my_"

// OwnMarts are where analysts declare marts of their own; see package store/marts/own.
type OwnMarts struct {
	Dir     string        // of their files; "": there are none
	Timeout time.Duration // for computing one of them
}

// OwnMart is what the ledger knows of an own mart.
type OwnMart struct {
	Table       string  `db:"table_name"`
	Description string  `db:"description"`
	Definition  string  `db:"definition"` // of the table there is, as [OwnDefinition]; "" without one
	Statement   string  `db:"statement_hash"`
	BuiltFor    string  `db:"built_for"`
	TriedAt     string  `db:"tried_at"`
	DurationMS  int64   `db:"duration_ms"`
	Error       string  `db:"error"` // "" when the last build succeeded
	BuiltAt     *string `db:"built_at"`
	Rows        *int64  `db:"row_count"`
	RowsHash    string  `db:"rows_hash"`
}

// OwnDefinition is what a build has found out of the columns of an own mart.
type OwnDefinition struct {
	Schema  int         `json:"schema"` // schema.Version at that time
	Columns []OwnColumn `json:"columns"`
}

// OwnColumn is a column of an own mart. A plain reference has the privacy of its origin, by the
// schema of whoever reads the definition. An expression is masked unless Public, which counts only
// for the schema it was checked against.
type OwnColumn struct {
	Name   string      `json:"name"`
	Type   schema.Type `json:"type"`
	Doc    string      `json:"description"`
	Label  string      `json:"label_pt"`
	Unit   string      `json:"unit,omitempty"`
	Origin string      `json:"origin,omitempty"` // TABLE.COLUMN of the mirror that it is taken from
	Public bool        `json:"public,omitempty"`
}

// Of returns the column of the mirror that c is taken from, or nil.
func (c *OwnColumn) Of() *schema.Column {
	table, column, _ := strings.Cut(c.Origin, ".")
	if t := schema.Find(table); t != nil {
		return t.Column(column)
	}
	return nil
}

// TableNamed returns the declaration of a table with these columns.
func (d *OwnDefinition) TableNamed(name, doc string) *schema.Table {
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

const ownMartsSQL = `SELECT table_name, description, coalesce(definition, '') AS definition, statement_hash, +built_for AS built_for, +tried_at AS tried_at,
	duration_ms, coalesce(error, '') AS error, +built_at AS built_at, row_count, coalesce(rows_hash, '') AS rows_hash FROM %s_own_marts ORDER BY table_name`

// OwnMarts returns what the ledger knows of the own marts, by name.
func (m *Mirror) OwnMarts(ctx context.Context) (list []OwnMart, err error) {
	if err := m.read.SelectContext(ctx, &list, fmt.Sprintf(ownMartsSQL, "")); err != nil {
		return nil, fmt.Errorf("read _own_marts: %w", sqlitefile.Explain(m.path, err))
	}
	return list, nil
}

// FailedOwnMarts names the own marts whose last build failed: their tables have older rows, or there
// are none.
func (m *Mirror) FailedOwnMarts(ctx context.Context) (names []string, err error) {
	err = m.read.SelectContext(ctx, &names, "SELECT table_name FROM _own_marts WHERE error IS NOT NULL ORDER BY table_name")
	if err != nil {
		return nil, fmt.Errorf("read _own_marts: %w", sqlitefile.Explain(m.path, err))
	}
	return names, nil
}

// OwnMartsOptions are those the mirror was opened with.
func (m *Mirror) OwnMartsOptions() OwnMarts { return m.own }

var ownName = regexp.MustCompile(`^` + OwnPrefix + `[a-z0-9_]+$`)

// Define returns the definition of the table there is; nil without one that can be read.
func (o *OwnMart) Define() *OwnDefinition {
	var d OwnDefinition
	if !ownName.MatchString(o.Table) || json.Unmarshal([]byte(o.Definition), &d) != nil {
		return nil
	}
	return &d
}

// OwnTables returns the declarations of the tables of own marts that a database has. within is
// "main", or the name under which q has attached it. A table that was edited by hand, so that it
// lacks one of its columns, is left out.
func OwnTables(ctx context.Context, q sqlitefile.Querier, within string) ([]*schema.Table, error) {
	var marts []OwnMart
	if err := q.SelectContext(ctx, &marts, fmt.Sprintf(ownMartsSQL, within+".")); err != nil {
		return nil, fmt.Errorf("read _own_marts: %w", err)
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

// OwnTables returns the declarations of the tables of own marts in the snapshot.
func (s *Snapshot) OwnTables(ctx context.Context) ([]*schema.Table, error) {
	tables, err := OwnTables(ctx, s.conn, "main")
	if err != nil {
		return nil, sqlitefile.Explain(s.path, err)
	}
	return tables, nil
}

// changeOwnLayout runs f, which creates, drops or renames tables of own marts, so that
// [Snapshot.Layout] stays as it is.
func (tx *Tx) changeOwnLayout(f func() error) error {
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

// ownPart is the table of an own mart while its rows are written.
const ownPart = "_own_part"

// BeginOwnTable creates the table that [Tx.AddOwnRows] fills, in place of what an interrupted build
// left. t need not have its final name.
func (tx *Tx) BeginOwnTable(t *schema.Table) error {
	part := *t
	part.Name = ownPart
	return tx.changeOwnLayout(func() error { return tx.execAll("DROP TABLE IF EXISTS "+ownPart, part.DDL()) })
}

// AddOwnRows adds rows to the table begun.
func (tx *Tx) AddOwnRows(rows [][]any) error {
	for _, row := range rows {
		insert := "INSERT INTO " + ownPart + " VALUES (?" + strings.Repeat(", ?", len(row)-1) + ")"
		if _, err := tx.Exec("write rows", insert, row...); err != nil {
			return err
		}
	}
	return nil
}

// PlaceOwnTable puts the table begun in the place of t.
func (tx *Tx) PlaceOwnTable(t *schema.Table) error {
	return tx.changeOwnLayout(func() error {
		// The legacy way leaves alone what views others made say of the table.
		return tx.execAll("PRAGMA legacy_alter_table = ON", "DROP TABLE IF EXISTS "+t.Name, "ALTER TABLE "+ownPart+" RENAME TO "+t.Name)
	})
}

// HasOwnPart says whether there is what an interrupted build left.
func (m *Mirror) HasOwnPart(ctx context.Context) (found bool, err error) {
	err = m.read.GetContext(ctx, &found, "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = ?)", ownPart)
	return found, sqlitefile.Explain(m.path, err)
}

// DropOwnPart removes what an interrupted build left.
func (tx *Tx) DropOwnPart() error {
	return tx.changeOwnLayout(func() error { return tx.execAll("DROP TABLE IF EXISTS " + ownPart) })
}

// NoteOwnMart writes the ledger's row of an own mart.
func (tx *Tx) NoteOwnMart(o OwnMart) error {
	_, err := tx.Exec("write _own_marts", `INSERT OR REPLACE INTO _own_marts (table_name, description, definition, statement_hash, built_for, tried_at,
		duration_ms, error, built_at, row_count, rows_hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		o.Table, o.Description, sqlitefile.NullableText(o.Definition), o.Statement, o.BuiltFor, o.TriedAt,
		o.DurationMS, sqlitefile.NullableText(o.Error), o.BuiltAt, o.Rows, sqlitefile.NullableText(o.RowsHash))
	return err
}

// DescribeOwnTable writes the rows of the data dictionary about the table of an own mart.
func (tx *Tx) DescribeOwnTable(t *schema.Table) error {
	if _, err := tx.Exec("write _columns", "DELETE FROM _columns WHERE table_name = ?", t.Name); err != nil {
		return err
	}
	for _, c := range t.Columns {
		_, err := tx.Exec("write _columns", "INSERT INTO _columns (table_name, column_name, type, description, label_pt, unit, personal) VALUES (?, ?, ?, ?, ?, ?, ?)",
			t.Name, c.Name, string(c.Type), c.Doc, c.Label, sqlitefile.NullableText(c.Unit), c.Privacy != schema.Public)
		if err != nil {
			return err
		}
	}
	return nil
}

// OwnMartNames lists the own marts of the ledger.
func (tx *Tx) OwnMartNames() ([]string, error) {
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

// DropOwnMart drops the table of an own mart with what the ledger and the dictionary say of it.
func (tx *Tx) DropOwnMart(name string) error {
	if ownName.MatchString(name) {
		if err := tx.changeOwnLayout(func() error { return tx.execAll("DROP TABLE IF EXISTS " + name) }); err != nil {
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

func (tx *Tx) execAll(statements ...string) error {
	for _, s := range statements {
		if _, err := tx.Exec(sqlitefile.FirstLine(s), s); err != nil {
			return err
		}
	}
	return nil
}
