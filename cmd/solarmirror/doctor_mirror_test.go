package main

import (
	"bytes"
	"database/sql"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"solarmirror/store"
	"solarmirror/sync/pull"
)

// makeMirror makes the patient's mirror, lets fill write to it, and closes it.
func makeMirror(t *testing.T, p *patient, fill func(*store.Mirror) error) {
	t.Helper()
	m, err := store.Open(t.Context(), p.config.Mirror.Path, store.Options{Now: p.now})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(fill(m), m.Close()); err != nil {
		t.Fatal(err)
	}
}

func empty(*store.Mirror) error { return nil }

// tamper runs SQL on the patient's mirror as another program would.
func tamper(t *testing.T, p *patient, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", p.config.Mirror.Path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), statement)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestDoctorFileSystem(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		at   fileSystem
		err  error
		want severity
		says string
	}{
		{"local", fileSystem{checked: true}, nil, fine, "a local disk"},
		{"network", fileSystem{name: "NFS", network: true, checked: true}, nil, unfit, "NFS"},
		{"doubtful", fileSystem{name: "9p", checked: true}, nil, warned, "9p"},
		{"another system", fileSystem{}, nil, skipped, "not checked"},
		{"no answer", fileSystem{}, errors.New("statfs: stale file handle"), skipped, "stale file handle"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := newTestPatient(t)
			p.fileSystem = func(string) (fileSystem, error) { return tc.at, tc.err }
			expect(t, see(t, "file system", p), tc.want, tc.says)
		})
	}
}

func TestDoctorFreeDisk(t *testing.T) {
	t.Parallel()
	const gib = 1 << 30
	for _, tc := range []struct {
		name string
		disk store.Footprint
		want severity
		says string
	}{
		{"enough", store.Footprint{Size: 4 * gib, Free: 8 * gib, FreeKnown: true}, fine, "8.0 GiB free"},
		{"less than twice the database", store.Footprint{Size: 4 * gib, Free: 8*gib - 1, FreeKnown: true}, warned, "df -h"},
		{"a small database and 1 GiB", store.Footprint{Size: 1000, Free: gib, FreeKnown: true}, fine, "1000 bytes"},
		{"a small database and less", store.Footprint{Size: 1000, Free: gib - 1, FreeKnown: true}, warned, "1.0 GiB would do"},
		{"too little for a sync", store.Footprint{Size: 1000, Free: 32<<20 - 1, FreeKnown: true}, unfit, "df -h"},
		{"not known", store.Footprint{Size: 1000}, skipped, "not checked"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := newTestPatient(t)
			p.footprint = tc.disk
			expect(t, see(t, "free disk", p), tc.want, tc.says)
		})
	}
}

func TestDoctorJournal(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		beside store.Footprint // the files beside the mirror
		mode   string
		want   severity
		says   string
	}{
		{"good", store.Footprint{}, "WAL", fine, "wal"},
		{"in use", store.Footprint{HasWAL: true, HasSHM: true, WAL: 16 << 20}, "WAL", fine, "16.0 MiB"},
		{"switched by another program", store.Footprint{}, "DELETE", warned, `"delete", not wal`},
		{"kept from being emptied", store.Footprint{HasWAL: true, HasSHM: true, WAL: longWAL + 1}, "WAL", warned, "64.0 MiB"},
		{"copied in part", store.Footprint{HasSHM: true}, "WAL", warned, "mirror.db-shm"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := newTestPatient(t)
			makeMirror(t, p, empty)
			tamper(t, p, "PRAGMA journal_mode = "+tc.mode)
			p.gather(t.Context())
			p.footprint.HasWAL, p.footprint.HasSHM, p.footprint.WAL = tc.beside.HasWAL, tc.beside.HasSHM, tc.beside.WAL
			expect(t, see(t, "journal mode", p), tc.want, tc.says)
		})
	}
}

