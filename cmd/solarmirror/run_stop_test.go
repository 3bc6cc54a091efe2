package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"solarmirror/store/testsize"
	"solarmirror/sync/platform/platformtest"
)

var stops = flag.Int("stops", testsize.Fewer(6), "how often TestRunStoppedAtRandomMoments stops a run")

// stopLimit is how long "solarmirror run" may take to end after it was told to.
const stopLimit = 10 * time.Second

// slowly serves after a little while, so that a moment in the middle of things is likely.
func slowly(d time.Duration, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(d)
		next.ServeHTTP(w, r)
	})
}

// queuedCompanies is what the outbox is given to send.
func queuedCompanies(t *testing.T, n int) string {
	t.Helper()
	taxIDs := []string{"11.222.333/0001-81", "11.444.777/0001-61", "529.982.247-25", "111.444.777-35"}
	list := make([]map[string]string, n)
	for i := range list {
		kind := "CNPJ"
		if len(taxIDs[i]) == len("529.982.247-25") {
			kind = "CPF"
		}
		list[i] = map[string]string{"name": "Ana", "email": fmt.Sprintf("ana%d@example.com", i), "password": "secret", kind: taxIDs[i]}
	}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A run is told to stop at any moment of its first sync and push, again and again until both are done: each time it ends in time and with exit
// code 0, with whole pages; at the end the mirror is what an undisturbed sync makes, and every company was created once. At full size:
//
//	go test ./cmd/solarmirror -run TestRunStoppedAtRandomMoments -stops 200 -v -timeout 1h
func TestRunStoppedAtRandomMoments(t *testing.T) {
	t.Parallel()
	world := platformtest.Options{Seed: 4, Requests: testsize.Fewer(300), Equipments: smallCatalogue(), Token: simulationToken}
	undisturbed := newProgram(t, platformtest.New(world))
	undisturbed.mustExit(t, exitOK, "", "sync")
	want := undisturbed.content(t)

	dice := rand.New(rand.NewPCG(7, 0))
	var worst time.Duration
	trials, early := 0, 0
	for stopped := 0; stopped < *stops; trials++ {
		platform := platformtest.New(world)
		p := newProgram(t, slowly(25*time.Millisecond, platform))
		p.mustExit(t, exitOK, queuedCompanies(t, 4), "outbox", "add")
		for done := false; !done && stopped < *stops; stopped++ {
			took := p.stopAfter(t, time.Duration(dice.IntN(900))*time.Millisecond)
			worst = max(worst, took)
			p.checkWhole(t)
			if done = p.outcomeOf(t, jobSync) == "ok"; !done {
				early++
			}
		}
		p.mustExit(t, exitOK, "", "sync")
		p.mustExit(t, exitOK, "", "push")
		if got := p.content(t); !cmp.Equal(want, got) {
			t.Errorf("trial %d: the mirror differs from an undisturbed one:\n%.2000s", trials, cmp.Diff(want, got))
		}
		// What was stopped between its claim and the dialling waits a minute before the next attempt.
		states := p.strings(t, "SELECT state FROM company_creations WHERE state <> 'pending'")
		sent := slices.Collect(maps.Values(platform.CompanyCounts()))
		if want := slices.Repeat([]platformtest.CompanyCount{{Received: 1, Processed: 1}}, len(states)); !cmp.Equal(want, sent) ||
			!cmp.Equal(states, slices.Repeat([]string{"done"}, len(states))) || len(p.strings(t, "SELECT state FROM company_creations")) != 4 {
			t.Errorf("trial %d: companies are %v; sent were %v", trials, states, sent)
		}
	}
	if worst > stopLimit {
		t.Errorf("a run took %v to stop", worst)
	}
	t.Logf("%d stops in %d mirrors, %d of them before the first sync was done; the slowest took %v; nothing lost", *stops, trials, early, worst.Round(time.Millisecond))
}

// stopAfter starts a run, tells it to stop after a while, and returns how long that took.
func (p *program) stopAfter(t *testing.T, d time.Duration) time.Duration {
	t.Helper()
	var errs strings.Builder
	cmd := p.command(t, "run")
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(d)
	began := time.Now()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	code := exitCodeOf(t, cmd, cmd.Wait())
	// A program that has not yet come to catching signals is killed by one, as any is.
	if code != exitOK && code != -1 || code == -1 && errs.Len() > 0 {
		t.Fatalf("a run stopped after %v ended with %d:\n%s", d, code, errs.String())
	}
	return time.Since(began)
}

// outcomeOf is how the last run of a job ended, "" when there was none.
func (p *program) outcomeOf(t *testing.T, job string) string {
	t.Helper()
	if _, err := os.Stat(p.dir + "/" + p.mirror); err != nil || len(p.strings(t, "SELECT name FROM sqlite_schema WHERE name = '_runs'")) == 0 {
		return ""
	}
	return strings.Join(p.strings(t, fmt.Sprintf("SELECT outcome FROM _runs WHERE command = '%s' ORDER BY run_id DESC LIMIT 1", job)), "")
}

// hanging is a platform that begins to answer when it is told to.
type hanging struct {
	next    http.Handler
	asked   chan struct{} // closed when the first request has come
	release chan struct{}
	once    sync.Once
}

func newHanging(next http.Handler) *hanging {
	return &hanging{next: next, asked: make(chan struct{}), release: make(chan struct{})}
}

func (h *hanging) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.once.Do(func() { close(h.asked) })
	select {
	case <-h.release:
		h.next.ServeHTTP(w, r)
	case <-r.Context().Done():
	}
}

