package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/jmoiron/sqlx"
	"modernc.org/sqlite"
	"modernc.org/sqlite/vtab"
)

// source is a virtual table of the writing connection whose rows lie in Go's memory: a statement that selects from it takes the values of
// a page where the flattener left them, and nothing is bound. It holds the rows of one statement at a time.
type source struct {
	number int64
	width  int   // of the table, in columns
	values []any // rows one after another
	row    int   // values of one row; the columns behind them are NULL
}

// sourceTable is how statements call it. It is a temporary table, and no part of the file; its columns are c0, c1 and so on.
const sourceTable = "temp.page_rows"

// sourceColumn is the name of its i-th column.
func sourceColumn(i int) string { return "c" + strconv.Itoa(i) }

// openSources are those of all mirrors that are open for writing, by number. SQLite asks for them by that number, when the table is created
// and whenever it has read the schema again, so that no mirror meets another's rows.
var openSources struct {
	sync.Map
	last atomic.Int64
}

// newSource makes the table on the connection.
func newSource(ctx context.Context, conn *sqlx.Conn, width int) (*source, error) {
	s := &source{number: openSources.last.Add(1), width: width}
	openSources.Store(s.number, s)
	if _, err := conn.ExecContext(ctx, fmt.Sprintf("CREATE VIRTUAL TABLE %s USING %s(%d)", sourceTable, sourceModule, s.number)); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *source) close() { openSources.Delete(s.number) }

// show lets the table hold rows of that many values until clear.
func (s *source) show(values []any, row int) { s.values, s.row = values, row }

func (s *source) clear() { s.values = nil }

// sourceModule is the module's name in SQLite, known to connections of writerDriver.
const sourceModule = "solarmirror_rows"

// writerDriver opens connections that know the module, and the functions the marts are built with. Readers have no use for them.
var writerDriver = newWriterDriver()

func newWriterDriver() *sqlite.Driver {
	d := &sqlite.Driver{}
	if err := errors.Join(d.RegisterModule(sourceModule, rowsModule{}), registerFunctions(d)); err != nil {
		panic(err) // a new driver has nothing of these names
	}
	return d
}

// writerConnector opens the writing connection to a file.
type writerConnector struct{ dsn string }

func (c writerConnector) Connect(context.Context) (driver.Conn, error) {
	return writerDriver.Open(c.dsn)
}
func (c writerConnector) Driver() driver.Driver { return writerDriver }

// rowsModule connects SQLite's tables to sources.
type rowsModule struct{}

func (rowsModule) Create(c vtab.Context, args []string) (vtab.Table, error) {
	number, err := strconv.ParseInt(args[len(args)-1], 10, 64)
	if err != nil {
		return nil, err
	}
	s, ok := openSources.Load(number)
	if !ok {
		return nil, fmt.Errorf("no open mirror has the rows %d", number)
	}
	table := s.(*source)
	columns := make([]string, table.width)
	for i := range columns {
		columns[i] = sourceColumn(i)
	}
	return table, c.Declare(fmt.Sprintf("CREATE TABLE rows (%s)", strings.Join(columns, ", ")))
}

func (m rowsModule) Connect(c vtab.Context, args []string) (vtab.Table, error) {
	return m.Create(c, args)
}

// BestIndex has nothing to choose from: the rows are read one after another.
func (s *source) BestIndex(*vtab.IndexInfo) error { return nil }
func (s *source) Open() (vtab.Cursor, error)      { return &sourceCursor{source: s}, nil }
func (s *source) Disconnect() error               { return nil }
func (s *source) Destroy() error                  { return nil }

// sourceCursor reads a source from its first row to its last.
type sourceCursor struct {
	source *source
	at     int // row
	values []any
}

func (c *sourceCursor) Filter(int, string, []vtab.Value) error {
	c.at, c.values = 0, c.source.values
	return nil
}

func (c *sourceCursor) Next() error {
	c.at++
	c.values = c.values[c.source.row:]
	return nil
}

func (c *sourceCursor) Eof() bool { return len(c.values) == 0 }

func (c *sourceCursor) Column(i int) (vtab.Value, error) {
	if i >= c.source.row {
		return nil, nil
	}
	return c.values[i], nil
}

func (c *sourceCursor) Rowid() (int64, error) { return int64(c.at), nil }
func (c *sourceCursor) Close() error          { return nil }
