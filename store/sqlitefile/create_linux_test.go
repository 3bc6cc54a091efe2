package sqlitefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestCreateFile: an existing file keeps its mode and content. The umask is a matter of processes:
// cmd/solarmirror tests it.
func TestCreateFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	must(t, CreateFile(path, 0o666))
	if got := mode(t, path); got != 0o666 {
		t.Errorf("created with %o", got)
	}
	must(t, os.WriteFile(path, []byte("x"), 0))
	if err := CreateFile(path, 0o600); !errors.Is(err, fs.ErrExist) {
		t.Errorf("the file is there: %v", err)
	}
	if got := mode(t, path); got != 0o666 {
		t.Errorf("the file that was there has %o", got)
	}
	must(t, CreateFile(path+"2", 0))
	if got := mode(t, path+"2"); got != 0o600 {
		t.Errorf("without a mode: %o", got)
	}
}

// TestMakeDir: parents are passable, a setgid bit is inherited, and existing directories stay as
// they are.
func TestMakeDir(t *testing.T) {
	t.Parallel()
	top := filepath.Join(t.TempDir(), "top")
	must(t, os.Mkdir(top, 0o700))
	must(t, os.Chmod(top, fs.ModeSetgid|0o700))
	dir := filepath.Join(top, "parent", "private")
	must(t, MakeDir(dir, 0o700))
	must(t, MakeDir(dir, 0o755))
	for path, want := range map[string]fs.FileMode{top: 0o700, filepath.Dir(dir): 0o755, dir: 0o700} {
		if got := mode(t, path); got != want|fs.ModeSetgid {
			t.Errorf("%s has %v, want %v", path, got, want|fs.ModeSetgid)
		}
	}
	must(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	if err := MakeDir(filepath.Join(dir, "file", "below"), 0o755); err == nil {
		t.Error("a directory was made in a file")
	}
}

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	return info.Mode() &^ fs.ModeDir
}
