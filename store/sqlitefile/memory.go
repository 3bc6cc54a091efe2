package sqlitefile

import (
	"fmt"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// LimitMemory makes SQLite's statements fail rather than take more than so many bytes of memory, all
// of this process together. SQLite does not count its memory unless it is told so before the first
// database is opened; LimitMemory fails afterwards.
func LimitMemory(bytes int64) error {
	tls := libc.NewTLS()
	defer tls.Close()
	const room = 8 // of the one argument
	arguments := tls.Alloc(room)
	defer tls.Free(room)
	if code := sqlite3.Xsqlite3_config(tls, sqlite3.SQLITE_CONFIG_MEMSTATUS, libc.VaList(arguments, int32(1))); code != sqlite3.SQLITE_OK {
		return fmt.Errorf("SQLite does not count its memory: error %d", code)
	}
	sqlite3.Xsqlite3_hard_heap_limit64(tls, bytes)
	return nil
}
