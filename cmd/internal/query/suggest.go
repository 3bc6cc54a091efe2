package query

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"solarmirror/cmd/internal/config"
	"solarmirror/store/sqlitefile"
)

var (
	unknownName = regexp.MustCompile(`no such (table|column): (\S+)`)
	sqlWord     = regexp.MustCompile(`\w+`)
)

const namesSQL = `SELECT t.name AS "table", c.name AS "column" FROM sqlite_master AS t JOIN pragma_table_info(t.name) AS c
	WHERE t.type IN ('table', 'view') AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY t.name, c.cid`

// Unknown is a table or column that a statement names and that does not exist.
type Unknown struct {
	IsTable bool
	Name    string
	Nearest string              // what was probably meant; "" when nothing is near
	Columns map[string][]string // of the tables that the statement names, by table
}

// FindUnknown returns what SQLite's error about a statement does not know; nil for another error.
// The nearest column is one of the tables that the statement names.
func FindUnknown(ctx context.Context, q sqlitefile.Querier, sql string, err error) *Unknown {
	found := unknownName.FindStringSubmatch(err.Error())
	if found == nil {
		return nil
	}
	var names []struct{ Table, Column string }
	if q.SelectContext(ctx, &names, namesSQL) != nil {
		return nil
	}
	name := strings.Trim(found[2], `"`)
	u := &Unknown{IsTable: found[1] == "table", Name: name[strings.LastIndex(name, ".")+1:], Columns: map[string][]string{}} // without the table's name or alias
	words := sqlWord.FindAllString(strings.ToLower(sql), -1)
	var candidates []string
	for _, n := range names {
		named := slices.Contains(words, strings.ToLower(n.Table))
		if named {
			u.Columns[n.Table] = append(u.Columns[n.Table], n.Column)
		}
		switch {
		case u.IsTable:
			candidates = append(candidates, n.Table)
		case named:
			candidates = append(candidates, n.Column)
		}
	}
	u.Nearest = config.Near(u.Name, candidates)
	return u
}

// suggest adds to SQLite's error about an unknown table or column a near one, if there is one.
func suggest(ctx context.Context, q sqlitefile.Querier, sql string, err error) error {
	if unknown := FindUnknown(ctx, q, sql, err); unknown != nil && unknown.Nearest != "" {
		return fmt.Errorf("%w; did you mean %q?", err, unknown.Nearest)
	}
	return err
}
