package query

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"solarmirror/cmd/internal/config"
	"solarmirror/store"
)

var (
	unknownName = regexp.MustCompile(`no such (table|column): (\S+)`)
	sqlWord     = regexp.MustCompile(`\w+`)
)

const namesSQL = `SELECT t.name, c.name FROM sqlite_master AS t JOIN pragma_table_info(t.name) AS c
	WHERE t.type IN ('table', 'view') AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY t.name, c.cid`

// suggest adds to SQLite's error about an unknown table or column a near one, if there is one. The
// columns are those of the tables that the statement names.
func suggest(ctx context.Context, mirror *store.Mirror, sql string, err error) error {
	unknown := unknownName.FindStringSubmatch(err.Error())
	if unknown == nil {
		return err
	}
	result, failed := mirror.Query(ctx, namesSQL)
	if failed != nil {
		return err
	}
	defer result.Close()
	words := sqlWord.FindAllString(strings.ToLower(sql), -1)
	var candidates []string
	for row, failed := range result.Rows() {
		if failed != nil {
			return err
		}
		table, column := row[0].(string), row[1].(string)
		switch {
		case unknown[1] == "table":
			candidates = append(candidates, table)
		case slices.Contains(words, table):
			candidates = append(candidates, column)
		}
	}
	name := unknown[2][strings.LastIndex(unknown[2], ".")+1:] // without the table's name or alias
	nearest := config.Near(name, candidates)
	if nearest == "" {
		return err
	}
	return fmt.Errorf("%w; did you mean %q?", err, nearest)
}
