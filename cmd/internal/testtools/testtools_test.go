package testtools_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"solarmirror/cmd/internal/testtools"
)

// verdict runs f as a test of its own and says how it ended.
type verdict struct {
	testing.TB
	skipped, failed string
}

func (v *verdict) Helper()                   {}
func (v *verdict) Fatal(args ...any)         { panic(args) }
func (v *verdict) Skipf(f string, a ...any)  { v.skipped = f; panic(v) }
func (v *verdict) Fatalf(f string, a ...any) { v.failed = f; panic(v) }

func judge(f func(testing.TB)) (v *verdict) {
	v = &verdict{}
	defer func() {
		if r := recover(); r != nil && r != any(v) {
			panic(r)
		}
	}()
	f(v)
	return v
}

func TestMissingProgram(t *testing.T) {
	absent := func(t testing.TB) { testtools.Program(t, "no-such-program", "sqlite3") }
	t.Setenv("TEST_TOOLS", "")
	if v := judge(absent); !strings.Contains(v.skipped, "install") || v.failed != "" {
		t.Errorf("skipped %q, failed %q; want it skipped with what to install", v.skipped, v.failed)
	}
	t.Setenv("TEST_TOOLS", "all")
	if v := judge(absent); !strings.Contains(v.failed, "install") {
		t.Errorf("skipped %q, failed %q; want it failed with what to install", v.skipped, v.failed)
	}
	t.Setenv("TEST_TOOLS", "none")
	if v := judge(absent); v.skipped == "" || v.failed != "" {
		t.Errorf("skipped %q, failed %q; want it skipped", v.skipped, v.failed)
	}
}

// TestMissingOptionalPackage: an npm package that could be neither fetched nor compiled fails nothing, any other does.
func TestMissingOptionalPackage(t *testing.T) {
	testtools.Program(t, "node", "nodejs")
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module none\n", ".ci/tools/debian.txt": "nodejs\n",
		".ci/tools/package.json": `{"dependencies": {"left-pad": "1.3.0"}, "optionalDependencies": {"right-pad": "1.0.1"}}`,
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	t.Setenv("TEST_TOOLS", "all")
	if v := judge(func(t testing.TB) { testtools.Node(t, "left-pad", "") }); v.failed == "" {
		t.Errorf("a dependency: skipped %q, want it failed", v.skipped)
	}
	if v := judge(func(t testing.TB) { testtools.Node(t, "right-pad", "") }); v.skipped == "" {
		t.Errorf("an optional one: failed %q, want it skipped", v.failed)
	}
}

func TestUnlistedPackage(t *testing.T) {
	t.Setenv("TEST_TOOLS", "")
	for name, f := range map[string]func(testing.TB){
		"debian": func(t testing.TB) { testtools.Program(t, "go", "golang-that-is-not-listed") },
		"go":     func(t testing.TB) { testtools.GoProgram(t, "gofumpt") },
		"npm":    func(t testing.TB) { testtools.Node(t, "left-pad", "") },
	} {
		if v := judge(f); !strings.Contains(v.failed, "add it there") {
			t.Errorf("%s: skipped %q, failed %q; want it failed", name, v.skipped, v.failed)
		}
	}
}

func TestProgramIsFound(t *testing.T) {
	t.Parallel()
	out, err := exec.Command(testtools.Program(t, "sqlite3", "sqlite3"), ":memory:", "SELECT 6 * 7").Output()
	if got := strings.TrimSpace(string(out)); err != nil || got != "42" {
		t.Errorf("%q, %v; want 42", got, err)
	}
	out, err = testtools.Node(t, "@duckdb/node-api", `console.log(process.argv[1])`, "42").Output()
	if got := strings.TrimSpace(string(out)); err != nil || got != "42" {
		t.Errorf("%q, %v; want 42", got, err)
	}
}
