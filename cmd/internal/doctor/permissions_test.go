package doctor

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"solarmirror/store/sqlitefile"
)

func TestFileModes(t *testing.T) {
	t.Parallel()
	type accessCall struct {
		path  string
		write bool
	}
	for _, tc := range []struct {
		name   string
		exists bool
		denied accessCall // of dir or file
		want   Verdict
		says   string
	}{
		{"nothing there yet", false, accessCall{}, OK, "dir can be written to"},
		{"all allowed", true, accessCall{}, OK, "can be read and written"},
		{"directory for reading only", true, accessCall{"dir", true}, Failed, "dir, cannot be written to: permission denied"},
		{"unreadable file", true, accessCall{"mirror.db", false}, Failed, "cannot be read: permission denied"},
		{"file for reading only", true, accessCall{"mirror.db", true}, Failed, "mirror.db cannot be written to: permission denied"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			f := newFacts(t)
			f.files = sqlitefile.FileState{Dir: "dir", Exists: tc.exists}
			f.access = func(path string, write bool) error {
				if (accessCall{filepath.Base(path), write}) == tc.denied {
					return fs.ErrPermission
				}
				return nil
			}
			expect(t, runCheck(t, "file modes", f), tc.want, tc.says)
		})
	}
}

func TestOutboxModes(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name           string
		dir, file, key fs.FileMode
		want           Verdict
		says           string
	}{
		{"private", 0o700, 0o600, 0o600, OK, "can be written"},
		{"open directory", 0o755, 0o600, 0o600, Failed, "chmod 700"},
		{"open file", 0o700, 0o640, 0o600, Failed, "(mode 0640)"},
		{"open key", 0o700, 0o600, 0o644, Failed, "chmod 600"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			f := newFacts(t, "OUTBOX_KEY_FILE="+writeFile(t, tc.key, "key"))
			dir := filepath.Dir(f.Config.Outbox.Path)
			if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(f.Config.Outbox.Path, nil, 0o600),
				os.Chmod(f.Config.Outbox.Path, tc.file), os.Chmod(dir, tc.dir)); err != nil {
				t.Fatal(err)
			}
			expect(t, runCheck(t, "file modes", f), tc.want, tc.says)
		})
	}
}
