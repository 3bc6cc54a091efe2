package publish

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"solarmirror/store"
	"solarmirror/store/outbox"
	"solarmirror/store/sqlitefile"
	"solarmirror/store/testsize"
)

// TestCopiesWhileWriting publishes and backs up while pages are written. Every copy is one
// snapshot, and the WAL is emptied afterwards.
func TestCopiesWhileWriting(t *testing.T) {
	t.Parallel()
	path, dir := mirrorPath(t), t.TempDir()
	m, err := store.Open(t.Context(), path, store.Options{})
	must(t, err)
	must(t, writePage(m, 0, 40, "new"))
	ctx, stop := context.WithCancel(t.Context())
	var writer sync.WaitGroup
	writer.Go(func() {
		for round := 0; ctx.Err() == nil; round++ {
			if err := writePage(m, round%20, 40, fmt.Sprint("round ", round)); err != nil {
				t.Error(err)
			}
		}
	})
	// A snapshot has whole pages of 40 requests, each with its product, and one name per page: each
	// round renames all of a page's records in one transaction.
	const halves = "SELECT count(*) FROM requests AS r WHERE (SELECT count(*) FROM request_products AS p WHERE p.request_key = r.request_key) = 0"
	const pages = "SELECT count(*) FROM (SELECT 1 FROM requests GROUP BY substr(id, 1, 4) HAVING count(*) <> 40)"
	for n := range 5 {
		to := filepath.Join(dir, "copy.db")
		publishTo(t, path, masked(to))
		done, err := Backup(t.Context(), BackupOptions{To: filepath.Join(dir, "backups"), Mirror: path, Now: start.Add(time.Duration(n) * time.Second)})
		must(t, err)
		for _, file := range []string{to, done.Mirror} {
			db := openFile(t, file)
			if got := texts(t, db, halves)[0] + texts(t, db, pages)[0]; got != "00" {
				t.Errorf("%s: records without products, pages in part: %s", file, got)
			}
		}
		whole := openFile(t, done.Mirror)
		if n := texts(t, whole, "SELECT count(*) FROM (SELECT 1 FROM requests GROUP BY substr(id, 1, 4) HAVING count(DISTINCT name) > 1)")[0]; n != "0" {
			t.Errorf("%s pages are of two moments", n)
		}
	}
	stop()
	writer.Wait()
	must(t, m.Close())
	if f, err := sqlitefile.ReadFileState(path); err != nil || f.WAL != 0 {
		t.Errorf("a WAL of %d bytes stays, %v", f.WAL, err)
	}
}

// publishForever publishes until it is killed. A child process runs it.
func publishForever(path string) error {
	for n := 0; ; n++ {
		o := masked(filepath.Join(filepath.Dir(path), "published", "copy.db"))
		o.KeepVersions = 2
		if _, err := Copy(context.Background(), path, o); err != nil {
			return err
		}
		if n == 0 {
			fmt.Fprintln(os.Stdout, "ready")
		}
	}
}

// TestKilledPublish kills publishing processes at different times. A whole copy always exists, and
// the next publish removes all leftovers.
func TestKilledPublish(t *testing.T) {
	t.Parallel()
	path := mirrorPath(t)
	m := filledMirror(t, path)
	want := texts(t, m.Reader(), "SELECT count(*) FROM request_products")[0]
	to := filepath.Join(filepath.Dir(path), "published", "copy.db")
	for n := range testsize.Fewer(8) {
		child := startChild(t, "publish", path)
		time.Sleep(time.Duration(n) * 3 * time.Millisecond)
		must(t, child.Process.Kill())
		_ = child.Wait()
		must(t, checkCopy(t.Context(), to))
		if got := texts(t, openFile(t, to), "SELECT count(*) FROM request_products")[0]; got != want {
			t.Errorf("%s products, want %s", got, want)
		}
	}
	o := masked(to)
	o.KeepVersions = 2
	publishTo(t, path, o)
	files, err := os.ReadDir(filepath.Dir(to))
	if must(t, err); len(files) != 3 {
		t.Errorf("copy, lock and one earlier copy should stay: %v", files)
	}
}