func TestDoctorSchemaVersion(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		make func(*testing.T, *patient)
		want severity
		says string
		then severity // what integrity comes to
	}{
		{"of this program", func(*testing.T, *patient) {}, fine, "this program's", fine},
		{"older", func(t *testing.T, p *patient) { tamper(t, p, "UPDATE _meta SET schema_version = 1") }, warned, "solarmirror sync", fine},
		{"newer", func(t *testing.T, p *patient) { tamper(t, p, "UPDATE _meta SET schema_version = 999") }, unfit, "999", fine},
		{"something else", func(t *testing.T, p *patient) {
			overwrite(t, p.config.Mirror.Path, func([]byte) []byte {
				return []byte("These are notes, and long enough not to be taken for the header of a database.")
			})
		}, unfit, "is no mirror", skipped},
		{"empty", func(t *testing.T, p *patient) {
			overwrite(t, p.config.Mirror.Path, func([]byte) []byte { return nil })
		}, skipped, "no database yet", skipped},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := newTestPatient(t)
			makeMirror(t, p, empty)
			tc.make(t, p)
			p.gather(t.Context())
			expect(t, see(t, "schema version", p), tc.want, tc.says)
			expect(t, see(t, "integrity", p), tc.then)
		})
	}
}

// overwrite changes a file that nothing has open.
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

func TestDoctorIntegrity(t *testing.T) {
	t.Parallel()
	p := newTestPatient(t)
	makeMirror(t, p, empty)
	// Not the first pages, which say what tables there are: the file opens, and is found to be damaged where data lies.
	overwrite(t, p.config.Mirror.Path, func(content []byte) []byte {
		for i := len(content) * 3 / 4; i < len(content); i++ {
			content[i] = 0xA5
		}
		return content
	})
	p.gather(t.Context())
	expect(t, see(t, "integrity", p), unfit, "damaged", "solarmirror backup")
}

func TestDoctorFreshness(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		ages    map[string]time.Duration // of each stream; none: never complete
		want    severity
		says    string
		command string
	}{
		{"fresh", map[string]time.Duration{"orders": time.Minute, "budgets": time.Hour, "equipments": 24 * time.Hour}, fine, "equipments 24 h old", ""},
		{"old", map[string]time.Duration{"orders": time.Minute, "budgets": 25 * time.Hour, "equipments": time.Hour}, warned, "budgets 25 h old", "solarmirror sync budgets"},
		{"never", nil, warned, "orders never complete", "solarmirror sync orders budgets equipments"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := newTestPatient(t)
			makeMirror(t, p, func(m *store.Mirror) error { return complete(t, m, tc.ages) })
			p.gather(t.Context())
			got := see(t, "freshness", p)
			expect(t, got, tc.want, tc.says)
			if got.Remedy != tc.command {
				t.Errorf("remedy is %q, want %q", got.Remedy, tc.command)
			}
		})
	}
}

// complete makes streams complete as long ago as it says.
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

// Doctor and status show an erasure that a reader has kept from being finished.
func TestPendingErasure(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		due  string // SQL
		want severity
		says string
	}{
		{"NULL", fine, "none is pending"},
		{"'2026-05-05 10:20:30.000'", warned, "old copies of rows erased at 2026-05-05 10:20 (UTC) may still be in the file"},
	} {
		t.Run(string(tc.want), func(t *testing.T) {
			t.Parallel()
			p := newTestPatient(t)
			makeMirror(t, p, empty)
			tamper(t, p, "UPDATE _meta SET erasure_due_since = "+tc.due)
			p.gather(t.Context())
			expect(t, see(t, "erasure", p), tc.want, tc.says)
			s, err := readStatus(t.Context(), p.mirror, doctorTime)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := newApp(nil, &out, nil).printStatus(s, false); err != nil {
				t.Fatal(err)
			}
			if shown := strings.Contains(out.String(), "\n"+tc.says+": "+finishErasure+"\n"); shown != (tc.want == warned) {
				t.Errorf("status says\n%s", &out)
			}
		})
	}
}
