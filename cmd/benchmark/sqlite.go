package main

import (
	"cmp"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

	_ "github.com/mattn/go-sqlite3" // the contenders' driver

	"solarmirror/schema"
	"solarmirror/sync/pull"
)

// pragmas are those of store's writing connection.
var pragmas = []string{
	"journal_mode = WAL", "synchronous = NORMAL", "wal_autocheckpoint = 4000", "cache_size = -16384", "temp_store = MEMORY",
}

// tables are what all contenders fill.
func tables() []*schema.Table { return schema.Requests.Tables() }

// streams fill them.
func streams() []*pull.Stream {
	return slices.DeleteFunc(pull.Streams(), func(s *pull.Stream) bool { return s.Root != schema.Requests })
}

// openPlain opens a file on the cgo driver, with one connection, and makes the tables where there are none. fresh says that there were none.
func openPlain(path string) (db *sql.DB, fresh bool, err error) {
	db, err = sql.Open("sqlite3", "file:"+path)
	if err != nil {
		return nil, false, err
	}
	db.SetMaxOpenConns(1)
	for _, p := range pragmas {
		if _, err := db.Exec("PRAGMA " + p); err != nil {
			return nil, false, err
		}
	}
	var count int
	if err := db.QueryRow("SELECT count(*) FROM sqlite_schema").Scan(&count); err != nil || count > 0 {
		return db, false, err
	}
	for _, t := range tables() {
		if _, err := db.Exec(t.DDL()); err != nil {
			return nil, false, err
		}
	}
	return db, true, nil
}

// makeIndices makes the secondary indices.
func makeIndices(db *sql.DB) error {
	for _, ddl := range indexDDL() {
		if _, err := db.Exec(ddl); err != nil {
			return err
		}
	}
	return nil
}

func indexDDL() []string {
	var all []string
	for _, t := range tables() {
		all = append(all, slices.Sorted(maps.Values(t.IndexDDL()))...)
	}
	return all
}

// closePlain empties the WAL into the file, as store does, and closes it.
func closePlain(db *sql.DB) error {
	_, err := db.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
	return cmp.Or(db.Close(), err)
}

// insertSQL inserts some rows of a table.
func insertSQL(t *schema.Table, columns []string, rows int) string {
	row := "(" + strings.Repeat("?, ", len(columns)-1) + "?)"
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES %s%s", t.Name, strings.Join(columns, ", "), strings.Repeat(row+", ", rows-1), row)
}

// upsertSQL turns an insert of requests into one that overwrites all but some columns where the key is taken.
func upsertSQL(insert, key string, columns []string, keep ...string) string {
	var set []string
	for _, c := range columns {
		if !slices.Contains(keep, c) {
			set = append(set, c+" = excluded."+c)
		}
	}
	return fmt.Sprintf("%s ON CONFLICT (%s) DO UPDATE SET %s", insert, key, strings.Join(set, ", "))
}
