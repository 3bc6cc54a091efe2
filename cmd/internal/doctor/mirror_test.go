package doctor

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"solarmirror/store"
	"solarmirror/store/sqlitefile"
	"solarmirror/sync/pull"
)

// makeMirror creates the mirror of f, lets fill write to it, and closes it.
func makeMirror(t *testing.T, f *facts, fill func(*store.Mirror) error) {
	t.Helper()
	m, err := store.Open(t.Context(), f.Config.Mirror.Path, store.Options{Now: f.now})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(fill(m), m.Close()); err != nil {
		t.Fatal(err)
	}
}

func empty(*store.Mirror) error { return nil }

// tamper runs SQL on the mirror of f as another program would.
func tamper(t *testing.T, f *facts, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", f.Config.Mirror.Path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), statement)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestJournal(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		beside sqlitefile.FileState // the files beside the mirror
		mode   string
		want   Verdict
		says   string
	}{
		{"good", sqlitefile.FileState{}, "WAL", OK, "wal"},
		{"in use", sqlitefile.FileState{HasWAL: true, HasSHM: true, WAL: 16 << 20}, "WAL", OK, "16.0 MiB"},
		{"switched by another program", sqlitefile.FileState{}, "DELETE", Warning, `"delete", not wal`},
		{"kept from being emptied", sqlitefile.FileState{HasWAL: true, HasSHM: true, WAL: longWAL + 1}, "WAL", Warning, "64.0 MiB"},
		{"copied in part", sqlitefile.FileState{HasSHM: true}, "WAL", Warning, "mirror.db-shm"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			f := newFacts(t)
			makeMirror(t, f, empty)
			tamper(t, f, "PRAGMA journal_mode = "+tc.mode)
			f.gather(t.Context())
			f.files.HasWAL, f.files.HasSHM, f.files.WAL = tc.beside.HasWAL, tc.beside.HasSHM, tc.beside.WAL
			expect(t, runCheck(t, "journal mode", f), tc.want, tc.says)
		})
	}
}

// TestJournalBesideLitestream: no sync empties a WAL that Litestream still reads.
func TestJournalBesideLitestream(t *testing.T) {
	t.Parallel()
	f := newFacts(t)
	makeMirror(t, f, empty)
	tamper(t, f, "CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)")
	f.gather(t.Context())
	f.files.HasWAL, f.files.HasSHM, f.files.WAL = true, true, sqlitefile.LitestreamWAL
	expect(t, runCheck(t, "journal mode", f), OK, "256.0 MiB, which Litestream empties")
	f.files.WAL++
	expect(t, runCheck(t, "journal mode", f), Warning, "restart Litestream")
	expect(t, runCheck(t, "schema version", f), OK)
}

func TestSchemaVersion(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		make func(*testing.T, *facts)
		want Verdict
		says string
		then Verdict // of the integrity check
	}{
		{"of this program", func(*testing.T, *facts) {}, OK, "this program's", OK},
		{"older", func(t *testing.T, f *facts) { tamper(t, f, "UPDATE _meta SET schema_version = 1") }, Warning, "solarmirror sync", OK},
		{"newer", func(t *testing.T, f *facts) { tamper(t, f, "UPDATE _meta SET schema_version = 999") }, Failed, "999", OK},
		{"something else", func(t *testing.T, f *facts) {
			overwrite(t, f.Config.Mirror.Path, func([]byte) []byte {
				return []byte("These are notes, and long enough not to be taken for the header of a database.")
			})
		}, Failed, "is no mirror", Skipped},
		{"empty", func(t *testing.T, f *facts) {
			overwrite(t, f.Config.Mirror.Path, func([]byte) []byte { return nil })
		}, Skipped, "no database yet", Skipped},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			f := newFacts(t)
			makeMirror(t, f, empty)
			tc.make(t, f)
			f.gather(t.Context())
			expect(t, runCheck(t, "schema version", f), tc.want, tc.says)
			expect(t, runCheck(t, "integrity", f), tc.then)
		})
	}
}

