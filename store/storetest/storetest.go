// Package storetest holds the helpers that the tests of store and the packages below it share: a
// fixed clock, temporary paths, child processes and generated rows. It imports none of those
// packages, so that the tests of all of them can import it.
package storetest

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"solarmirror/schema"
)

// Start is the time that [Clock] returns.
var Start = time.Date(2026, 3, 4, 5, 6, 7, 89_000_000, time.UTC)

// Clock is a clock that always returns [Start].
func Clock() time.Time { return Start }

// Must ends the test when err is not nil.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Opened returns what was opened, and closes it when the test ends.
func Opened[T io.Closer](t testing.TB, opened T, err error) T {
	t.Helper()
	Must(t, err)
	t.Cleanup(func() { Must(t, opened.Close()) })
	return opened
}

// MirrorPath returns a path in a temporary directory where no mirror exists yet.
func MirrorPath(t testing.TB) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "data", "mirror.db")
}

// Number returns the result of a query for one integer.
func Number(t testing.TB, db *sqlx.DB, query string) (n int64) {
	t.Helper()
	Must(t, db.GetContext(context.Background(), &n, query))
	return n
}

// Sound ends the test when SQLite finds the database damaged.
func Sound(t testing.TB, db *sqlx.DB) {
	t.Helper()
	var report string
	Must(t, db.GetContext(context.Background(), &report, "PRAGMA integrity_check"))
	if report != "ok" {
		t.Fatalf("integrity_check: %s", report)
	}
}

// childEnv is the environment variable that makes the test binary a child process: "ROLE PATH".
const childEnv = "STORE_TEST_CHILD"

// PlayChild runs the role of a child process and exits. It returns only in a process that [Child]
// did not start. TestMain calls it first.
func PlayChild(roles map[string]func(path string) error) {
	task := os.Getenv(childEnv)
	if task == "" {
		return
	}
	role, path, _ := strings.Cut(task, " ")
	if err := roles[role](path); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Child starts the test binary in a role and waits until it prints "ready". The process is killed
// at the end of the test.
func Child(t *testing.T, role, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+role+" "+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	Must(t, err)
	Must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line := make([]byte, 6)
	if _, err := out.Read(line); err != nil || string(line) != "ready\n" {
		t.Fatalf("the child said %q, %v", line, err)
	}
	return cmd
}

// Traces counts the occurrences of text, ignoring case, in all files of path's directory. This
// process must have no transaction and no WAL database open there: closing a file drops SQLite's
// locks on it.
func Traces(t *testing.T, path, text string) (n int) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	Must(t, err)
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(filepath.Dir(path), entry.Name()))
		Must(t, err)
		n += strings.Count(strings.ToLower(string(content)), strings.ToLower(text))
	}
	return n
}

// Canary is part of every personal value of [FillRow].
const Canary = "canário"

// firstWord matches the first value that a CHECK allows.
var firstWord = regexp.MustCompile(`IN \('([^']*)'`)

// FillRow returns generated row n of a table. Personal values contain [Canary]; a Counted column
// has one of three identities, in several spellings, one of them empty.
func FillRow(t *schema.Table, n int) []any {
	values := make([]any, len(t.Columns))
	for i, c := range t.Columns {
		word := firstWord.FindStringSubmatch(c.Clause)
		switch {
		case word != nil && c.Type == schema.Text:
			values[i] = word[1]
		case c.Privacy == schema.Counted && !t.IsKey(c.Name):
			values[i] = []string{"Ana." + Canary + "@Example.com", "ana." + Canary + "@example.com ", "11.222.333/0001-81", "11222333000181", ""}[n%5]
		case c.Name == "extra":
			values[i] = fmt.Sprintf(`{"/margin":0.%d,"/person":{"name":"%s","age":%d},"/products/0/sku":"s<%d>","/products/1/note":"%s"}`, n, Canary, n, n, Canary)
		case c.Privacy != schema.Public && c.Type == schema.Blob:
			values[i] = []byte(fmt.Sprint(Canary, " ", t.Name, ".", c.Name, n))
		case c.Privacy != schema.Public:
			values[i] = fmt.Sprint(Canary, " ", t.Name, ".", c.Name, n)
		case c.Type == schema.Text:
			values[i] = fmt.Sprint("público ", c.Name, n)
		case c.Type == schema.Timestamp:
			values[i] = fmt.Sprintf("2026-01-%02d 03:04:05.678", n+1)
		case c.Type == schema.Date:
			values[i] = fmt.Sprintf("2026-01-%02d", n+1)
		case c.Type == schema.Boolean:
			values[i] = int64(n % 2)
		case c.Type == schema.Real:
			values[i] = float64(n) + 0.25
		case c.Type == schema.Blob:
			values[i] = []byte{1, 2, byte(n)}
		default:
			values[i] = int64(n + 1)
		}
	}
	return values
}
