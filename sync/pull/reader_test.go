package pull

import (
	"database/sql"
	"fmt"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the tests look at the file as an analyst would

	"solarmirror/schema"
)

// query reads the mirror's file through a connection of the test's own. Values are as the file holds them.
func (r *rig) query(query string, args ...any) [][]any {
	r.t.Helper()
	db, err := sql.Open("sqlite", "file:"+r.path+"?mode=ro")
	if err != nil {
		r.t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(query, args...)
	if err != nil {
		r.t.Fatalf("%v in %s", err, query)
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		r.t.Fatal(err)
	}
	var all [][]any
	for rows.Next() {
		row := make([]any, len(types))
		into := make([]any, len(types))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			r.t.Fatal(err)
		}
		for i, v := range row {
			if t, ok := v.(time.Time); ok { // the driver parses what is declared a date
				row[i] = stored(t, types[i].DatabaseTypeName())
			}
		}
		all = append(all, row)
	}
	if err := rows.Err(); err != nil {
		r.t.Fatal(err)
	}
	return all
}

func stored(t time.Time, declared string) string {
	if declared == "DATE" {
		return t.Format(time.DateOnly)
	}
	return t.Format("2006-01-02 15:04:05.000")
}

// value reads one value.
func (r *rig) value(query string, args ...any) any {
	r.t.Helper()
	rows := r.query(query, args...)
	if len(rows) != 1 || len(rows[0]) != 1 {
		r.t.Fatalf("%d rows from %s, want one value", len(rows), query)
	}
	return rows[0][0]
}

func selectAll(t *schema.Table) string {
	return fmt.Sprintf("SELECT %s FROM %s ORDER BY %s", strings.Join(t.ColumnNames(), ", "), t.Name, strings.Join(t.Key, ", "))
}