// overwrite changes a file that no program has open.
func overwrite(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, change(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestIntegrity(t *testing.T) {
	t.Parallel()
	f := newFacts(t)
	makeMirror(t, f, empty)
	// Keep the first pages, which list the tables: the file opens, and its data is damaged.
	overwrite(t, f.Config.Mirror.Path, func(content []byte) []byte {
		for i := len(content) * 3 / 4; i < len(content); i++ {
			content[i] = 0xA5
		}
		return content
	})
	f.gather(t.Context())
	expect(t, runCheck(t, "integrity", f), Failed, "damaged", "solarmirror restore --from DIR")
}

func TestFreshness(t *testing.T) {
	t.Parallel()
	var names []string
	for _, s := range pull.Streams() {
		names = append(names, s.Name)
	}
	// allBut returns an age of one hour for every stream but one.
	allBut := func(stream string, age time.Duration) map[string]time.Duration {
		ages := map[string]time.Duration{}
		for _, name := range names {
			ages[name] = time.Hour
		}
		ages[stream] = age
		return ages
	}
	for _, tc := range []struct {
		name    string
		ages    map[string]time.Duration // by stream; a stream without one was never complete
		want    Verdict
		says    string
		command string
	}{
		{"fresh", allBut("equipments", 24*time.Hour), OK, "equipments 24 h old", ""},
		{"old", allBut("budgets", 25*time.Hour), Warning, "budgets 25 h old", "solarmirror sync budgets"},
		{"never", nil, Warning, "orders never complete", "solarmirror sync " + strings.Join(names, " ")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			f := newFacts(t)
			makeMirror(t, f, func(m *store.Mirror) error { return complete(t, m, tc.ages) })
			f.gather(t.Context())
			got := runCheck(t, "freshness", f)
			expect(t, got, tc.want, tc.says)
			if got.Remedy != tc.command {
				t.Errorf("remedy is %q, want %q", got.Remedy, tc.command)
			}
		})
	}
}

// complete sets the watermarks of streams to the given ages.
func complete(t *testing.T, m *store.Mirror, ages map[string]time.Duration) error {
	tx, err := m.Begin(t.Context())
	if err != nil {
		return err
	}
	for _, s := range pull.Streams() {
		old, known := ages[s.Name]
		if !known {
			continue
		}
		for _, pass := range []string{"live", "removed"} {
			if err := tx.SetWatermark(store.Watermark{Stream: s.Name, Pass: pass, CompleteThrough: doctorTime.Add(-old)}); err != nil {
				return errors.Join(err, tx.Rollback())
			}
		}
	}
	return tx.Commit()
}

func TestErasure(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		due  string // SQL
		want Verdict
		says string
	}{
		{"NULL", OK, "none is pending"},
		{"'2026-05-05 10:20:30.000'", Warning, "old copies of rows erased at 2026-05-05 10:20 (UTC) may still be in the file"},
	} {
		t.Run(string(tc.want), func(t *testing.T) {
			t.Parallel()
			f := newFacts(t)
			makeMirror(t, f, empty)
			tamper(t, f, "UPDATE _meta SET erasure_due_since = "+tc.due)
			f.gather(t.Context())
			expect(t, runCheck(t, "erasure", f), tc.want, tc.says)
		})
	}
}

// TestMartsBehind: an update of the marts that did not end is a warning, but not while a sync runs.
func TestMartsBehind(t *testing.T) {
	t.Parallel()
	const stale = "INSERT INTO _stale (table_name, key, name) VALUES ('bi_requests', 0, '')"
	for _, tc := range []struct {
		sql  []string
		want Verdict
		says string
	}{
		{nil, OK, "no update"},
		{[]string{stale}, Warning, "tables bi_* may contradict one another"},
		{[]string{stale, "INSERT INTO _runs (command, trigger, started_at, outcome) VALUES ('sync', 'manual', '2026-05-05 10:20:30.000', 'running')"}, OK, "no update"},
	} {
		f := newFacts(t)
		makeMirror(t, f, empty)
		for _, sql := range tc.sql {
			tamper(t, f, sql)
		}
		f.gather(t.Context())
		expect(t, runCheck(t, "marts", f), tc.want, tc.says)
	}
}

