package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/jmoiron/sqlx"
)

// BindLabel is the driver name to give sqlx: it knows SQLite's placeholders under this name, not
// under the one that the driver registers.
const BindLabel = "sqlite3"

// ReaderPragmas are the pragmas of every connection that only reads.
var ReaderPragmas = []string{"busy_timeout(10000)", "query_only(ON)", "temp_store(MEMORY)"}

// MustExist returns [ErrNoDatabase] when there is no file at path. Commands that open a mirror for
// writing but must not create one call it first.
func MustExist(path string) error {
	_, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return NoDatabase(path)
	case err != nil:
		return fmt.Errorf("open mirror: %w", err)
	}
	return nil
}

// NoDatabase returns an [ErrNoDatabase] that names path and the next command to type.
func NoDatabase(path string) error {
	return fmt.Errorf("%w at %s: run `solarmirror sync` first, or `solarmirror demo` to try without a platform", ErrNoDatabase, path)
}

// DSN returns the data source name of the file at path. It begins with "file:", or the driver would
// ignore mode=ro. It carries the pragmas, because a PRAGMA statement would reach only one
// connection of a pool.
func DSN(path string, pragmas []string) string {
	file := url.URL{Path: filepath.ToSlash(filepath.Clean(path))}
	return "file:" + file.EscapedPath() + "?" + url.Values{"_pragma": pragmas}.Encode()
}

// OpenUnguarded opens the database at path for reading, with a schema of any version. mode is "ro",
// or "rw" where SQLite may first have to roll back an interrupted transaction.
func OpenUnguarded(path, mode string) (*sqlx.DB, error) {
	return sqlx.Open("sqlite", DSN(path, ReaderPragmas)+"&mode="+mode)
}

// FirstLine returns the first line of an SQL statement, without an opening bracket: it names the
// statement in an error.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimSuffix(line, " (")
}

// Querier is a connection, a pool or a transaction of sqlx.
type Querier interface {
	SelectContext(ctx context.Context, dest any, query string, args ...any) error
	GetContext(ctx context.Context, dest any, query string, args ...any) error
}

const columnsSQL = `SELECT t.name AS "table", c.name AS "column" FROM sqlite_master AS t JOIN pragma_table_info(t.name) AS c
	WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\' AND t.name NOT IN ` + litestreamTables + ` ORDER BY t.name, c.cid`

// Columns returns the column names of every table, by table. It leaves out SQLite's own tables, and
// those of Litestream.
func Columns(ctx context.Context, q Querier) (map[string][]string, error) {
	var list []struct{ Table, Column string }
	if err := q.SelectContext(ctx, &list, columnsSQL); err != nil {
		return nil, fmt.Errorf("list the tables: %w", err)
	}
	columns := map[string][]string{}
	for _, c := range list {
		columns[c.Table] = append(columns[c.Table], c.Column)
	}
	return columns, nil
}
