package store

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"solarmirror/store/sqlitefile"
)

func TestFileState(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	path := filepath.Join(root, "data", "mirror", "a.db")

	before, err := sqlitefile.ReadFileState(path)
	must(t, err)
	if before.Dir != root || before.Exists || before.Size != 0 || before.HasWAL || before.HasSHM {
		t.Errorf("before there is a file: %+v", before)
	}

	m := openMirror(t, path)
	_, err = writePage(t.Context(), m, sqlitefile.FormatTime(start), somePage(1, 50))
	must(t, err)
	open, err := sqlitefile.ReadFileState(path)
	must(t, err)
	if open.Dir != filepath.Dir(path) || !open.Exists || open.Size == 0 || !open.HasWAL || open.WAL == 0 || !open.HasSHM {
		t.Errorf("while it is written to: %+v", open)
	}
	if open.FreeKnown != (open.Free > 0) {
		t.Errorf("free disk: %+v", open)
	}
}

func TestFileStateBelowAFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o644))
	if f, err := sqlitefile.ReadFileState(filepath.Join(file, "sub", "a.db")); err == nil {
		t.Errorf("a file was taken for a directory: %+v", f)
	}
}

func TestJournalMode(t *testing.T) {
	t.Parallel()
	path := mirrorPath(t)
	if _, err := sqlitefile.JournalMode(t.Context(), path); !errors.Is(err, sqlitefile.ErrNoDatabase) {
		t.Errorf("without a file: %v", err)
	}
	closedMirror(t, path)
	mode, err := sqlitefile.JournalMode(t.Context(), path)
	must(t, err)
	if mode != "wal" {
		t.Errorf("journal mode of a mirror is %q", mode)
	}

	switchJournal(t, path, "DELETE")
	mode, err = sqlitefile.JournalMode(t.Context(), path)
	must(t, err)
	if mode != "delete" {
		t.Errorf("journal mode after another program changed it is %q", mode)
	}

	notes := filepath.Join(t.TempDir(), "notes.txt")
	must(t, os.WriteFile(notes, []byte("These are notes, and long enough not to be taken for the header of a database."), 0o644))
	if _, err := sqlitefile.JournalMode(t.Context(), notes); !errors.Is(err, sqlitefile.ErrNotMirror) {
		t.Errorf("of a text file: %v", err)
	}
}

func TestQuickCheck(t *testing.T) {
	t.Parallel()
	path := mirrorPath(t)
	closedMirror(t, path, somePage(1, 500)...)
	faults, err := sqlitefile.QuickCheck(t.Context(), path)
	must(t, err)
	if d := cmp.Diff([]string(nil), faults); d != "" {
		t.Errorf("faults of a sound file:\n%s", d)
	}

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := sqlitefile.QuickCheck(ended, path); !errors.Is(err, context.Canceled) {
		t.Errorf("after its time: %v", err)
	}

	// No connection of this process is open: the file may be damaged by hand.
	switchJournal(t, path, "DELETE")
	damage(t, path)
	faults, err = sqlitefile.QuickCheck(t.Context(), path)
	if err == nil && len(faults) == 0 {
		t.Error("a damaged file passes")
	}
	if err != nil && !errors.Is(err, sqlitefile.ErrCorrupt) {
		t.Errorf("of a damaged file: %v", err)
	}
	if len(faults) > sqlitefile.MaxFaults {
		t.Errorf("%d faults are reported", len(faults))
	}
}

// closedMirror leaves a mirror behind that nothing has open.
func closedMirror(t *testing.T, path string, page ...request) {
	t.Helper()
	m, err := Open(t.Context(), path, Options{Now: fixedClock})
	must(t, err)
	_, err = writePage(t.Context(), m, sqlitefile.FormatTime(start), page)
	must(t, errors.Join(err, m.Close()))
}

func switchJournal(t *testing.T, path, mode string) {
	t.Helper()
	db, err := sql.Open("sqlite", sqlitefile.DSN(path, nil))
	must(t, err)
	_, err = db.ExecContext(t.Context(), "PRAGMA journal_mode = "+mode)
	must(t, errors.Join(err, db.Close()))
}

// damage overwrites the second half of a file.
func damage(t *testing.T, path string) {
	t.Helper()
	content, err := os.ReadFile(path)
	must(t, err)
	for i := len(content) / 2; i < len(content); i++ {
		content[i] = 0xA5
	}
	must(t, os.WriteFile(path, content, 0o644))
}
