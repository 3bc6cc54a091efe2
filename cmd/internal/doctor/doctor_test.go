package doctor

import (
	"context"
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
)

var doctorTime = time.Date(2026, 5, 6, 12, 0, 0, 0, time.UTC)

// newFacts returns facts with a mirror path of their own. The settings are environment variables
// without their prefix SOLARMIRROR_.
func newFacts(t *testing.T, settings ...string) *facts {
	t.Helper()
	dir := t.TempDir()
	environ := []string{
		"SOLARMIRROR_MIRROR_PATH=" + filepath.Join(dir, "mirror.db"),
		"SOLARMIRROR_OUTBOX_PATH=" + filepath.Join(dir, "private", "outbox.db"),
	}
	for _, s := range settings {
		environ = append(environ, "SOLARMIRROR_"+s)
	}
	f := &facts{
		Options: Options{Log: zerolog.Nop()}, now: func() time.Time { return doctorTime },
		fileSystem: func(string) (fileSystem, error) { return fileSystem{checked: true}, nil },
		access:     func(string, bool) error { return nil },
	}
	f.Config, f.ConfigErr = config.Load(config.Source{Environ: environ})
	t.Cleanup(f.close)
	return f
}

func runCheck(t *testing.T, name string, f *facts) Finding {
	t.Helper()
	for _, c := range checks() {
		if c.name == name {
			return c.run(t.Context(), f)
		}
	}
	t.Fatalf("there is no check %q", name)
	return Finding{}
}

// expect checks the verdict of a finding and parts of its text. A finding has a remedy when it is a
// warning or failed, and only then.
func expect(t *testing.T, got Finding, want Verdict, parts ...string) {
	t.Helper()
	if got.Verdict != want {
		t.Errorf("verdict is %q, want %q: %+v", got.Verdict, want, got)
	}
	for _, part := range parts {
		if !strings.Contains(got.What+"\n"+got.Remedy, part) {
			t.Errorf("%+v does not say %q", got, part)
		}
	}
	if bad := got.Verdict == Warning || got.Verdict == Failed; bad != (got.Remedy != "") {
		t.Errorf("remedy of %q is %q", got.Verdict, got.Remedy)
	}
}

func writeFile(t *testing.T, mode fs.FileMode, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil { // independent of the umask
		t.Fatal(err)
	}
	return path
}

// TestWithoutAnything: without a platform and a mirror, checks are skipped and none fails.
func TestWithoutAnything(t *testing.T) {
	t.Parallel()
	d, err := newFacts(t).diagnose(t.Context())
	if err != nil || d.Err() != nil {
		t.Fatal(err, d.Err())
	}
	got := map[string]Verdict{}
	for _, f := range d.Checks {
		got[f.Check] = f.Verdict
	}
	delete(got, "free disk") // depends on the machine
	want := map[string]Verdict{
		"config": Warning, "token": Skipped, "alerts": Skipped, "reachability": Skipped, "tls": Skipped, "clock skew": Skipped, "dialect": Skipped,
		"file modes": OK, "file system": OK, "journal mode": Skipped, "schema version": Skipped,
		"integrity": Skipped, "erasure": Skipped, "freshness": Skipped, "marts": Skipped, "power unit": Skipped, "deal statuses": Skipped,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if d.Verdict != Warning {
		t.Errorf("in all: %q", d.Verdict)
	}
}

func TestFails(t *testing.T) {
	t.Parallel()
	broken := newFacts(t, "PLATFORM_PAGE_LIMIT=x")
	network := newFacts(t)
	network.fileSystem = func(string) (fileSystem, error) { return fileSystem{name: "NFS", network: true, checked: true}, nil }
	for _, tc := range []struct {
		name          string
		facts         *facts
		configuration bool // is at fault
		says          string
	}{
		{"a configuration that does not load", broken, true, "1 check failed: config;"},
		{"one other check", network, false, "1 check failed: file system;"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			d, err := tc.facts.diagnose(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var failed *failedError
			if err := d.Err(); !errors.As(err, &failed) || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%v does not say %q", err, tc.says)
			}
			var fault *config.Error
			if errors.As(d.Err(), &fault) != tc.configuration {
				t.Errorf("%v: fault of the configuration: %v", d.Err(), fault)
			}
			if len(d.Checks) != len(checks()) {
				t.Errorf("%d findings: %+v", len(d.Checks), d.Checks)
			}
		})
	}
}

func TestStopsWhenInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if d, err := newFacts(t).diagnose(ctx); !errors.Is(err, context.Canceled) || d != nil {
		t.Errorf("%v, and %+v", err, d)
	}
}
