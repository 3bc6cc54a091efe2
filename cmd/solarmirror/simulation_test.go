package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"solarmirror/cmd/internal/config"
	"solarmirror/cmd/internal/setup"
	"solarmirror/cmd/internal/statuspage"
	"solarmirror/store"
	"solarmirror/store/identity"
	"solarmirror/store/outbox"
	"solarmirror/store/sqlitefile"
	"solarmirror/store/testsize"
	"solarmirror/sync/platform"
	"solarmirror/sync/platform/platformtest"
	"solarmirror/sync/pull"
	"solarmirror/sync/schedule"
)

var simulated = flag.Duration("simulated", time.Duration(testsize.Fewer(3))*time.Hour, "how much time of a moving platform TestSchedule simulates, and of one that is down TestPlatformDown")

// simClock is the time of a simulation: each request to the platform takes some, and when no job runs or waits it jumps to where the
// schedule sleeps to.
type simClock struct {
	ms         atomic.Int64
	perRequest atomic.Int64 // in ms
	idle       func() bool
}

func (c *simClock) Now() time.Time { return time.UnixMilli(c.ms.Load()).UTC() }

func (c *simClock) Sleep(ctx context.Context, d time.Duration) error {
	until := c.ms.Load() + (d + time.Millisecond - 1).Milliseconds()
	for ctx.Err() == nil {
		if c.idle() { // nothing else moves the clock then
			c.ms.Store(max(until, c.ms.Load()))
		}
		if c.ms.Load() >= until {
			return nil
		}
		time.Sleep(100 * time.Microsecond)
	}
	return ctx.Err()
}

// scene is a platform that moves and fails, and the worker that mirrors it.
type scene struct {
	*worker
	platform *platformtest.Platform
	clock    *simClock
	mirror   *program
	log      *strings.Builder
	down     atomic.Bool // the platform answers nothing but 503
	jobsNow  func() []schedule.Status
	ended    error // why do would have ended the worker
}