// While a company's creation is not answered, a run waits with its end; a second signal ends it at once, and the company is in doubt.
func TestSecondSignalEndsARun(t *testing.T) {
	t.Parallel()
	platform := newHanging(platformtest.New(platformtest.Options{Seed: 4, Requests: 10, Token: simulationToken}))
	defer close(platform.release)
	p := newProgram(t, platform)
	p.env = []string{"SOLARMIRROR_SCHEDULE_SYNC=off"}
	p.mustExit(t, exitOK, queuedCompanies(t, 1), "outbox", "add")
	cmd := p.command(t, "run")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-platform.asked
	for range 2 {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		time.Sleep(sameSignal + 100*time.Millisecond)
	}
	if code := exitCodeOf(t, cmd, cmd.Wait()); code != exitInterrupted {
		t.Errorf("exit code %d", code)
	}
	p.env = nil
	p.mustExit(t, exitFailed, "", "push", "-q")
	if out := p.mustExit(t, exitOK, "", "outbox", "list"); !strings.Contains(out, "ambiguous") {
		t.Errorf("the outbox says:\n%s", out)
	}
}

// Of twenty that start at the same time one runs, and nineteen exit with 11 and say which.
func TestTwentyStarts(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"sync", "push", "run"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			platform := newHanging(platformtest.New(platformtest.Options{Seed: 4, Requests: 10, Token: simulationToken}))
			p := newProgram(t, platform)
			p.mustExit(t, exitOK, queuedCompanies(t, 1), "outbox", "add")
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			var refused, ran atomic.Int64
			var running sync.WaitGroup
			for range 20 {
				running.Go(func() { p.startOne(ctx, t, command, &refused, &ran) })
			}
			for refused.Load() < 19 && ctx.Err() == nil {
				time.Sleep(5 * time.Millisecond)
			}
			close(platform.release)
			if command == "run" {
				<-platform.asked
				cancel() // which sends SIGTERM
			}
			running.Wait()
			if refused.Load() != 19 || ran.Load() != 1 {
				t.Errorf("%d were refused and %d ran", refused.Load(), ran.Load())
			}
		})
	}
}

func (p *program) startOne(ctx context.Context, t *testing.T, command string, refused, ran *atomic.Int64) {
	var errs strings.Builder
	of := p.command(t, command)
	cmd := exec.CommandContext(ctx, of.Path)
	cmd.Args, cmd.Dir, cmd.Env, cmd.Stderr = of.Args, of.Dir, of.Env, &errs
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	_ = cmd.Run() // the exit code says how it went
	switch code := cmd.ProcessState.ExitCode(); {
	case code == exitLocked && strings.Contains(errs.String(), " is held by "):
		refused.Add(1)
	case code == exitOK:
		ran.Add(1)
	default:
		t.Errorf("exit code %d: %s", code, errs.String())
	}
}
