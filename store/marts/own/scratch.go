package own

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"modernc.org/sqlite"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/owntables"
	"solarmirror/store/sqlitefile"
)

// scratch is a database in memory with the mirror's tables, without rows and indices. Statements
// are prepared in it and never run.
type scratch struct {
	conn *sql.Conn
	db   *sql.DB
	own  map[string]*owntables.Definition // of the own marts it has tables of
}

// foreignSQL lists tables that others made in the mirror. Statements may read them; views they may
// not, since a view hides what it reads.
const foreignSQL = `SELECT name, sql FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE%' AND name NOT GLOB 'sqlite_*' AND name NOT GLOB ?`

// newScratch makes one for a mirror; q is nil where there is none yet.
func newScratch(ctx context.Context, q sqlitefile.Querier) (*scratch, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s := &scratch{conn: conn, db: db, own: map[string]*owntables.Definition{}}
	if err := s.fill(ctx, q); err != nil {
		return nil, errors.Join(fmt.Errorf("copy the mirror's tables: %w", err), s.close())
	}
	return s, nil
}

func (s *scratch) fill(ctx context.Context, q sqlitefile.Querier) error {
	for _, t := range schema.All() {
		if _, err := s.conn.ExecContext(ctx, t.DDL()); err != nil {
			return err
		}
	}
	if q == nil {
		return nil
	}
	var foreign []struct{ Name, SQL string }
	if err := q.SelectContext(ctx, &foreign, foreignSQL, store.OwnPrefix+"*"); err != nil {
		return err
	}
	for _, t := range foreign {
		if schema.Find(t.Name) == nil {
			_, _ = s.conn.ExecContext(ctx, t.SQL) // one that needs what is not here cannot be read by marts
		}
	}
	return nil
}

func (s *scratch) close() error { return errors.Join(s.conn.Close(), s.db.Close()) }

// add gives the scratch the table of an own mart, in place of one it may have.
func (s *scratch) add(ctx context.Context, name string, d *owntables.Definition) error {
	if _, err := s.conn.ExecContext(ctx, "DROP TABLE IF EXISTS "+name); err != nil {
		return err
	}
	delete(s.own, name)
	_, err := s.conn.ExecContext(ctx, d.TableNamed(name, "").DDL())
	if err == nil {
		s.own[name] = d
	}
	return err
}

// usage is what SQLite says of a statement.
type usage struct {
	columns []sqlite.ColumnInfo
	reads   [][2]string // table and column, which is "" where only rows are counted
}

// prepare asks SQLite about a statement.
func (s *scratch) prepare(query string) (usage, error) {
	var u usage
	err := s.conn.Raw(func(conn any) error {
		driver, ok := conn.(interface {
			sqlite.AuthorizerRegisterer
			ColumnInfo(query string) ([]sqlite.ColumnInfo, error)
		})
		if !ok {
			return fmt.Errorf("the SQLite driver's %T tells nothing of columns", conn)
		}
		err := driver.RegisterAuthorizer(func(action sqlite.AuthorizerActionCode, arg1, arg2, database, view string) sqlite.AuthorizerReturnCode {
			if action == sqlite.AuthRead {
				u.reads = append(u.reads, [2]string{arg1, arg2})
			}
			return store.ReadsOnly(action, arg1, arg2, database, view)
		})
		if err != nil {
			return err
		}
		u.columns, err = driver.ColumnInfo(query)
		return errors.Join(err, driver.RegisterAuthorizer(nil))
	})
	return u, err
}

// define says which columns the table of a mart has. Those whose type only the rows can tell have
// none.
func (s *scratch) define(ctx context.Context, m *Mart) (*owntables.Definition, error) {
	u, err := s.prepare(m.sql)
	if err != nil {
		return nil, plain(err)
	}
	d := &owntables.Definition{Schema: schema.Version}
	combines, personal := combinesSelects(m.sql), s.readsPersonal(u.reads, m.sql)
	for _, info := range u.columns {
		if !columnName.MatchString(info.Name) {
			return nil, fmt.Errorf("the column %q needs a name of letters, digits and _: add AS name", info.Name)
		}
		c := owntables.Column{Name: info.Name, Label: info.Name, Doc: owntables.Computed}
		if of, known := s.origin(info); known && !combines {
			c.Type, c.Doc, c.Label, c.Unit, c.Origin, c.Public = of.Type, of.Doc, of.Label, of.Unit, of.Origin, of.Public
		} else if m.public[fold(c.Name)] {
			if personal != "" {
				return nil, fmt.Errorf("the column %s cannot be public: the statement reads personal data, %s", c.Name, personal)
			}
			c.Public = true
		}
		if declared, is := m.types[fold(c.Name)]; is {
			c.Type = declared
		}
		if c.Type == schema.Timestamp {
			c.Unit = "UTC"
		}
		if label, is := m.labels[fold(c.Name)]; is {
			c.Label = label
		}
		d.Columns = append(d.Columns, c)
	}
	if err := m.declares(d.Columns); err != nil {
		return nil, err
	}
	return d, s.canBeTable(ctx, d)
}

