package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"solarmirror/cmd/internal/config"
	"solarmirror/store/sqlitefile"
)

var doctorTime = time.Date(2026, 5, 6, 12, 0, 0, 0, time.UTC)

// newTestPatient has a mirror path of its own and the given settings, as environment variables without their prefix.
func newTestPatient(t *testing.T, settings ...string) *patient {
	t.Helper()
	dir := t.TempDir()
	environ := []string{
		"SOLARMIRROR_MIRROR_PATH=" + filepath.Join(dir, "mirror.db"),
		"SOLARMIRROR_OUTBOX_PATH=" + filepath.Join(dir, "private", "outbox.db"),
	}
	for _, s := range settings {
		environ = append(environ, "SOLARMIRROR_"+s)
	}
	p := &patient{
		log: zerolog.Nop(), now: func() time.Time { return doctorTime },
		fileSystem: func(string) (fileSystem, error) { return fileSystem{checked: true}, nil },
		access:     func(string, bool) error { return nil },
	}
	p.config, p.configErr = config.Load(config.Source{Environ: environ})
	t.Cleanup(p.close)
	return p
}

// see makes one check.
func see(t *testing.T, name string, p *patient) finding {
	t.Helper()
	for _, c := range checks() {
		if c.name == name {
			return c.examine(t.Context(), p)
		}
	}
	t.Fatalf("there is no check %q", name)
	return finding{}
}

// expect compares a finding with the verdict and parts of what it should say. What is not in order must have a remedy.
func expect(t *testing.T, got finding, want severity, parts ...string) {
	t.Helper()
	if got.Verdict != want {
		t.Errorf("verdict is %q, want %q: %+v", got.Verdict, want, got)
	}
	for _, part := range parts {
		if !strings.Contains(got.What+"\n"+got.Remedy, part) {
			t.Errorf("%+v does not say %q", got, part)
		}
	}
	if bad := got.Verdict == warned || got.Verdict == unfit; bad != (got.Remedy != "") {
		t.Errorf("remedy of %q is %q", got.Verdict, got.Remedy)
	}
}

func writeFile(t *testing.T, mode fs.FileMode, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil { // whatever the umask
		t.Fatal(err)
	}
	return path
}

func TestDoctorConfig(t *testing.T) {
	t.Parallel()
	const withToken = "[platform]\nbase_url = \"https://example.com\"\ntoken = \"hunter2\"\n"
	for _, tc := range []struct {
		name string
		mode fs.FileMode
		toml string
		want severity
		says string
	}{
		{"good", 0o644, "[platform]\nbase_url = \"https://example.com\"", fine, "https://example.com"},
		{"no platform", 0o644, "", warned, "base_url"},
		{"not TOML", 0o644, "[platform", unfit, "file:1"},
		{"unknown key", 0o644, "[platform]\nbase = 1", unfit, "unknown key platform.base"},
		{"token for all to read", 0o644, withToken, warned, "chmod 600"},
		{"token for its owner", 0o600, withToken, fine, "loads"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			path := writeFile(t, tc.mode, tc.toml)
			p := &patient{configPath: path}
			p.config, p.configErr = config.Load(config.Source{Path: path})
			got := see(t, "config", p)
			expect(t, got, tc.want, tc.says)
			if strings.Contains(got.What, "hunter2") {
				t.Errorf("the token is shown: %+v", got)
			}
		})
	}
}

func TestDoctorToken(t *testing.T) {
	t.Parallel()
	const platform = "PLATFORM_BASE_URL=https://example.com"
	for _, tc := range []struct {
		name     string
		settings []string
		want     severity
		says     string
	}{
		{"in the environment", []string{platform, "PLATFORM_TOKEN=hunter2"}, fine, "given"},
		{"in a file", []string{platform, "PLATFORM_TOKEN_FILE=" + writeFile(t, 0o600, "hunter2\n")}, fine, "in "},
		{"in a file for the group", []string{platform, "PLATFORM_TOKEN_FILE=" + writeFile(t, 0o640, "hunter2\n")}, fine, "in "},
		{"in a file for all to read", []string{platform, "PLATFORM_TOKEN_FILE=" + writeFile(t, 0o644, "hunter2\n")}, warned, "mode 0644"},
		{"in an empty file", []string{platform, "PLATFORM_TOKEN_FILE=" + writeFile(t, 0o600, "\n")}, unfit, "is empty"},
		{"in a file that is not there", []string{platform, "PLATFORM_TOKEN_FILE=/nowhere/token"}, unfit, "/nowhere/token"},
		{"missing", []string{platform}, unfit, "SOLARMIRROR_PLATFORM_TOKEN_FILE"},
		{"missing, and so is the platform", nil, skipped, "neither"},
		{"configuration does not load", []string{"PLATFORM_PAGE_LIMIT=x"}, skipped, "does not load"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := see(t, "token", newTestPatient(t, tc.settings...))
			expect(t, got, tc.want, tc.says)
			if strings.Contains(got.What, "hunter2") {
				t.Errorf("the token is shown: %+v", got)
			}
		})
	}
}

