package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// What was there stays until the new file is whole, and nothing else is left: not by a failure, and
// not by a process that was killed. The file of one that runs stays.
func TestWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "v.xlsx")
	writes := func(text string, err error) func(io.Writer) error {
		return func(w io.Writer) error {
			_, wrote := io.WriteString(w, text)
			return errors.Join(wrote, err)
		}
	}
	holds := func(want string, mode os.FileMode, others ...string) {
		t.Helper()
		text, err := os.ReadFile(path)
		must(t, err)
		info, err := os.Stat(path)
		must(t, err)
		entries, err := os.ReadDir(dir)
		must(t, err)
		if string(text) != want || info.Mode().Perm() != mode || len(entries) != 1+len(others) {
			t.Errorf("%q, mode %v, %v; want %q, mode %v, and %q beside it", text, info.Mode(), entries, want, mode, others)
		}
	}
	must(t, Write(path, 0o640, writes("first", nil)))
	holds("first", 0o640)
	broken := errors.New("broken")
	if err := Write(path, 0o600, writes("sec", broken)); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	holds("first", 0o640)
	must(t, os.WriteFile(filepath.Join(dir, ".v.xlsx.12345"), []byte("killed"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, ".v.xlsx.mine"), []byte("somebody's"), 0o600))
	must(t, Write(path, 0o600, func(w io.Writer) error {
		must(t, Write(path, 0o600, writes("meanwhile", nil))) // by another process
		return writes("second", nil)(w)
	}))
	holds("second", 0o600, ".v.xlsx.mine")
}

func TestBegins(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "page.HTML")
	for text, want := range map[string]bool{"": true, "<!DOCTYPE HTML>": true, "<!doctype html": true, "<!doc": false, "PK<!doctype html": false} {
		must(t, os.WriteFile(path, []byte(text), 0o600))
		if got, err := Begins(path, "<!doctype html", ".html", ".htm"); got != want || err != nil {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	lock := filepath.Join(t.TempDir(), "mirror.db.lock")
	must(t, os.WriteFile(lock, nil, 0o600))
	if got, err := Begins(lock, "<!doctype html", ".html", ".htm"); got || err != nil {
		t.Errorf("an empty lock: %v, %v", got, err)
	}
	if got, err := Begins(path+"2", "x"); !got || err != nil {
		t.Errorf("a missing file: %v, %v", got, err)
	}
	if mode, err := Mode(filepath.Dir(path), 0o600); !errors.Is(err, ErrNotFile) {
		t.Errorf("a directory: %v, %v", mode, err)
	}
}