// plain leaves out what SQLite says of every fault of a statement.
func plain(err error) error {
	return errors.New(strings.TrimSuffix(strings.TrimPrefix(err.Error(), "SQL logic error: "), " (1)"))
}

// canBeTable finds columns of one name, and names that SQL takes for words of its own.
func (s *scratch) canBeTable(ctx context.Context, d *owntables.Definition) error {
	const name = "_try"
	if err := s.add(ctx, name, d); err != nil {
		return fmt.Errorf("its columns make no table: %w: give them other names with AS", plain(err))
	}
	delete(s.own, name)
	_, err := s.conn.ExecContext(ctx, "DROP TABLE "+name)
	return err
}

// origin returns the column of the mirror that a column is a plain reference to, as a column of an
// own mart.
func (s *scratch) origin(info sqlite.ColumnInfo) (owntables.Column, bool) {
	if d, is := s.own[info.TableName]; is {
		for _, c := range d.Columns {
			if strings.EqualFold(c.Name, info.OriginName) {
				c.Public = c.Public && d.Schema == schema.Version
				return c, true
			}
		}
	}
	t := schema.Find(info.TableName)
	if t == nil || t.Column(info.OriginName) == nil {
		return owntables.Column{}, false
	}
	of := t.Column(info.OriginName)
	c := owntables.Column{Type: of.Type, Doc: of.Doc, Label: of.Label, Unit: of.Unit, Origin: t.Name + "." + of.Name}
	if c.Type == schema.Surrogate {
		c.Type = schema.BigInt
	}
	return c, true
}

// comments and texts may hold these words as well, which only makes a mart more private.
var (
	combining = regexp.MustCompile(`(?i)\b(union|intersect|except|values)\b`)
	natural   = regexp.MustCompile(`(?i)\bnatural\b`)
	using     = regexp.MustCompile(`(?i)\busing\b[^(]*\(([^)]*)\)`)
	comment   = regexp.MustCompile(`(?s)/\*.*?\*/|--[^\n]*`)
	word      = regexp.MustCompile(`[\pL\pN_]+`)
)

// combinesSelects reports whether rows may come from several SELECTs.
func combinesSelects(query string) bool { return combining.MatchString(query) }

// readsPersonal returns the first personal column that a statement reads, "" when there is none.
func (s *scratch) readsPersonal(reads [][2]string, query string) string {
	for _, r := range reads {
		if s.isPersonal(r[0], r[1]) {
			return r[0] + "." + r[1]
		}
	}
	if natural.MatchString(query) {
		return "whatever NATURAL JOIN compares; write ON"
	}
	for _, list := range using.FindAllStringSubmatch(query+"\n"+comment.ReplaceAllString(query, " "), -1) {
		for _, column := range word.FindAllString(list[1], -1) {
			if s.anyPersonal(column) {
				return column + " in USING"
			}
		}
	}
	return ""
}

// isPersonal says whether a column may hold personal data. Tables that others made may.
func (s *scratch) isPersonal(table, column string) bool {
	t := schema.Find(table)
	if d, is := s.own[table]; is {
		t = d.TableNamed(table, "")
	}
	switch {
	case column == "", table == "json_each", table == "json_tree": // which give what they are given
		return false
	case t == nil:
		return true
	case strings.EqualFold(column, "rowid"):
		return false
	}
	c := t.Column(column)
	return c == nil || c.Privacy != schema.Public
}

// anyPersonal says whether any table has a personal column of this name.
func (s *scratch) anyPersonal(column string) bool {
	personal := func(t *schema.Table) bool {
		for _, c := range t.Columns {
			if strings.EqualFold(c.Name, column) && c.Privacy != schema.Public {
				return true
			}
		}
		return false
	}
	for _, t := range schema.All() {
		if personal(t) {
			return true
		}
	}
	for name, d := range s.own {
		if personal(d.TableNamed(name, "")) {
			return true
		}
	}
	return false
}
