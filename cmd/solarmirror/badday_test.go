package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"solarmirror/store/testsize"
	"solarmirror/sync/platform/platformtest"
)

// badDay is something that goes wrong around the program, and what is to come of it.
type badDay struct {
	name    string
	earlier bool                        // a good sync comes before
	begin   func(*testing.T, *sufferer) // brings it about
	under   wrapper                     // makes it last as long as the program
	end     func(*testing.T, *sufferer) // ends it; nil where it ends with the program

	code    int
	late    bool     // a stream may be read whole before: then the outcome is partial
	says    []string // what standard error names: the cause, the thing, the next command
	damaged bool     // the doctor is to find it too
	ledger  string   // the outcome of the latest run, and a word of its error; "" where none could be written
}

// wrapper is the beginning of a command line that runs the program otherwise than by itself.
type wrapper func(*testing.T, *program) []string

// sufferer is the program on a bad day.
type sufferer struct {
	*program
	platform http.Handler
	answer   atomic.Pointer[http.HandlerFunc] // instead of the platform; nil is the platform
}

// badWorld is a platform of a few pages.
func badWorld() platformtest.Options {
	return platformtest.Options{Seed: 4, Requests: testsize.Fewer(120), Token: simulationToken, Equipments: smallCatalogue()}
}

func newSufferer(t *testing.T) *sufferer {
	t.Helper()
	s := &sufferer{platform: platformtest.New(badWorld())}
	s.program = newProgram(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if answer := s.answer.Load(); answer != nil {
			(*answer)(w, r)
			return
		}
		s.platform.ServeHTTP(w, r)
	}))
	return s
}

// runBadDays has each day come over a program of its own. On it the program fails with the right code and words, and leaves a sound file that
// holds whole records of the platform and no watermark of what it has not read; when it is over, the next sync makes the mirror what it would have been.
func runBadDays(t *testing.T, days []badDay) {
	t.Helper()
	undisturbed := newProgram(t, platformtest.New(badWorld()))
	undisturbed.mustExit(t, exitOK, "", "sync", "-q")
	want := undisturbed.content(t)
	for _, day := range testsize.Some(days) {
		t.Run(day.name, func(t *testing.T) {
			t.Parallel()
			s := newSufferer(t)
			if day.earlier {
				s.mustExit(t, exitOK, "", "sync", "-q")
			}
			if day.begin != nil {
				day.begin(t, s)
			}
			var under []string
			if day.under != nil {
				under = day.under(t, s.program)
			}
			code, said := s.underOf(t, under, "", "sync", "-q")
			if code != day.code && !(day.late && code == exitPartial) {
				t.Errorf("exit code %d, want %d; it said:\n%s", code, day.code, said)
			}
			for _, words := range day.says {
				if !strings.Contains(said, words) {
					t.Errorf("it says nothing of %q:\n%s", words, said)
				}
			}
			if day.damaged {
				s.checkDoctor(t)
			}
			if day.end != nil {
				day.end(t, s)
			}
			s.checkWhole(t)
			s.checkKept(t, want)
			if day.ledger != "" {
				ledger := day.ledger
				if code == exitPartial {
					ledger = strings.Replace(ledger, "failed", "partial", 1)
				}
				// Where even that finds no room the run stands there as running, and the next one sees that it is not.
				got := s.strings(t, "SELECT outcome || ': ' || coalesce(error, '') FROM _runs ORDER BY run_id DESC LIMIT 1")[0]
				if got != "running: " && !matches(got, ledger) {
					t.Errorf("the ledger says %q, want %q", got, ledger)
				}
			}
			s.mustExit(t, exitOK, "", "sync", "-q")
			if n := s.strings(t, "SELECT count(*) || '' FROM _runs WHERE outcome = 'running'")[0]; n != "0" {
				t.Errorf("after the next run %s stand in the ledger as running", n)
			}
			s.checkWhole(t)
			if diff := cmp.Diff(want, s.content(t)); diff != "" {
				t.Errorf("when it was over, the mirror differs from an undisturbed one:\n%.2000s", diff)
			}
		})
	}
}