func newScene(t *testing.T, o platformtest.Options, settings ...string) *scene {
	t.Helper()
	start, err := time.Parse(time.RFC3339, "2026-03-10T15:00:30Z")
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{clock: &simClock{}, log: &strings.Builder{}, mirror: &program{dir: t.TempDir(), mirror: "m.db"}}
	s.clock.ms.Store(start.UnixMilli())
	o.Token, o.Clock = simulationToken, s.clock.Now
	s.platform = platformtest.New(o)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.clock.ms.Add(s.clock.perRequest.Load())
		r.Header.Del("Accept-Encoding") // compressing would be most of what the test does
		if s.down.Load() {
			http.Error(w, "down for maintenance", http.StatusServiceUnavailable)
			return
		}
		s.platform.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	if !strings.Contains(strings.Join(settings, " "), "TOKEN") {
		settings = append(settings, "SOLARMIRROR_PLATFORM_TOKEN="+simulationToken)
	}
	c, err := config.Load(config.Source{Environ: append([]string{
		"SOLARMIRROR_PLATFORM_BASE_URL=" + server.URL,
		"SOLARMIRROR_MIRROR_PATH=" + filepath.Join(s.mirror.dir, s.mirror.mirror),
		"SOLARMIRROR_HTTP_LISTEN=off",
		"SOLARMIRROR_PUBLISH_PATH=" + filepath.Join(s.mirror.dir, "published", "m.db"),
		"SOLARMIRROR_OUTBOX_PATH=" + filepath.Join(s.mirror.dir, "private", "outbox.db"),
	}, settings...)})
	if err != nil {
		t.Fatal(err)
	}
	requests := statuspage.NewRequests(s.clock.Now)
	client, err := platform.New(platform.Config{
		BaseURL: server.URL, Token: c.TokenSource(), RequestsPerSecond: 10_000, Now: s.clock.Now, Log: zerolog.Nop(), Observe: requests.Observe,
		Retry: platform.RetryPolicy{Initial: time.Millisecond, Max: time.Millisecond, Attempts: 8},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	s.worker = &worker{config: c, log: zerolog.New(zerolog.SyncWriter(s.log)), client: client, requests: requests, clock: s.clock, maxWAL: maxWAL}
	return s
}

// live lets the schedule run until a time, together with what the test itself has to do.
func (s *scene) live(t *testing.T, until time.Time, own ...schedule.Job) {
	t.Helper()
	last, err := s.lastStarts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s.stop = func(cause error) { t.Error(cause); cancel() }
	// In the line of the mirror: it comes after the jobs of the same moment.
	end := schedule.Job{Name: "end", Spec: mustSpec(t, "* * * * *"), Line: mirrorLine, Run: func(context.Context) (schedule.Outcome, error) {
		if !s.clock.Now().Before(until) {
			cancel()
		}
		return schedule.OK, nil
	}}
	jobs := schedule.New(append(append(s.jobs(last), own...), end), schedule.Options{Zone: s.config.ScheduleZone(), Clock: s.clock, Log: zerolog.Nop()})
	s.jobsNow = jobs.Status
	s.clock.idle = func() bool { return idle(jobs) && ctx.Err() == nil }
	jobs.Run(ctx)
	for _, j := range jobs.Status() {
		if j.Ended[schedule.Panicked].Runs > 0 {
			t.Errorf("%s panicked: %s", j.Name, j.LastError)
		}
	}
}

func idle(w *schedule.Worker) bool {
	for _, s := range w.Status() {
		if s.Running || s.Waiting {
			return false
		}
	}
	return true
}

// A platform that lives, churns and fails a tenth of the requests is mirrored on schedule, while companies are queued. Then the churn
// ends, not the faults: when everything was read twice more, by itself, the mirror is the platform, and no company was created twice. At full size:
//
//	go test ./cmd/solarmirror -run TestSchedule -simulated 168h -v -timeout 1h
func TestSchedule(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	dice := rand.New(rand.NewPCG(11, 0))
	calm := false
	out := t.TempDir()
	s := newScene(t, platformtest.Options{
		Seed: 9, Requests: testsize.Fewer(400), Equipments: smallCatalogue(),
		Faults: platformtest.Faults{Rate: 0.1, Seed: 5},
		Churn:  platformtest.Churn{Inserts: 0.02, Updates: 0.1, Removals: 0.02, Conversions: 0.02, Restores: 0.01},
		CompanyOutcome: func(*platformtest.CompanyCall) platformtest.CompanyOutcome {
			mu.Lock()
			defer mu.Unlock()
			if outcomes := platformtest.CompanyOutcomes(); !calm && dice.IntN(5) == 0 {
				return outcomes[dice.IntN(len(outcomes))]
			}
			return platformtest.CompanyAsDeserved
		},
	}, append(copySettings(out), "SOLARMIRROR_SCHEDULE_FULL_REQUESTS=0 */2 * * *", "SOLARMIRROR_SCHEDULE_VERIFY=0 */12 * * *",
		"SOLARMIRROR_SCHEDULE_PUSH=*/5 * * * *", "SOLARMIRROR_SCHEDULE_PUBLISH=10 */2 * * *")...)
	s.clock.perRequest.Store(200)
	queued := 0
	queue := schedule.Job{Name: "queue", Spec: mustSpec(t, "@hourly"), Line: "test", Last: s.clock.Now(), Run: func(ctx context.Context) (schedule.Outcome, error) {
		queued++
		return schedule.OK, s.queue(ctx, queued)
	}}
	began := time.Now()
	s.live(t, s.clock.Now().Add(*simulated), queue)

	s.platform.SetChurn(platformtest.Churn{})
	mu.Lock()
	calm = true
	mu.Unlock()
	s.clock.perRequest.Store(0) // nothing happens between a reading and the look at it
	s.live(t, s.fullReadings(3))
	// Without churn a budget still becomes an order when its time has come. What the last reading was
	// the first to miss is marked as gone by the next.
	for range 3 {
		if len(s.mirror.strings(t, "SELECT stream FROM _absences")) > 0 {
			s.live(t, s.fullReadings(1))
		}
	}

	s.checkMirror(t)
	s.checkCompanies(t, queued)
	s.checkCopies(t, out)
	faults := 0
	for _, n := range s.platform.Faulted() {
		faults += n
	}
	t.Logf("%v in %v: %d requests, %d faults, %d events; %d companies; runs: %v", *simulated, time.Since(began).Round(time.Second), s.platform.Served(),
		faults, len(s.platform.Events()), queued, s.mirror.strings(t, "SELECT command || ' ' || outcome || ' ' || count(*) FROM _runs GROUP BY command, outcome"))
	for _, failed := range s.mirror.strings(t, "SELECT command || ': ' || error FROM _runs WHERE outcome IN ('failed', 'partial')") {
		t.Log(failed)
	}
	if faults == 0 || len(s.platform.Events()) == 0 || queued == 0 {
		t.Error("nothing happened, so nothing is proved")
	}
}

// checkCopies checks that every report, export and backup came at its time and is whole.
func (s *scene) checkCopies(t *testing.T, out string) {
	t.Helper()
	for job, spec := range map[string]schedule.Spec{jobReport: s.config.Schedule.Report, jobExport: s.config.Schedule.Export, jobBackup: s.config.Schedule.Backup} {
		runs := s.mirror.strings(t, "SELECT outcome || ' ' || started_at FROM _runs WHERE command = '"+job+"' ORDER BY run_id")
		var due time.Time
		for i, run := range runs {
			at, err := sqlitefile.ParseTime(strings.TrimPrefix(run, "ok "))
			// It waits for its turn, but never for its next time. The first is made up for at start.
			if err != nil || i > 0 && (at.Before(due) || !at.Before(spec.Next(due))) {
				t.Errorf("%s %d was due at %v: %s, %v", job, i, due, run, err)
			}
			due = spec.Next(at.In(s.config.ScheduleZone()))
		}
		if len(runs) < 2 || s.clock.Now().After(due) {
			t.Errorf("%s ran %d times, and is due since %v at %v", job, len(runs), due, s.clock.Now())
		}
	}
	if got := names(t, filepath.Join(out, "backups")); len(got) != 4 { // two of mirror and outbox each
		t.Errorf("backups: %v", got)
	}
	checkNoParts(t, out)
}

// A platform that is down for as long leaves failed runs that say so, a sound mirror as it was, and queued companies waiting. When it is back
// the schedule catches up by itself.
func TestPlatformDown(t *testing.T) {
	t.Parallel()
	s := newScene(t, platformtest.Options{Seed: 9, Requests: testsize.Fewer(200), Equipments: smallCatalogue()},
		"SOLARMIRROR_SCHEDULE_FULL_REQUESTS=0 */2 * * *", "SOLARMIRROR_SCHEDULE_PUBLISH=off", "SOLARMIRROR_SCHEDULE_PUSH=*/10 * * * *")
	s.live(t, s.clock.Now().Add(10*time.Minute))
	before := s.mirror.content(t)

	s.down.Store(true)
	if err := s.queue(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	s.live(t, s.clock.Now().Add(*simulated))
	if got := s.mirror.content(t); !cmp.Equal(before, got) {
		t.Errorf("the outage changed the mirror:\n%.2000s", cmp.Diff(before, got))
	}
	s.mirror.checkWhole(t)
	for _, run := range s.mirror.strings(t, "SELECT command || ' ' || outcome || ' ' || error FROM _runs WHERE run_id > 1 AND command <> 'push'") {
		if !strings.Contains(run, " failed ") || !strings.Contains(run, "503") {
			t.Errorf("during the outage: %s", run)
		}
	}

	s.down.Store(false)
	s.live(t, s.fullReadings(3))
	s.checkMirror(t)
	if counts := s.platform.CompanyCounts(); len(counts) > 1 {
		t.Errorf("companies sent: %v", counts)
	}
	t.Logf("runs: %v", s.mirror.strings(t, "SELECT command || ' ' || outcome || ' ' || count(*) FROM _runs GROUP BY command, outcome"))
}

// fullReadings is when the requests will have been read whole so often on schedule.
func (s *scene) fullReadings(n int) time.Time {
	at := s.clock.Now()
	for range n {
		at = s.config.Schedule.FullRequests.Next(at)
	}
	return at
}

// checkMirror compares the mirror with what a first sync makes of the platform now.
func (s *scene) checkMirror(t *testing.T) {
	t.Helper()
	if want, got := s.freshMirror(t).content(t), s.mirror.content(t); !cmp.Equal(want, got) {
		t.Errorf("the mirror differs from a fresh one:\n%.3000s", cmp.Diff(want, got))
	}
	s.mirror.checkWhole(t)
}

// smallCatalogue is a few items of each type of equipment: the platform's own would be most of what a small test reads.
var smallCatalogue = sync.OnceValue(func() []json.RawMessage {
	var few []json.RawMessage
	perType := map[string]int{}
	for rec := range platformtest.New(platformtest.Options{Seed: 1}).Records(platformtest.ResourceEquipments) {
		kind, _, _ := strings.Cut(rec.Key, "/")
		if perType[kind]++; perType[kind] <= 20 {
			few = append(few, rec.JSON)
		}
	}
	return few
})

// queue puts a company into the outbox.
func (s *scene) queue(ctx context.Context, n int) error {
	box, err := setup.Outbox(ctx, s.config, s.worker.log, s.clock.Now)
	if err != nil {
		return err
	}
	defer box.Close()
	_, err = box.Add(ctx, []outbox.Company{{Name: "Ana", Email: fmt.Sprintf("ana%d@example.com", n), Password: "secret", CPF: cpf(n)}}, false)
	return err
}

// cpf is the nth of some valid numbers.
func cpf(n int) string {
	for check := range 100 {
		if id := fmt.Sprintf("1%08d%02d", n, check); identity.ValidTaxID(id) {
			return id
		}
	}
	panic("every number has its check digits")
}

// checkCompanies checks that nothing waits any more and nothing was created twice.
func (s *scene) checkCompanies(t *testing.T, queued int) {
	t.Helper()
	for taxID, c := range s.platform.CompanyCounts() {
		if c.Processed > 1 {
			t.Errorf("%s was created %d times", taxID, c.Processed)
		}
	}
	states := s.mirror.strings(t, "SELECT state || ' ' || count(*) FROM company_creations GROUP BY state")
	if open := s.mirror.strings(t, "SELECT outbox_id FROM company_creations WHERE state NOT IN ('done', 'rejected', 'ambiguous')"); len(open) > 0 ||
		len(s.mirror.strings(t, "SELECT intent_id FROM company_creations")) != queued {
		t.Errorf("of %d companies: %v", queued, states)
	}
	t.Logf("companies: %v", states)
}

// freshMirror reads the platform as it stands into a mirror of its own.
func (s *scene) freshMirror(t *testing.T) *program {
	t.Helper()
	fresh := &program{dir: t.TempDir(), mirror: "m.db"}
	mirror, err := store.Open(t.Context(), filepath.Join(fresh.dir, fresh.mirror), store.Options{Now: s.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer mirror.Close()
	if _, err := s.engine(mirror, "fresh").Sync(t.Context(), pull.Options{Streams: pull.Streams(), Trigger: store.TriggerManual}); err != nil {
		t.Fatal(err)
	}
	return fresh
}
