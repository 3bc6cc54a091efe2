package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"solarmirror/schema"
	"solarmirror/store/testsize"
	"solarmirror/sync/platform/platformtest"
)

// signalling serves a platform and, while it answers a numbered request, sends the program a signal.
type signalling struct {
	next    http.Handler
	at      int64
	signal  os.Signal
	served  atomic.Int64
	program atomic.Pointer[os.Process]
}

func (s *signalling) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p := s.program.Load(); s.served.Add(1) == s.at && p != nil {
		_ = p.Signal(s.signal) // a program that is gone already shows in its exit code
	}
	s.next.ServeHTTP(w, r)
}

// A sync that is interrupted or killed at any request leaves whole pages and its watermark where it was; the next one ends with
// what an undisturbed sync has.
func TestSyncStoppedAtAnyMoment(t *testing.T) {
	t.Parallel()
	world := platformtest.Options{Seed: 4, Requests: testsize.Fewer(300), Equipments: smallCatalogue(), Token: simulationToken}
	undisturbed := newProgram(t, platformtest.New(world))
	if code := undisturbed.sync(t); code != exitOK {
		t.Fatalf("undisturbed sync: exit code %d", code)
	}
	want := undisturbed.content(t)

	for name, stop := range map[string]struct {
		signal os.Signal
		code   int
	}{
		"SIGINT":  {os.Interrupt, exitInterrupted},
		"SIGTERM": {syscall.SIGTERM, exitInterrupted},
		"SIGKILL": {os.Kill, -1},
	} {
		for _, at := range testsize.Some([]int64{1, 2, 5, 9, 14}) {
			t.Run(fmt.Sprintf("%s at request %d", name, at), func(t *testing.T) {
				t.Parallel()
				platform := &signalling{next: platformtest.New(world), at: at, signal: stop.signal}
				p := newProgram(t, platform)
				cmd, said := p.command(t, "sync"), &bytes.Buffer{}
				cmd.Stdout, cmd.Stderr = said, said
				if code := p.runSignalled(t, cmd); code != stop.code {
					t.Fatalf("exit code %d, want %d", code, stop.code)
				}
				if stop.code == exitInterrupted {
					mustSayInterrupted(t, said.String(), "solarmirror sync")
				}
				p.checkWhole(t)
				if code := p.sync(t); code != exitOK {
					t.Fatalf("the sync after it: exit code %d", code)
				}
				if diff := cmp.Diff(want, p.content(t)); diff != "" {
					t.Errorf("the mirror differs from an undisturbed one:\n%.2000s", diff)
				}
				if got := p.strings(t, "SELECT outcome FROM _runs ORDER BY run_id"); !cmp.Equal(got, []string{"interrupted", "ok"}) {
					t.Errorf("runs ended %v", got)
				}
			})
		}
	}
}

// A verification and a publication that are interrupted name the command that does them again.
func TestInterruptedReaders(t *testing.T) {
	t.Parallel()
	world := platformtest.Options{Seed: 4, Requests: 60, Equipments: smallCatalogue(), Token: simulationToken}
	platform := &signalling{next: platformtest.New(world), at: 1_000_000, signal: os.Interrupt}
	p := newProgram(t, platform)
	if code := p.sync(t); code != exitOK {
		t.Fatalf("exit code %d", code)
	}
	platform.served.Store(platform.at - 3)
	cmd, said := p.command(t, "verify", "--json"), &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = said, said
	if code := p.runSignalled(t, cmd); code != exitInterrupted {
		t.Errorf("exit code %d", code)
	}
	mustSayInterrupted(t, said.String(), "solarmirror verify --json")

	config := filepath.Join(p.dir, "config.toml")
	if err := os.WriteFile(config, fmt.Appendf(nil, "[mirror]\npath = %q\n[outbox]\npath = %q\n", filepath.Join(p.dir, p.mirror), filepath.Join(p.dir, "private", "outbox.db")), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errInterrupted)
	said.Reset()
	args := []string{"publish", "--config", config, "--to", filepath.Join(p.dir, "copy.db")}
	if code := run(ctx, args, nil, said, said); code != exitInterrupted {
		t.Errorf("exit code %d", code)
	}
	if want := "solarmirror: interrupted; to go on: " + commandLine(args) + "\n"; !strings.HasSuffix(said.String(), want) {
		t.Errorf("it says %s, want %s", said, want)
	}
}

