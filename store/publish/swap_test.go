package publish

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"solarmirror/store"
	"solarmirror/store/sqlitefile"
	"solarmirror/store/testsize"
)

// holdOpen keeps a mirror open, without a transaction. A child process runs it.
func holdOpen(path string) error {
	m, err := store.OpenReadOnly(context.Background(), path)
	if err != nil {
		return err
	}
	defer m.Close()
	fmt.Fprintln(os.Stdout, "ready")
	time.Sleep(time.Hour) // select {} would be a deadlock where there is no cgo
	return nil
}

// restoreForever restores the states a and b in turns until it is killed; path is the rig's
// directory. A child process runs it.
func restoreForever(dir string) error {
	fmt.Fprintln(os.Stdout, "ready")
	for n := 0; ; n++ {
		found, err := FindBackup(context.Background(), filepath.Join(dir, string(rune('a'+n%2))))
		if err != nil {
			return err
		}
		done, err := Restore(context.Background(), RestoreOptions{
			From: found, Mirror: filepath.Join(dir, "mirror", "m.db"), Outbox: filepath.Join(dir, "private", "o.db"),
			BaseURL: restoredURL, FileMode: 0o640, Now: time.Now(), Patience: time.Minute,
		})
		if err != nil {
			return err
		}
		if err := errors.Join(os.Remove(done.KeptMirror), os.Remove(done.KeptOutbox)); err != nil {
			return err
		}
	}
}

// TestKilledRestore kills restoring processes at random moments. What the next command finds is one
// backup, of both databases.
func TestKilledRestore(t *testing.T) {
	t.Parallel()
	r := newRestoreRig(t)
	finished, undone := 0, 0
	for n := range testsize.Fewer(200) {
		child := startChild(t, "restore", r.dir)
		time.Sleep(time.Duration(n%50) * 2 * time.Millisecond)
		must(t, child.Process.Kill())
		_ = child.Wait()
		did, err := FinishRestore(t.Context(), r.mirror, time.Second, false)
		must(t, err)
		switch {
		case strings.Contains(did, "finished"):
			finished++
		case strings.Contains(did, "undone"):
			undone++
		}
		if got := r.states(); got != "aa" && got != "bb" {
			t.Fatalf("after kill %d mirror and outbox have the states %q", n, got)
		}
		for _, file := range r.files() {
			if strings.Contains(file, "restor") && file != filepath.Base(journalPath(r.mirror))+".new" {
				t.Errorf("after kill %d there is %s", n, file)
			}
		}
		for _, dir := range []string{r.mirror, r.outbox} {
			kept, err := filepath.Glob(dir + ".replaced-*")
			must(t, err)
			for _, path := range kept {
				must(t, os.Remove(path))
			}
		}
	}
	t.Logf("%d were finished, %d undone", finished, undone)
	if !testsize.Race && (finished == 0 || undone == 0) {
		t.Errorf("%d were finished and %d undone: the kills do not meet both", finished, undone)
	}
}

// TestRestoreStops stops a restore after each of its steps, and the one that finishes it after each
// of its own: with a mirror, and where of the mirror only a WAL is left.
func TestRestoreStops(t *testing.T) {
	t.Parallel()
	rig := newRestoreRig(t)
	_, wal := rig.withWAL("c")
	rig.write("b")
	for _, orphan := range [][]byte{nil, wal} {
		for n, more := 1, true; more; n++ {
			for m := 0; ; m++ {
				stopped, left := stopRestore(rig.clone(), orphan, n, m)
				more = left
				if !stopped || testsize.Race {
					break
				}
			}
		}
	}
}

