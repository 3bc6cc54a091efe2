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
)

// BindLabel is the name under which sqlx knows SQLite's placeholders; it does not know the driver's
// own name.
const BindLabel = "sqlite3"

var ReaderPragmas = []string{"busy_timeout(10000)", "query_only(ON)", "temp_store(MEMORY)"}

// MustExist returns [ErrNoDatabase] when there is no file at path: for commands that write to a
// mirror but have no business making one.
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

func NoDatabase(path string) error {
	return fmt.Errorf("%w at %s: run `solarmirror sync` first, or `solarmirror demo` to try without a platform", ErrNoDatabase, path)
}

// DSN is the driver's name for the file. Without "file:" the driver would ignore mode=ro; and a
// pragma given any other way would reach one connection of a pool only.
func DSN(path string, pragmas []string) string {
	file := url.URL{Path: filepath.ToSlash(filepath.Clean(path))}
	return "file:" + file.EscapedPath() + "?" + url.Values{"_pragma": pragmas}.Encode()
}

func FirstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimSuffix(line, " (")
}

// Querier is any connection, pool or transaction.
type Querier interface {
	SelectContext(ctx context.Context, dest any, query string, args ...any) error
	GetContext(ctx context.Context, dest any, query string, args ...any) error
}

const columnsSQL = `SELECT t.name AS "table", c.name AS "column" FROM sqlite_master AS t JOIN pragma_table_info(t.name) AS c
	WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY t.name, c.cid`

// Columns returns the columns of every table of the file, by table; SQLite's own tables are left
// out.
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