// TestBackup copies an outbox, without its send log, and a mirror of an older schema version.
func TestBackup(t *testing.T) {
	t.Parallel()
	path, dir := mirrorPath(t), t.TempDir()
	old, err := store.Open(t.Context(), path, store.Options{Now: fixedClock})
	must(t, err)
	must(t, writePage(old, 1, 10, "old"))
	must(t, old.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec("age the schema", "UPDATE _meta SET schema_version = schema_version - 1")
		return err
	}))
	must(t, old.Close())
	outboxPath := filepath.Join(dir, "private", "outbox.db")
	box, err := outbox.Open(t.Context(), outboxPath, outbox.Options{})
	must(t, err)
	db, err := sqlx.Open("sqlite", outboxPath)
	must(t, err)
	defer db.Close()
	_, err = db.Exec("INSERT INTO company_outbox (name, password) VALUES ('Ana', 'secret')")
	must(t, err)

	o := BackupOptions{To: filepath.Join(dir, "backups"), Mirror: path, Outbox: outboxPath, Now: start}
	must(t, os.MkdirAll(o.To, 0o700))
	must(t, os.WriteFile(partPath(filepath.Join(o.To, "outbox-x.db")), []byte("left"), 0o600))
	done, err := Backup(t.Context(), o)
	must(t, err)
	if !strings.HasSuffix(done.Mirror, "mirror-20260304T050607.089Z.db") || !strings.HasSuffix(done.Outbox, "outbox-20260304T050607.089Z.db") {
		t.Errorf("%+v", done)
	}
	files, err := os.ReadDir(o.To)
	if must(t, err); len(files) != 3 {
		t.Errorf("the two copies and the lock should be there: %v", files)
	}
	for _, file := range []string{done.Mirror, done.Outbox, o.To} {
		must(t, sqlitefile.CheckPrivate(file))
	}
	if n := texts(t, openFile(t, done.Mirror), "SELECT count(*) FROM requests")[0]; n != "10" {
		t.Errorf("%s requests", n)
	}
	copied := openFile(t, done.Outbox)
	for _, query := range []string{"SELECT password FROM company_outbox", "SELECT identity FROM _outbox", "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name", "SELECT seq FROM sqlite_sequence"} {
		if got, want := strings.Join(texts(t, copied, query), ";"), strings.Join(texts(t, db, query), ";"); got != want || want == "" {
			t.Errorf("%s\n  is   %s\n  want %s", query, got, want)
		}
	}
	must(t, box.Close())
}

func TestBackupRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	none := BackupOptions{To: filepath.Join(dir, "backups"), Mirror: filepath.Join(dir, "m.db"), Outbox: filepath.Join(dir, "o.db"), Now: start}
	if _, err := Backup(t.Context(), none); !errors.Is(err, sqlitefile.ErrNoDatabase) {
		t.Errorf("without files: %v", err)
	}
	path := mirrorPath(t)
	filledMirror(t, path)
	var open *sqlitefile.ModeError
	if _, err := Backup(t.Context(), BackupOptions{To: none.To, Mirror: path, Outbox: path, Now: start}); !errors.As(err, &open) {
		t.Errorf("an outbox others may read: %v", err)
	}
	text := filepath.Join(dir, "text")
	must(t, os.WriteFile(text, []byte(strings.Repeat("text ", 100)), 0o600))
	if _, err := Backup(t.Context(), BackupOptions{To: none.To, Mirror: text, Now: start}); !errors.Is(err, sqlitefile.ErrNotMirror) {
		t.Errorf("no mirror: %v", err)
	}
	private := filepath.Join(dir, "private", "outbox.db")
	must(t, os.MkdirAll(filepath.Dir(private), 0o700))
	must(t, os.Chmod(filepath.Dir(private), 0o700))
	must(t, os.WriteFile(private, nil, 0o600))
	if _, err := Backup(t.Context(), BackupOptions{To: none.To, Mirror: path, Outbox: private, Now: start}); !errors.Is(err, outbox.ErrNotOutbox) {
		t.Errorf("no outbox: %v", err)
	}
	lock, err := sqlitefile.AcquireLock(t.Context(), filepath.Join(none.To, "backup"), "backup", false)
	must(t, err)
	var locked *sqlitefile.LockedError
	if _, err := Backup(t.Context(), none); !errors.As(err, &locked) {
		t.Errorf("while another backs up: %v", err)
	}
	must(t, lock.Release())
}