// stopRestore stops a restore after n steps, and the one that finishes it after m. orphan is a WAL
// to leave without its mirror, or nil. It returns whether the finishing restore was stopped before
// its end, and whether the restore itself was.
func stopRestore(r *restoreRig, orphan []byte, n, m int) (finishingStopped, stopped bool) {
	t := r.t
	t.Helper()
	if orphan != nil {
		must(t, os.Remove(r.mirror))
		must(t, os.WriteFile(r.mirror+"-wal", orphan, 0o600))
	}
	s, err := newSwap(t.Context(), r.options(r.backup("a")))
	must(t, err)
	steps := append(s.prepare(), s.place()...)
	must(t, runSteps(t.Context(), steps[:min(n, len(steps))]))
	must(t, s.giveUp()) // as the kernel does
	j, err := readJournal(r.mirror)
	must(t, err)
	if j != nil && j.Placing {
		finishing := &swap{mirror: r.mirror, patience: time.Second, journal: *j}
		steps := finishing.finish()
		must(t, runSteps(t.Context(), steps[:min(m, len(steps))]))
		must(t, finishing.giveUp())
		finishingStopped = m < len(steps)
	}
	did, err := FinishRestore(t.Context(), r.mirror, time.Second, false)
	must(t, err)
	unchanged := strings.Contains(did, "undone")
	switch {
	case unchanged && orphan != nil:
		if got := stateOf(t, r.outbox); got != "b" {
			t.Errorf("the outbox has the state %q", got)
		}
		if left, err := os.ReadFile(r.mirror + "-wal"); err != nil || !bytes.Equal(left, orphan) {
			t.Errorf("the WAL has changed: %d bytes, %v", len(left), err)
		}
	case unchanged:
		r.mustHave("bb", "m.db", "o.db", "o.db.sends")
	case orphan != nil:
		r.mustHave("aa", "m.db", "m.db"+replaced+"-wal", "o.db", "o.db"+replaced, "o.db.sends")
	default:
		r.mustHave("aa", "m.db", "m.db"+replaced, "o.db", "o.db"+replaced, "o.db.sends")
	}
	if t.Failed() {
		t.Fatalf("stopped after step %d and %d", n, m)
	}
	return finishingStopped, n < len(steps)
}

// TestUndoRollsBack: a restore that was killed while SQLite changed the old mirror leaves a journal
// that only a writer can roll back; afterwards readers can open the mirror again.
func TestUndoRollsBack(t *testing.T) {
	t.Parallel()
	r := newRestoreRig(t)
	db, err := sqlx.Open("sqlite", r.mirror)
	must(t, err)
	db.SetMaxOpenConns(1)
	for _, query := range []string{"PRAGMA journal_mode = DELETE", "PRAGMA cache_size = 1", "BEGIN", "UPDATE requests SET name = 'half'", "CREATE TABLE large AS SELECT zeroblob(1e6)"} {
		_, err := db.Exec(query)
		must(t, err)
	}
	killed := r.clone()
	must(t, db.Close())
	if _, err := sqlitefile.IntegrityCheck(t.Context(), killed.mirror); err == nil {
		t.Fatal("readers can open it already, so nothing is proved")
	}
	s, err := newSwap(t.Context(), killed.options(killed.backup("a")))
	must(t, err)
	must(t, s.writeJournal(t.Context()))
	_, err = FinishRestore(t.Context(), killed.mirror, time.Second, false)
	must(t, err)
	killed.mustHave("bb", "m.db", "o.db", "o.db.sends")
}

// TestFinishRestoreMeanwhile: who opens the databases while they are being restored is told so.
func TestFinishRestoreMeanwhile(t *testing.T) {
	t.Parallel()
	r := newRestoreRig(t)
	s, err := newSwap(t.Context(), r.options(r.backup("a")))
	must(t, err)
	must(t, s.writeJournal(t.Context()))
	lock, err := sqlitefile.AcquireLock(t.Context(), r.outbox, "restore", false)
	must(t, err)
	var locked *sqlitefile.LockedError
	if _, err := FinishRestore(t.Context(), r.mirror, 0, false); !errors.As(err, &locked) || locked.Holder.Command != "restore" {
		t.Errorf("%v", err)
	}
	must(t, lock.Release())
	must(t, os.WriteFile(journalPath(r.mirror), []byte("{"), 0o600))
	if _, err := FinishRestore(t.Context(), r.mirror, 0, false); err == nil || !strings.Contains(err.Error(), journalPath(r.mirror)) {
		t.Errorf("a damaged journal: %v", err)
	}
}
