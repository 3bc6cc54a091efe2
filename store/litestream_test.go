package store

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/rs/zerolog"

	"solarmirror/store/sqlitefile"
)

// litestreamAt does to the file what Litestream does: its tables, a row in one of them, and, while
// it runs, a read transaction on that state.
func litestreamAt(t *testing.T, path string, running bool) (stop func()) {
	t.Helper()
	db, err := sqlx.Open("sqlite", sqlitefile.DSN(path, []string{"busy_timeout(5000)", "journal_mode(WAL)"}))
	must(t, err)
	db.SetMaxOpenConns(1)
	_, err = db.Exec(`CREATE TABLE IF NOT EXISTS _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER);
		CREATE TABLE IF NOT EXISTS _litestream_lock (id INTEGER);
		INSERT INTO _litestream_seq (id, seq) VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET seq = seq + 1`)
	must(t, err)
	if !running {
		must(t, db.Close())
		return nil
	}
	tx, err := db.Beginx()
	must(t, err)
	_, err = tx.Exec("SELECT count(*) FROM _litestream_seq")
	must(t, err)
	stop = func() { must(t, errors.Join(tx.Rollback(), db.Close())) }
	return stop
}

func createMirror(t *testing.T, path string) {
	t.Helper()
	m, err := Open(t.Context(), path, Options{})
	must(t, err)
	must(t, m.Close())
}

// TestCloseBesideLitestream: Close leaves the WAL to a Litestream that runs, and does not wait for
// it, unless the WAL is large. When Litestream has ended, Close empties the WAL.
func TestCloseBesideLitestream(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name            string
		running, tables bool
		wal             int64  // bytes; 0: as it is
		waited          string // ""; the WAL is emptied
	}{
		{"running", true, true, 0, `"waited_ms":0`},
		{"running, large WAL", true, true, sqlitefile.LitestreamWAL, `"waited_ms":1000`},
		{"ended", false, true, 0, ""},
		{"another reader", true, false, 0, `"waited_ms":1000`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			path := mirrorPath(t)
			createMirror(t, path)
			stop := litestreamAt(t, path, tc.running)
			if tc.running {
				t.Cleanup(stop)
			}
			var log bytes.Buffer
			m, err := Open(t.Context(), path, Options{Log: zerolog.New(&log)})
			must(t, err)
			must(t, m.SetDialect(t.Context(), "{}"))
			if !tc.tables {
				_, err := m.conn.ExecContext(t.Context(), "DROP TABLE _litestream_seq; DROP TABLE _litestream_lock")
				must(t, err)
			}
			if tc.wal > 0 {
				must(t, os.Truncate(path+"-wal", tc.wal))
			}
			must(t, m.Close())
			files, err := sqlitefile.ReadFileState(path)
			must(t, err)
			if emptied := files.WAL == 0; emptied != (tc.waited == "") || !strings.Contains(log.String(), tc.waited) {
				t.Errorf("a WAL of %d bytes stays: %s", files.WAL, log.String())
			}
		})
	}
}

// TestTablesOfLitestream: a file in which Litestream was first is a mirror to be, and its tables are
// no reason to migrate.
func TestTablesOfLitestream(t *testing.T) {
	t.Parallel()
	path := mirrorPath(t)
	must(t, sqlitefile.MakeDir(strings.TrimSuffix(path, "/mirror.db"), 0o755))
	litestreamAt(t, path, false)
	if _, err := OpenReadOnly(t.Context(), path); !errors.Is(err, sqlitefile.ErrNoDatabase) {
		t.Errorf("before the first sync: %v", err)
	}
	createMirror(t, path)
	var log bytes.Buffer
	m, err := Open(t.Context(), path, Options{Log: zerolog.New(&log)})
	must(t, err)
	found, err := inspect(t.Context(), m.conn)
	must(t, err)
	var changes int
	must(t, m.conn.GetContext(t.Context(), &changes, "SELECT total_changes()"))
	must(t, m.Close())
	if changes != 0 || log.Len() > 0 || len(found.columns) != len(currentModel().tables) {
		t.Errorf("%d changes, %d tables, log %s", changes, len(found.columns), log.String())
	}
}