// matches says whether text begins with the first word of want and holds the others.
func matches(text, want string) bool {
	words := strings.Fields(want)
	return strings.HasPrefix(text, words[0]) && !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

// underOf runs the program under a command, which may be none, and returns its exit code and what it said on standard error.
func (p *program) underOf(t *testing.T, under []string, stdin string, args ...string) (code int, said string) {
	t.Helper()
	cmd := p.command(t, args...)
	if len(under) > 0 {
		link := filepath.Join(t.TempDir(), "solarmirror") // by this name TestMain knows that it is to be the program
		if err := os.Symlink(cmd.Path, link); err != nil {
			t.Fatal(err)
		}
		wrapped := exec.CommandContext(t.Context(), under[0], append(append(slices.Clone(under[1:]), link), args...)...)
		wrapped.Dir, wrapped.Env = cmd.Dir, cmd.Env
		cmd = wrapped
	}
	var errs strings.Builder
	cmd.Stdin, cmd.Stderr = strings.NewReader(stdin), &errs
	code = exitCodeOf(t, cmd, cmd.Run())
	return code, errs.String()
}

func (p *program) file(suffix string) string { return filepath.Join(p.dir, p.mirror) + suffix }

// checkKept checks that the mirror, where there is one, holds nothing but whole records, and all of every stream that has its watermarks.
func (p *program) checkKept(t *testing.T, want []string) {
	t.Helper()
	if _, err := os.Stat(p.file("")); errors.Is(err, os.ErrNotExist) || len(p.strings(t, "SELECT name FROM sqlite_schema WHERE name = '_runs'")) == 0 {
		return
	}
	whole := map[string]bool{}
	for _, line := range want {
		whole[line] = true
	}
	got := p.content(t)
	for _, line := range got {
		if !whole[line] {
			t.Errorf("half a record: %.300s", line)
		}
	}
	lines := map[string]string{"orders": "requests order/", "budgets": "requests budget/", "equipments": "equipments "}
	of := func(list []string, start string) (n int) {
		for _, line := range list {
			if strings.HasPrefix(line, start) {
				n++
			}
		}
		return n
	}
	for _, stream := range p.strings(t, "SELECT stream FROM _watermarks GROUP BY stream HAVING count(*) = CASE stream WHEN 'equipments' THEN 1 ELSE 2 END") {
		if have, all := of(got, lines[stream]), of(want, lines[stream]); have != all {
			t.Errorf("%s has its watermarks, and %d of %d records", stream, have, all)
		}
	}
}

// checkDoctor checks that the doctor finds the damage too, and how to mend it.
func (s *sufferer) checkDoctor(t *testing.T) {
	t.Helper()
	if out := s.mustExit(t, exitFailed, "", "doctor"); !strings.Contains(out, "solarmirror restore --from DIR") {
		t.Errorf("the doctor says:\n%s", out)
	}
}

// A file that is damaged is found out and named together with the way back, which leads back.
func TestBadDaysOfTheFile(t *testing.T) {
	t.Parallel()
	// overwrite backs the mirror up and writes rubbish into the file, from one share of it to another.
	overwrite := func(from, to float64) func(*testing.T, *sufferer) {
		return func(t *testing.T, s *sufferer) {
			s.mustExit(t, exitOK, "", "backup", "--to", "copies")
			text, err := os.ReadFile(s.file(""))
			if err != nil {
				t.Fatal(err)
			}
			for at := int(from * float64(len(text))); at < int(to*float64(len(text))); at++ {
				text[at] = 0xA5
			}
			if err := os.WriteFile(s.file(""), text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	// restore is the command that the error points to.
	restore := func(t *testing.T, s *sufferer) { s.mustExit(t, exitOK, "", "restore", "--from", "copies", "--yes") }
	damaged := []string{"database is damaged: m.db: stop everything that writes to it", "`dmesg`", "`solarmirror restore --from DIR`"}
	runBadDays(t, []badDay{
		{name: "the header is damaged", earlier: true, begin: overwrite(0, 0.0001), end: restore, code: exitFailed, damaged: true,
			says: []string{"not a solarmirror database: m.db", "`solarmirror restore --from DIR`"}},
		{name: "the middle is damaged", earlier: true, begin: overwrite(0.2, 0.9), end: restore, code: exitFailed, damaged: true, says: damaged},
		{name: "the file is cut off", earlier: true, code: exitFailed, damaged: true, says: damaged, begin: func(t *testing.T, s *sufferer) {
			overwrite(0, 0)(t, s)
			info, err := os.Stat(s.file(""))
			if err := errors.Join(err, os.Truncate(s.file(""), info.Size()/2)); err != nil {
				t.Fatal(err)
			}
		}, end: restore},
		{name: "the file is moved away instead", earlier: true, code: exitFailed, damaged: true, says: damaged, begin: overwrite(0.2, 0.9),
			end: func(t *testing.T, s *sufferer) {
				for _, suffix := range []string{"", "-wal", "-shm"} {
					if err := os.Rename(s.file(suffix), s.file(suffix+".old")); err != nil && !errors.Is(err, os.ErrNotExist) {
						t.Fatal(err)
					}
				}
			}},
	})
}

// What a damaged WAL still holds is a state that the mirror was in, from which the next sync goes on.
func TestBadDayOfTheWAL(t *testing.T) {
	t.Parallel()
	world := badWorld()
	undisturbed := newProgram(t, platformtest.New(world))
	undisturbed.mustExit(t, exitOK, "", "sync", "-q")
	want := undisturbed.content(t)
	p := newProgram(t, &signalling{next: platformtest.New(world), at: 9, signal: syscall.SIGKILL})
	if code := p.sync(t); code != -1 {
		t.Fatalf("exit code %d", code)
	}
	text, err := os.ReadFile(p.file("-wal"))
	if err != nil || len(text) < 1<<16 {
		t.Fatalf("a WAL of %d bytes, %v: nothing is proved", len(text), err)
	}
	for i := range 1 << 12 {
		text[len(text)*3/4+i] ^= 0xFF
	}
	if err := os.WriteFile(p.file("-wal"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	p.checkWhole(t)
	p.checkKept(t, want)
	p.mustExit(t, exitOK, "", "sync", "-q")
	if diff := cmp.Diff(want, p.content(t)); diff != "" {
		t.Errorf("the mirror differs from an undisturbed one:\n%.2000s", diff)
	}
}

// A platform out of reach, or one that turns us away, fails the run, and leaves the mirror as it was.
func TestBadDaysOfTheNetwork(t *testing.T) {
	t.Parallel()
	untrusted := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(untrusted.Close)
	address := func(url string) func(*testing.T, *sufferer) {
		return func(_ *testing.T, s *sufferer) { s.env = append(s.env, "SOLARMIRROR_PLATFORM_BASE_URL="+url) }
	}
	addressed := func(_ *testing.T, s *sufferer) { s.env = nil }
	revoked := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "revoked", http.StatusUnauthorized) })
	valid := func(_ *testing.T, s *sufferer) { s.answer.Store(nil) }
	refused := []string{"refused the token with 401", "SOLARMIRROR_PLATFORM_TOKEN"}
	runBadDays(t, []badDay{
		// No name server is asked for a name that cannot be one, so the test needs none.
		{name: "the name is not found", begin: address("https://no..host"), end: addressed, code: exitFailed, ledger: "failed host",
			says: []string{"no such host", "check the network and platform.base_url"}},
		{name: "the certificate is not trusted", begin: address(untrusted.URL), end: addressed, code: exitFailed, ledger: "failed certificate",
			says: []string{"failed to verify certificate", "check platform.base_url, and that the system trusts"}},
		{name: "the token is revoked", begin: func(_ *testing.T, s *sufferer) { s.answer.Store(&revoked) }, end: valid, code: exitAuth, ledger: "failed token", says: refused},
		{name: "the token is revoked for a mirror", earlier: true, begin: func(_ *testing.T, s *sufferer) { s.answer.Store(&revoked) }, end: valid,
			code: exitAuth, ledger: "failed token", says: refused},
		{name: "the token is revoked meanwhile", end: valid, code: exitAuth, ledger: "failed token", says: refused, begin: func(_ *testing.T, s *sufferer) {
			var served atomic.Int64
			forAWhile := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if served.Add(1) > 7 {
					revoked(w, r)
					return
				}
				s.platform.ServeHTTP(w, r)
			})
			s.answer.Store(&forAWhile)
		}},
	})
}

// A damaged outbox sends nothing and says what to do; put back, it sends.
func TestBadDayOfTheOutbox(t *testing.T) {
	t.Parallel()
	platform := platformtest.New(badWorld())
	p := newProgram(t, platform)
	p.env = []string{"SOLARMIRROR_OUTBOX_PATH=private/outbox.db"}
	p.mustExit(t, exitOK, queuedCompanies(t, 2), "outbox", "add")
	path := filepath.Join(p.dir, "private", "outbox.db")
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const putBack = "put the last backup back: `solarmirror restore --from DIR`"
	for _, damage := range []struct {
		name   string
		do     func([]byte) []byte
		remedy string
	}{
		{"header", func(text []byte) []byte { return append([]byte("rubbish, rubbish"), text[16:]...) }, "move it away"},
		{"middle", func(text []byte) []byte { copy(text[4096:], strings.Repeat("rubbish ", len(text)/16)); return text }, putBack},
		{"cut off", func(text []byte) []byte { return text[:len(text)/2] }, putBack},
	} {
		if err := os.WriteFile(path, damage.do(slices.Clone(sound)), 0o600); err != nil {
			t.Fatal(err)
		}
		code, said := p.underOf(t, nil, "", "push", "-q")
		if code != exitFailed || !strings.Contains(said, "private/outbox.db: ") || !strings.Contains(said, damage.remedy) {
			t.Errorf("%s: exit code %d; it said:\n%s", damage.name, code, said)
		}
	}
	if sent := platform.CompanyCounts(); len(sent) > 0 {
		t.Errorf("sent were %v", sent)
	}
	if err := os.WriteFile(path, sound, 0o600); err != nil {
		t.Fatal(err)
	}
	p.mustExit(t, exitOK, "", "push", "-q")
	if got := fmt.Sprint(platform.CompanyCounts()); len(platform.CompanyCounts()) != 2 {
		t.Errorf("sent were %s", got)
	}
}
