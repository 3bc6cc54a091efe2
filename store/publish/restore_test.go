package publish

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jmoiron/sqlx"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/outbox"
	"solarmirror/store/sqlitefile"
)

const restoredURL = "https://sales.example.com"

// restoreRig has a mirror and an outbox of state "b", and a backup of each of the states "a" and "b".
type restoreRig struct {
	t              *testing.T
	dir            string
	mirror, outbox string
}

func newRestoreRig(t *testing.T) *restoreRig {
	t.Helper()
	dir := t.TempDir()
	r := &restoreRig{t, dir, filepath.Join(dir, "mirror", "m.db"), filepath.Join(dir, "private", "o.db")}
	m, err := store.Open(t.Context(), r.mirror, store.Options{Now: fixedClock})
	must(t, err)
	must(t, m.Bind(t.Context(), restoredURL))
	must(t, m.Close())
	box, err := outbox.Open(t.Context(), r.outbox, outbox.Options{})
	must(t, err)
	must(t, box.Close())
	r.exec(r.outbox, "INSERT INTO company_outbox (name, password) VALUES ('new', 'secret')")
	for _, state := range []string{"a", "b"} {
		r.write(state)
		_, err := Backup(t.Context(), BackupOptions{To: r.backup(state), Mirror: r.mirror, Outbox: r.outbox, Now: start})
		must(t, err)
	}
	return r
}

// clone returns a copy of the rig, which is faster than a new one.
func (r *restoreRig) clone() *restoreRig {
	dir := r.t.TempDir()
	c := &restoreRig{r.t, dir, filepath.Join(dir, "mirror", "m.db"), filepath.Join(dir, "private", "o.db")}
	must(r.t, os.CopyFS(dir, os.DirFS(r.dir)))
	must(r.t, errors.Join(os.Chmod(filepath.Dir(c.outbox), 0o700), os.Chmod(c.outbox, 0o600), os.Chmod(c.outbox+".sends", 0o600)))
	return c
}

func (r *restoreRig) backup(state string) string { return filepath.Join(r.dir, state) }

func (r *restoreRig) exec(path, query string) {
	r.t.Helper()
	db, err := sqlx.Open("sqlite", path)
	must(r.t, err)
	_, err = db.Exec(query)
	must(r.t, errors.Join(err, db.Close()))
}

// write brings both databases to a state.
func (r *restoreRig) write(state string) {
	r.t.Helper()
	m, err := store.Open(r.t.Context(), r.mirror, store.Options{Now: fixedClock})
	must(r.t, err)
	must(r.t, errors.Join(writePage(m, 0, 40, state), m.Close()))
	r.exec(r.outbox, "UPDATE company_outbox SET name = '"+state+"'")
}

// withWAL returns the files of a mirror, the newest state of which is in the WAL alone, and leaves
// the mirror in that state.
func (r *restoreRig) withWAL(state string) (content, wal []byte) {
	r.t.Helper()
	m, err := store.Open(r.t.Context(), r.mirror, store.Options{Now: fixedClock})
	must(r.t, err)
	must(r.t, writePage(m, 0, 40, state))
	content, err = os.ReadFile(r.mirror)
	must(r.t, err)
	wal, err = os.ReadFile(r.mirror + "-wal")
	must(r.t, errors.Join(err, m.Close()))
	return content, wal
}

// states reads the states of mirror and outbox: one letter each, as long as both are whole.
func (r *restoreRig) states() string { return stateOf(r.t, r.mirror) + stateOf(r.t, r.outbox) }

func stateOf(t *testing.T, path string) string {
	t.Helper()
	must(t, checkCopy(t.Context(), path))
	db, err := sqlitefile.OpenUnguarded(path, "ro")
	must(t, err)
	found, err := store.InspectFile(t.Context(), path, "ro")
	must(t, err)
	query := "SELECT DISTINCT name FROM requests"
	if found.Has(schema.OutboxMeta) {
		query = "SELECT name FROM company_outbox"
	}
	state := strings.Join(texts(t, db, query), ",")
	must(t, db.Close())
	return state
}

// files lists the files beside the databases by name, without the locks and what readers of a WAL
// leave.
func (r *restoreRig) files() (list []string) {
	r.t.Helper()
	for _, dir := range []string{filepath.Dir(r.mirror), filepath.Dir(r.outbox)} {
		entries, err := os.ReadDir(dir)
		must(r.t, err)
		for _, e := range entries {
			if filepath.Ext(e.Name()) != ".lock" && e.Name() != "m.db-wal" && e.Name() != "m.db-shm" {
				list = append(list, e.Name())
			}
		}
	}
	return list
}

