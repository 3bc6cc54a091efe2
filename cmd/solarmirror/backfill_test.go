package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"solarmirror/sync/platform/platformtest"
)

// A sync that waits gets its turn between two windows of a backfill.
func TestBackfillLetsOthersIn(t *testing.T) {
	t.Parallel()
	platform := platformtest.New(platformtest.Options{Seed: 5, Requests: 60, Token: simulationToken})
	var ready atomic.Pointer[program] // to be started a second time
	var served atomic.Int64
	others := make(chan *exec.Cmd, 1)
	p := newProgram(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if served.Add(1) == 12 { // in the midst of the windows
			sync := ready.Load().command(t, "sync", "orders", "--wait")
			if err := sync.Start(); err != nil {
				t.Error(err)
			}
			others <- sync
		}
		platform.ServeHTTP(w, r)
	}))
	day := func(ago int) string { return time.Now().AddDate(0, 0, -ago).Format(time.DateOnly) }
	p.env = []string{"SOLARMIRROR_PLATFORM_REQUESTS_PER_SECOND=60"} // so that it takes a second
	ready.Store(p)
	p.mustExit(t, exitOK, "", "backfill", "--chunk", "day", "--from", day(24), "--to", day(10), "orders")
	sync := <-others
	if code := exitCodeOf(t, sync, sync.Wait()); code != exitOK {
		t.Errorf("the sync ended with %d", code)
	}
	runs := p.strings(t, "SELECT command FROM _runs ORDER BY run_id")
	if i := slices.Index(runs, "sync"); i < 1 || i > len(runs)-2 {
		t.Errorf("the sync is run %d of %d, not one among the windows", i+1, len(runs))
	} else {
		t.Logf("the sync is run %d of %d", i+1, len(runs))
	}
}

// A backfill that is interrupted finishes its page and goes on where it was, passing by the windows it has finished.
func TestBackfillInterrupted(t *testing.T) {
	t.Parallel()
	platform := &signalling{
		next: platformtest.New(platformtest.Options{Seed: 5, Requests: 200, Token: simulationToken}), at: 30, signal: os.Interrupt,
	}
	p := newProgram(t, platform)
	args := []string{"backfill", "--from", time.Now().AddDate(0, -8, 0).Format(time.DateOnly), "orders"}
	cmd, said := p.command(t, args...), &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = said, said
	if code := p.runSignalled(t, cmd); code != exitInterrupted {
		t.Fatalf("exit code %d, want %d", code, exitInterrupted)
	}
	mustSayInterrupted(t, said.String(), "solarmirror "+strings.Join(args, " "))
	p.checkWhole(t)
	finished := p.strings(t, "SELECT stream || pass || from_date || completed_at FROM _windows WHERE completed_at IS NOT NULL ORDER BY 1")
	p.mustExit(t, exitOK, "", args...)
	all := p.strings(t, "SELECT stream || pass || from_date || completed_at FROM _windows ORDER BY 1")
	if len(finished) < 2 || len(finished) == len(all) {
		t.Fatalf("%d of %d passes of windows were finished, so nothing is proved", len(finished), len(all))
	}
	for _, one := range finished {
		if !slices.Contains(all, one) {
			t.Errorf("%s was read again", one)
		}
	}
	if bad := p.strings(t, "SELECT outcome FROM _runs WHERE outcome NOT IN ('ok', 'interrupted')"); len(bad) > 0 { // between two windows none is
		t.Errorf("runs ended %v", bad)
	}
}

// TestPlanCountsItsRequests: as many as the platform was asked, those included that find out how it lists a stream.
func TestPlanCountsItsRequests(t *testing.T) {
	t.Parallel()
	platform := &signalling{next: platformtest.New(platformtest.Options{Seed: 5, Requests: 60, Token: simulationToken})}
	p := newProgram(t, platform)
	out, err := p.command(t, "backfill", "--plan", "--json", "--from", "2025-01-01", "--to", "2025-06-01", "orders").Output()
	if err != nil {
		t.Fatal(err)
	}
	var plan struct {
		PlanRequests int64 `json:"plan_requests"`
	}
	if err := json.Unmarshal(out, &plan); err != nil || plan.PlanRequests != platform.served.Load() || plan.PlanRequests < 11 {
		t.Errorf("%v: %d requests, the platform served %d", err, plan.PlanRequests, platform.served.Load())
	}
}

func TestTimeLeft(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		took      time.Duration
		done, all int
		want      time.Duration
	}{{time.Minute, 0, 9, 0}, {time.Minute, 1, 9, 8 * time.Minute}, {time.Minute, 3, 9, 2 * time.Minute}, {time.Minute, 9, 9, 0}} {
		if got := left(c.took, c.done, c.all); got != c.want {
			t.Errorf("%d of %d windows in %v leave %v, want %v", c.done, c.all, c.took, got, c.want)
		}
	}
}