func TestOwnMarts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, tc := range []struct {
		dir, file, sql, ledger string
		want                   Verdict
		says                   string
	}{
		{"", "", "", "", OK, "none: [marts] own_dir is not set"},
		{dir + "/away", "", "", "", Failed, "no such file"},
		{dir, "good.sql", "SELECT code FROM requests", "", OK, "1, all in order"},
		{dir, "good.sql", "SELECT code FROM requests", "it took too long", Warning, "keep older rows: my_good"},
		{dir, "bad.sql", "SELECT nada FROM requests", "", Warning, "bad.sql: no such column: nada"},
		{dir, "Bad.sql", "SELECT 1 AS n", "", Warning, "Bad.sql: the name makes no table"},
	} {
		f := newFacts(t, "MARTS_OWN_DIR="+tc.dir)
		if tc.file != "" {
			path := filepath.Join(tc.dir, tc.file)
			if err := os.WriteFile(path, []byte(tc.sql), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		makeMirror(t, f, empty)
		if tc.ledger != "" {
			tamper(t, f, "INSERT INTO _own_marts (table_name, description, statement_hash, built_for, tried_at, duration_ms, error) VALUES ('my_good', '', '', '', '', 1, '"+tc.ledger+"')")
		}
		f.gather(t.Context())
		expect(t, runCheck(t, "own marts", f), tc.want, tc.says)
		if tc.file != "" {
			if err := os.Remove(filepath.Join(tc.dir, tc.file)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestPowerUnit(t *testing.T) {
	t.Parallel()
	const remedy = `set [marts] power_unit = "Wp" in config.toml, then run "solarmirror sync"`
	for _, tc := range []struct {
		name     string
		settings []string
		totalOf  int64 // totalPower of each deal, which has 5 kW of modules
		deals    int
		remember store.PowerUnit
		want     Verdict
		says     []string
	}{
		{"nothing loaded", nil, 5, 0, "", OK, []string{"no evidence yet: read as kWp; 0 of 20 deals"}},
		{"too few deals", nil, 5_000, 19, "", OK, []string{"no evidence yet: read as kWp; 19 of 20 deals"}},
		{"not decided yet", nil, 5_000, 20, "", OK, []string{"read as Wp, as the deals say; the median of 20 deals says 1 W of modules is 1 of totalPower"}},
		{"remembered", nil, 5, 20, store.KWp, OK, []string{"read as kWp, as decided before; the median of 20 deals says 1 W of modules is 0.001 of totalPower"}},
		{"remembered and contradicted", nil, 5_000, 20, store.KWp, Failed, []string{"read as kWp, as decided before, but the median of 20 deals", remedy}},
		{"configured", []string{"MARTS_POWER_UNIT=Wp"}, 5_000, 20, store.KWp, OK, []string{"read as Wp, as configured; "}},
		{"configured, too few deals", []string{"MARTS_POWER_UNIT=kWp"}, 5_000, 19, "", OK, []string{"read as kWp, as configured; too few deals to check it: 19 of 20"}},
		{"configured and contradicted", []string{"MARTS_POWER_UNIT=kWp"}, 5_000, 20, store.Wp, Failed, []string{"read as kWp, as configured, but the median", remedy}},
		{"neither unit", nil, 5_000_000, 20, "", Failed, []string{"1 W of modules is 1000 of totalPower", "ask the platform's operators"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			f := newFacts(t, tc.settings...)
			makeMirror(t, f, func(m *store.Mirror) error {
				return errors.Join(m.SetPowerUnit(t.Context(), tc.remember), m.Update(t.Context(), func(tx *store.Tx) error {
					for _, insert := range []string{
						"INSERT INTO equipments (equipment_key, type, product_code, nominal_max_power) VALUES (1, 'module', 'M', 500)",
						fmt.Sprintf(`INSERT INTO requests (request_key, request_type, id, total_power)
							WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT i, 'order', i, %d FROM n LIMIT %d`, tc.totalOf, tc.deals),
						"INSERT INTO request_products (request_key, position, type, product_code, quantity) SELECT request_key, 1, 'module', 'M', 10 FROM requests",
					} {
						if _, err := tx.Exec("fill", insert); err != nil {
							return err
						}
					}
					return nil
				}))
			})
			f.gather(t.Context())
			expect(t, runCheck(t, "power unit", f), tc.want, tc.says...)
		})
	}
}

// TestDealStatuses: what is undecided is listed and no fault.
func TestDealStatuses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		settings []string
		says     string
	}{
		{nil, `: "Faturado" 2, "Novo" 1; where wrong: cancelled_statuses, lost_statuses, closed_statuses`},
		{[]string{"MARTS_CLOSED_STATUSES=faturado"}, `: "Novo" 1; `},
		{[]string{"MARTS_CLOSED_STATUSES=faturado", "MARTS_LOST_STATUSES=novo"}, "none to decide"},
		{[]string{"MARTS_CANCELLED_STATUSES=!cancelado"}, `: "Faturado" 2, "Cancelado" 1, "Novo" 1; `},
	} {
		f := newFacts(t, tc.settings...)
		makeMirror(t, f, empty)
		tamper(t, f, `INSERT INTO bi_statuses (deal_status, deal_class, deals)
			VALUES ('Faturado', 'won', 1), ('Faturado', 'cancelled', 1), ('Cancelado', 'won', 1), ('Novo', 'open', 1), (NULL, 'won', 5)`)
		f.gather(t.Context())
		expect(t, runCheck(t, "deal statuses", f), OK, tc.says)
	}
}