func (r *restoreRig) mustHave(states string, files ...string) {
	r.t.Helper()
	if got := r.states(); got != states {
		r.t.Errorf("mirror and outbox have the states %q, want %q", got, states)
	}
	if d := cmp.Diff(files, r.files()); d != "" {
		r.t.Error(d)
	}
}

func (r *restoreRig) options(from string) RestoreOptions {
	r.t.Helper()
	found, err := FindBackup(r.t.Context(), from)
	must(r.t, err)
	return RestoreOptions{From: found, Mirror: r.mirror, Outbox: r.outbox, BaseURL: restoredURL, FileMode: 0o640, Now: start, Patience: 200 * time.Millisecond}
}

const replaced = ".replaced-20260304T050607.089Z"

// TestRestore restores over a mirror whose newest state is in its WAL alone, and then once more.
func TestRestore(t *testing.T) {
	t.Parallel()
	r := newRestoreRig(t)
	content, wal := r.withWAL("c")
	must(t, errors.Join(os.WriteFile(r.mirror, content, 0o644), os.WriteFile(r.mirror+"-wal", wal, 0o644), os.Chmod(r.mirror, 0o660)))
	sends, err := os.ReadFile(r.outbox + ".sends")
	must(t, err)

	done, err := Restore(t.Context(), r.options(r.backup("a")))
	must(t, err)
	r.mustHave("aa", "m.db", "m.db"+replaced, "o.db", "o.db"+replaced, "o.db.sends")
	if *done != (Restored{KeptMirror: r.mirror + replaced, KeptOutbox: r.outbox + replaced}) {
		t.Errorf("%+v", done)
	}
	if kept := stateOf(t, done.KeptMirror) + stateOf(t, done.KeptOutbox); kept != "cb" {
		t.Errorf("kept are the states %q", kept)
	}
	if after, err := os.ReadFile(r.outbox + ".sends"); err != nil || !bytes.Equal(sends, after) {
		t.Errorf("the send log has changed: %v", err)
	}
	for path, want := range map[string]fs.FileMode{r.mirror: 0o660, r.outbox: 0o600, done.KeptOutbox: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}

	again := r.options(r.backup("a"))
	again.Now = start.Add(time.Second)
	_, err = Restore(t.Context(), again)
	must(t, err)
	if got := r.states(); got != "aa" {
		t.Errorf("the second time: %q", got)
	}
	r.write("d") // both are written to as before
}

// TestRestoreOneFile restores one of the two; then, to where there is none, a mirror of an older
// version from a directory without a copy of the outbox.
func TestRestoreOneFile(t *testing.T) {
	t.Parallel()
	r := newRestoreRig(t)
	a := r.options(r.backup("a")).From
	_, err := Restore(t.Context(), r.options(a.Outbox))
	must(t, err)
	r.mustHave("ba", "m.db", "o.db", "o.db"+replaced, "o.db.sends")
	must(t, os.Remove(a.Outbox))
	r.exec(a.Mirror, "UPDATE _meta SET schema_version = schema_version - 1")
	must(t, removeDatabase(r.mirror))
	done, err := Restore(t.Context(), r.options(r.backup("a")))
	must(t, err)
	r.mustHave("aa", "m.db", "o.db", "o.db"+replaced, "o.db.sends")
	if *done != (Restored{}) {
		t.Errorf("%+v", done)
	}
	newer := BackupOptions{To: r.backup("a"), Mirror: r.mirror, Now: start.Add(time.Second)}
	made, err := Backup(t.Context(), newer)
	must(t, err)
	if found, err := FindBackup(t.Context(), newer.To); err != nil || found != *made {
		t.Errorf("the newest copies are %+v, found were %+v, %v", made, found, err)
	}
}

// TestRestoreThroughLinks: the files that symbolic links name are replaced, and the send log beside
// the link is asked.
func TestRestoreThroughLinks(t *testing.T) {
	t.Parallel()
	r := newRestoreRig(t)
	elsewhere := filepath.Join(r.dir, "elsewhere")
	must(t, os.Mkdir(elsewhere, 0o700))
	for _, path := range []string{r.mirror, r.outbox} {
		must(t, os.Rename(path, filepath.Join(elsewhere, filepath.Base(path))))
		must(t, os.Symlink(filepath.Join(elsewhere, filepath.Base(path)), path))
	}
	done, err := Restore(t.Context(), r.options(r.backup("a")))
	must(t, err)
	r.mustHave("aa", "m.db", "o.db", "o.db.sends")
	if filepath.Base(filepath.Dir(done.KeptOutbox)) != "elsewhere" || done.Doubts != 0 {
		t.Errorf("%+v", done)
	}
}