// mustSayInterrupted: the last line names the command that goes on, and nothing is called a failure.
func mustSayInterrupted(t *testing.T, said, command string) {
	t.Helper()
	if !strings.HasSuffix(said, "solarmirror: interrupted; to go on: "+command+"\n") || strings.Contains(said, "failed") {
		t.Errorf("it says\n%s", said)
	}
}

// program is this program as a process of its own, with a mirror of its own.
type program struct {
	dir      string
	url      string
	token    string
	env      []string    // beside what every program needs
	mirror   string      // the file's path below dir
	platform *signalling // nil when nothing signals
}

func newProgram(t *testing.T, h http.Handler) *program {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	s, _ := h.(*signalling)
	return &program{dir: t.TempDir(), url: server.URL, token: simulationToken, mirror: "m.db", platform: s}
}

// command is one command line of the program, not yet started.
func (p *program) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Args = append([]string{"solarmirror"}, args...) // by this name TestMain knows that it is to be the program
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "SOLARMIRROR_PLATFORM_BASE_URL="+p.url,
		"SOLARMIRROR_PLATFORM_TOKEN="+p.token, "SOLARMIRROR_PLATFORM_REQUESTS_PER_SECOND=1000", "SOLARMIRROR_MIRROR_PATH="+p.mirror,
		"SOLARMIRROR_HTTP_LISTEN=off") // of which a machine has one
	cmd.Env = append(cmd.Env, p.env...)
	return cmd
}

// sync runs "solarmirror sync" and returns its exit code, -1 when a signal killed it.
func (p *program) sync(t *testing.T) int {
	t.Helper()
	return p.runSignalled(t, p.command(t, "sync"))
}

// runSignalled runs a command that the platform may send its signal to, and returns its exit code, -1 when a signal killed it.
func (p *program) runSignalled(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if p.platform != nil {
		p.platform.program.Store(cmd.Process)
	}
	return exitCodeOf(t, cmd, cmd.Wait())
}

// exitCodeOf is the exit code of a program that has ended so, -1 when a signal killed it.
func exitCodeOf(t *testing.T, cmd *exec.Cmd, err error) int {
	t.Helper()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode()
}

func (p *program) open(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(p.dir, p.mirror)+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func (p *program) strings(t *testing.T, query string) []string {
	t.Helper()
	rows, err := p.open(t).QueryContext(context.WithoutCancel(t.Context()), query)
	if err != nil {
		t.Fatalf("%v in %s", err, query)
	}
	defer rows.Close()
	var list []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// checkWhole checks that the file is sound, and that no child stands without its record.
func (p *program) checkWhole(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(p.dir, p.mirror)); errors.Is(err, os.ErrNotExist) {
		return // stopped before the file was made
	}
	if got := p.strings(t, "PRAGMA integrity_check"); !cmp.Equal(got, []string{"ok"}) {
		t.Errorf("integrity_check: %v", got)
	}
	if got := p.strings(t, `SELECT "table" FROM pragma_foreign_key_check`); len(got) > 0 {
		t.Errorf("rows without their record in %v", got)
	}
}

// content is every record of the mirror that is not gone, by natural key, without what depends on when it was read.
func (p *program) content(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, root := range schema.Roots() {
		natural := fmt.Sprintf("r.%s || '/' || r.%s", root.Unique[0], root.Unique[1])
		for _, table := range root.Tables() {
			columns := ""
			for _, c := range table.Columns[1:] {
				if c.Name != "_first_seen_at" && c.Name != "_changed_at" {
					columns += " || '|' || quote(t." + c.Name + ")"
				}
			}
			all = append(all, p.strings(t, fmt.Sprintf("SELECT '%s ' || %s%s FROM %[4]s t JOIN %[6]s r ON r.%[5]s = t.%[5]s WHERE r._deleted_at IS NULL ORDER BY 1",
				table.Name, natural, columns, table.Name, root.Key[0], root.Name))...)
		}
	}
	return all
}