func TestDoctorFileModes(t *testing.T) {
	t.Parallel()
	type wish struct {
		path  string
		write bool
	}
	for _, tc := range []struct {
		name   string
		exists bool
		denied wish // of dir or file
		want   severity
		says   string
	}{
		{"nothing there yet", false, wish{}, fine, "dir can be written to"},
		{"all allowed", true, wish{}, fine, "can be read and written"},
		{"directory for reading only", true, wish{"dir", true}, unfit, "dir, cannot be written to: permission denied"},
		{"unreadable file", true, wish{"mirror.db", false}, unfit, "cannot be read: permission denied"},
		{"file for reading only", true, wish{"mirror.db", true}, unfit, "mirror.db cannot be written to: permission denied"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := newTestPatient(t)
			p.footprint = sqlitefile.Footprint{Dir: "dir", Exists: tc.exists}
			p.access = func(path string, write bool) error {
				if (wish{filepath.Base(path), write}) == tc.denied {
					return fs.ErrPermission
				}
				return nil
			}
			expect(t, see(t, "file modes", p), tc.want, tc.says)
		})
	}
}

func TestDoctorOutboxModes(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name           string
		dir, file, key fs.FileMode
		want           severity
		says           string
	}{
		{"private", 0o700, 0o600, 0o600, fine, "can be written"},
		{"open directory", 0o755, 0o600, 0o600, unfit, "chmod 700"},
		{"open file", 0o700, 0o640, 0o600, unfit, "(mode 0640)"},
		{"open key", 0o700, 0o600, 0o644, unfit, "chmod 600"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := newTestPatient(t, "OUTBOX_KEY_FILE="+writeFile(t, tc.key, "key"))
			dir := filepath.Dir(p.config.Outbox.Path)
			if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(p.config.Outbox.Path, nil, 0o600),
				os.Chmod(p.config.Outbox.Path, tc.file), os.Chmod(dir, tc.dir)); err != nil {
				t.Fatal(err)
			}
			expect(t, see(t, "file modes", p), tc.want, tc.says)
		})
	}
}

// TestDoctorWithoutAnything: what depends on a missing thing is skipped, and nothing has failed.
func TestDoctorWithoutAnything(t *testing.T) {
	t.Parallel()
	p := newTestPatient(t)
	p.gather(t.Context())
	var out bytes.Buffer
	if err := newApp(nil, &out, nil).examine(t.Context(), p, true); err != nil {
		t.Fatal(err)
	}
	var d diagnosis
	if err := json.Unmarshal(out.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	got := map[string]severity{}
	for _, f := range d.Checks {
		got[f.Check] = f.Verdict
	}
	delete(got, "free disk") // depends on the machine
	want := map[string]severity{
		"config": warned, "token": skipped, "reachability": skipped, "tls": skipped, "clock skew": skipped, "dialect": skipped,
		"file modes": fine, "file system": fine, "journal mode": skipped, "schema version": skipped,
		"integrity": skipped, "erasure": skipped, "freshness": skipped,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if d.Verdict != warned {
		t.Errorf("in all: %q", d.Verdict)
	}
}

func TestDoctorFails(t *testing.T) {
	t.Parallel()
	broken := newTestPatient(t, "PLATFORM_PAGE_LIMIT=x")
	network := newTestPatient(t)
	network.fileSystem = func(string) (fileSystem, error) { return fileSystem{name: "NFS", network: true, checked: true}, nil }
	for _, tc := range []struct {
		name string
		p    *patient
		code int
		says string
	}{
		{"a configuration that does not load", broken, exitUsage, "1 check failed: config;"},
		{"one other check", network, exitFailed, "1 check failed: file system;"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tc.p.gather(t.Context())
			var out bytes.Buffer
			err := newApp(nil, &out, nil).examine(t.Context(), tc.p, false)
			if code := exitCode(t.Context(), err); code != tc.code {
				t.Errorf("exit code %d of %v, want %d", code, err, tc.code)
			}
			if err != nil && !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%q does not say %q", err, tc.says)
			}
			if lines := strings.Count(out.String(), "\n"); lines != len(checks())+2 {
				t.Errorf("%d lines are printed:\n%s", lines, &out)
			}
		})
	}
}

func TestDoctorStopsWhenInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	if err := newApp(nil, &out, nil).examine(ctx, newTestPatient(t), false); !errors.Is(err, context.Canceled) || out.Len() > 0 {
		t.Errorf("%v, and printed %q", err, &out)
	}
}