// TestRestoreDamaged replaces files that SQLite cannot read.
func TestRestoreDamaged(t *testing.T) {
	t.Parallel()
	r := newRestoreRig(t)
	must(t, removeSideFiles(r.mirror))
	for _, path := range []string{r.mirror, r.outbox} {
		must(t, os.WriteFile(path, []byte(strings.Repeat("rubbish ", 1000)), 0o600))
	}
	must(t, os.Truncate(r.outbox, 5000))
	_, err := Restore(t.Context(), r.options(r.backup("a")))
	must(t, err)
	r.mustHave("aa", "m.db", "m.db"+replaced, "o.db", "o.db"+replaced, "o.db.sends")
}

// TestRestoreDoubts: rows that were sent or cancelled since the backup are not sent again, although
// the restored mirror does not know better.
func TestRestoreDoubts(t *testing.T) {
	t.Parallel()
	r := newRestoreRig(t)
	box, err := outbox.Open(t.Context(), r.outbox, outbox.Options{})
	must(t, err)
	_, err = box.Add(t.Context(), []outbox.Company{{Email: "0@example.com"}, {Email: "1@example.com"}, {Email: "2@example.com"}}, false)
	must(t, err)
	_, err = Backup(t.Context(), BackupOptions{To: r.backup("doubts"), Mirror: r.mirror, Outbox: r.outbox, Now: start})
	must(t, err)
	rows, err := box.Rows(t.Context())
	must(t, err)
	sent, err := box.Claim(t.Context(), rows[1])
	must(t, err)
	_, err = box.Settle(t.Context(), sent, outbox.Settlement{State: outbox.StateDone, Outcome: "done"})
	must(t, err)
	cancelled, err := box.Cancel(t.Context(), rows[2].ID)
	must(t, err)
	creations, err := outbox.OpenCreations(t.Context(), r.mirror)
	must(t, err)
	must(t, creations.Record(t.Context(), cancelled))
	must(t, errors.Join(creations.Close(), box.Close()))

	done, err := Restore(t.Context(), r.options(r.backup("doubts")))
	must(t, err)
	states := strings.Join(texts(t, openFile(t, r.outbox), "SELECT state FROM company_outbox ORDER BY id"), " ")
	if states != "pending ambiguous ambiguous pending" || done.Doubts != 2 {
		t.Errorf("the rows are %s, and %d in doubt", states, done.Doubts)
	}
}

// TestRestoreRefuses: what cannot be restored changes nothing.
func TestRestoreRefuses(t *testing.T) {
	t.Parallel()
	r := newRestoreRig(t)
	a := r.options(r.backup("a")).From
	aged := func(t *testing.T, path, query string) string {
		copied := filepath.Join(r.dir, fmt.Sprintf("%s.db", strings.ReplaceAll(t.Name(), "/", "-")))
		content, err := os.ReadFile(path)
		must(t, errors.Join(err, os.WriteFile(copied, content, 0o600)))
		r.exec(copied, query)
		return copied
	}
	damaged := func(t *testing.T, at int) string {
		path := aged(t, a.Mirror, "SELECT 1")
		content, err := os.ReadFile(path)
		must(t, err)
		copy(content[at:], strings.Repeat("rubbish ", 1000))
		must(t, os.WriteFile(path, content, 0o600))
		return path
	}
	for _, test := range []struct {
		name string
		from func(t *testing.T) string
		set  func(*RestoreOptions)
		want []string
	}{
		{"other platform", func(*testing.T) string { return r.backup("a") }, func(o *RestoreOptions) { o.BaseURL = "https://other.example.com" },
			[]string{a.Mirror, "mirrors " + restoredURL + ", not https://other.example.com"}},
		{"newer mirror", func(t *testing.T) string { return aged(t, a.Mirror, "UPDATE _meta SET schema_version = 1000") }, nil, []string{"newer solarmirror"}},
		{"newer outbox", func(t *testing.T) string { return aged(t, a.Outbox, "UPDATE _outbox SET schema_version = 1000") }, nil, []string{"newer solarmirror"}},
		{"damaged header", func(t *testing.T) string { return damaged(t, 0) }, nil, []string{"the backup", "is damaged", "another one"}},
		{"damaged middle", func(t *testing.T) string { return damaged(t, 3*4096) }, nil, []string{"the backup", "is damaged", "another one"}},
		{"cut off", func(t *testing.T) string {
			path := aged(t, a.Mirror, "SELECT 1")
			must(t, os.Truncate(path, 3*4096))
			return path
		}, nil, []string{"the backup", "is damaged", "another one"}},
		{"masked copy", func(t *testing.T) string {
			return publishTo(t, r.mirror, masked(filepath.Join(r.dir, "published.db"))).Path
		}, nil, []string{"published copy without the personal data"}},
		{"the mirror itself", func(*testing.T) string { return r.mirror }, nil, []string{"a program writes to"}},
		{"the outbox itself", func(*testing.T) string { return r.outbox }, nil, []string{"itself"}},
		{"interrupted writer", func(t *testing.T) string {
			path := aged(t, a.Mirror, "SELECT 1")
			must(t, os.WriteFile(path+"-journal", []byte("hot"), 0o600))
			return path
		}, nil, []string{"a program writes to"}},
		{"another database", func(t *testing.T) string { return aged(t, a.Mirror, "DROP TABLE _meta") }, nil, []string{"no copy of a mirror"}},
		{"no backup", func(t *testing.T) string { return t.TempDir() }, nil, []string{"no copy of a mirror or an outbox", "solarmirror backup --to"}},
		{"nothing there", func(t *testing.T) string { return filepath.Join(r.dir, "nowhere") }, nil, []string{"nowhere", "no such file"}},
		{"path of another database", func(*testing.T) string { return a.Mirror }, func(o *RestoreOptions) { o.Mirror = a.Outbox }, []string{a.Outbox, "something else"}},
		{"open outbox", func(*testing.T) string { return a.Outbox }, func(o *RestoreOptions) { o.Outbox = filepath.Join(r.dir, "open", "o.db") }, []string{"chmod 700"}},
		{"no room", func(t *testing.T) string {
			path := aged(t, a.Mirror, "SELECT 1")
			free, _, err := sqlitefile.FreeBytes(r.dir)
			must(t, errors.Join(err, os.Truncate(path, free+10<<30))) // sparse
			return path
		}, nil, []string{"may take", "make room"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			must(t, os.MkdirAll(filepath.Join(r.dir, "open"), 0o755))
			o := RestoreOptions{Mirror: r.mirror, Outbox: r.outbox, BaseURL: restoredURL, FileMode: 0o640, Now: start}
			var err error
			if o.From, err = FindBackup(t.Context(), test.from(t)); err == nil {
				if test.set != nil {
					test.set(&o)
				}
				_, err = Restore(t.Context(), o)
			}
			for _, words := range test.want {
				if err == nil || !strings.Contains(err.Error(), words) {
					t.Errorf("it says nothing of %q: %v", words, err)
				}
			}
			r.t = t
			r.mustHave("bb", "m.db", "o.db", "o.db.sends")
		})
	}
}

// TestRestoreWhileOpen: a program that has the old file open, idle or not, keeps it from being
// replaced, also when the file can no longer be read; so do the locks.
func TestRestoreWhileOpen(t *testing.T) {
	t.Parallel()
	r := newRestoreRig(t)
	restore := func() error {
		_, err := Restore(t.Context(), r.options(r.backup("a")))
		return err
	}
	for _, damage := range []string{"", "rubbish, rubbish"} {
		child := startChild(t, "hold", r.mirror)
		f, err := os.OpenFile(r.mirror, os.O_RDWR, 0)
		must(t, err)
		_, err = f.WriteAt([]byte(damage), 0)
		must(t, errors.Join(err, f.Close()))
		began := time.Now()
		if err := restore(); !errors.Is(err, sqlitefile.ErrBusy) || !strings.Contains(err.Error(), r.mirror+": another program has it open") {
			t.Errorf("damage %q: %v", damage, err)
		}
		if took := time.Since(began); took < 200*time.Millisecond || took > 30*time.Second {
			t.Errorf("it waited for %s", took)
		}
		if left := fmt.Sprint(r.files()); strings.Contains(left, "restor") || strings.Contains(left, "replaced") {
			t.Errorf("left are %s", left)
		}
		must(t, child.Process.Kill())
		_ = child.Wait()
	}
	for _, path := range []string{r.mirror + ".run", r.mirror, r.outbox} {
		lock, err := sqlitefile.AcquireLock(t.Context(), path, "sync", false)
		must(t, err)
		var locked *sqlitefile.LockedError
		if err := restore(); !errors.As(err, &locked) {
			t.Errorf("with the lock of %s: %v", path, err)
		}
		must(t, lock.Release())
	}
	must(t, restore())
	if got := r.states(); got != "aa" {
		t.Errorf("%q", got)
	}
}
