package statuspage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/outbox"
	"solarmirror/sync/platform"
	"solarmirror/sync/schedule"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// now is the moment every page here is made at.
var now = time.Date(2026, 11, 21, 15, 4, 5, 0, time.UTC)

// canaries must not be on any page: they stand where personal data may.
var canaries = []string{"Ana", "canary", "11.222.333", "ana1@example.com", "Silva"}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// world is a mirror and an outbox with a past.
type world struct {
	dir   string
	clock time.Time
}

func newWorld(t testing.TB) *world { return &world{dir: t.TempDir()} }

func (w *world) mirror() string { return filepath.Join(w.dir, "mirror", "solarmirror.db") }
func (w *world) outbox() string { return filepath.Join(w.dir, "private", "outbox.db") }

func (w *world) now() time.Time { return w.clock }

// options are those of a page over the world.
func (w *world) options() Options {
	requests := NewRequests(func() time.Time { return now })
	for i := range 40 {
		requests.Observe(platform.Exchange{Method: "GET", Status: 200, Took: time.Duration(20*i) * time.Millisecond, Attempt: 1})
	}
	requests.Observe(platform.Exchange{Method: "GET", Status: 503, Took: time.Second, Attempt: 2})
	requests.Observe(platform.Exchange{Method: "POST", Status: 0, Took: time.Minute, Attempt: 1})
	zone, err := time.LoadLocation("America/Sao_Paulo")
	if err != nil {
		panic(err)
	}
	return Options{
		Mirror: w.mirror(), Outbox: w.outbox(), Listen: "127.0.0.1:8480", Requests: requests, Zone: zone, Version: "v1.2.3", Revision: "abcdef0",
		Now: func() time.Time { return now }, Jobs: func() []schedule.Status { return jobs },
		Readers: map[string][]string{"orders": {"sync", "full_requests"}, "budgets": {"verify"}, "equipments": {"sync", "full_equipments"}},
	}
}

var jobs = []schedule.Status{
	{Name: "sync", Spec: "*/15 * * * *", Next: now.Add(11 * time.Minute), LastStart: now.Add(-4 * time.Minute), LastOutcome: schedule.OK, LastTook: 38 * time.Second,
		Ended: map[schedule.Outcome]schedule.Ended{schedule.OK: {Runs: 9, Last: now.Add(-3 * time.Minute)}, schedule.Failed: {Runs: 1, Last: now.AddDate(0, 0, -14)}}},
	{Name: "full_equipments", Spec: "0 * * * *", Next: now.Add(56 * time.Minute), Running: true, LastStart: now.Add(-4 * time.Minute), LastOutcome: schedule.Failed, LastError: `"Ana"`, Skips: 2},
	{Name: "full_requests", Spec: "0 3 * * 0", Next: now.Add(15 * time.Hour), Waiting: true},
	{Name: "verify", Spec: ""},
	{Name: "push", Spec: "* * * * *", Next: now.Add(55 * time.Second), LastStart: now.Add(-5 * time.Second), LastOutcome: schedule.Partial, LastTook: 700 * time.Millisecond,
		Ended: map[schedule.Outcome]schedule.Ended{schedule.Panicked: {Runs: 1, Last: now.Add(-time.Hour)}, schedule.Partial: {Runs: 2, Last: now.Add(-4 * time.Second)}}},
}

// fill gives the world two weeks of runs, some of which failed; a first load that is complete for two streams and under way for one; a
// backfill; rejects, drift and an outbox with rows in every state.
func (w *world) fill(t testing.TB) {
	t.Helper()
	w.clock = now.AddDate(0, 0, -16)
	mirror, err := store.Open(t.Context(), w.mirror(), store.Options{Now: w.now})
	must(t, err)
	must(t, mirror.Bind(t.Context(), "https://sales.example.com"))
	for i := 0; w.clock.Before(now.Add(-time.Hour)); i++ {
		w.run(t, mirror, i)
		w.clock = w.clock.Add(3*time.Hour + time.Duration(i%7)*time.Minute)
	}
	w.write(t, mirror, func(tx *store.Tx) error { return w.ledger(tx) })
	w.clock = now.Add(-4 * time.Minute)
	w.run(t, mirror, 0)
	w.clock = now.Add(-2 * time.Minute)
	_, err = mirror.StartRun(t.Context(), "full_equipments", store.TriggerSchedule)
	must(t, err)
	must(t, mirror.Close())
	w.queue(t)
}

// fillWell gives the world streams that are fresh, and one run that succeeded.
func (w *world) fillWell(t testing.TB) {
	t.Helper()
	w.clock = now.Add(-time.Hour)
	mirror, err := store.Open(t.Context(), w.mirror(), store.Options{Now: w.now})
	must(t, err)
	w.write(t, mirror, func(tx *store.Tx) error {
		for _, s := range schema.Streams {
			for _, pass := range s.Passes {
				if err := tx.SetWatermark(store.Watermark{Stream: s.Name, Pass: pass, CompleteThrough: now.Add(-time.Minute), LastFullScanAt: now}); err != nil {
					return err
				}
			}
		}
		return nil
	})
	w.run(t, mirror, 0)
	must(t, mirror.Close())
}

// refused is what a client says of a platform that is down.
const refused = "dial tcp 192.0.2.7:443: connect: connection refused"

// inOutage gives the world a platform that went down after all was well: a sync has tried for two minutes, and a full
// read and a verification before it have failed.
func (w *world) inOutage(t testing.TB) Options {
	t.Helper()
	w.fillWell(t)
	mirror, err := store.Open(t.Context(), w.mirror(), store.Options{Now: w.now})
	must(t, err)
	for i, command := range []string{"full_equipments", "verify"} {
		w.clock = now.Add(time.Duration(i-10) * time.Minute)
		run, err := mirror.StartRun(t.Context(), command, store.TriggerSchedule)
		must(t, err)
		must(t, mirror.FinishRun(t.Context(), run.ID, store.Ending{
			Outcome: store.Failed, Streams: map[string]store.Outcome{"equipments": store.Failed},
			Error: fmt.Sprintf("orders, equipments: GET /api/v2/list/%d: %s (8 attempts); check the network", i, refused),
		}))
	}
	w.clock = now.Add(-2 * time.Minute)
	_, err = mirror.StartRun(t.Context(), "sync", store.TriggerSchedule)
	must(t, errors.Join(err, mirror.Close()))
	o := w.options()
	clock := now.Add(-111 * time.Second)
	o.Requests = NewRequests(func() time.Time { return clock })
	for i := range 21 {
		o.Requests.Observe(platform.Exchange{Method: "GET", List: []string{"orders", "budgets", "equipments"}[i%3], Attempt: 1 + i/3, Failure: refused})
		clock = clock.Add(5 * time.Second)
	}
	o.Jobs = func() []schedule.Status {
		return []schedule.Status{
			{Name: "sync", Spec: "*/15 * * * *", Next: now.Add(13 * time.Minute), Running: true, LastStart: now.Add(-2 * time.Minute)},
			{Name: "full_equipments", Spec: "0 * * * *", Next: now.Add(50 * time.Minute), LastStart: now.Add(-10 * time.Minute), LastOutcome: schedule.Failed, LastTook: time.Minute},
		}
	}
	return o
}

func (w *world) run(t testing.TB, mirror *store.Mirror, i int) {
	t.Helper()
	run, err := mirror.StartRun(t.Context(), "sync", store.TriggerSchedule)
	must(t, err)
	end := store.Ending{
		Outcome: store.OK, Streams: map[string]store.Outcome{"orders": store.OK, "budgets": store.OK, "equipments": store.OK},
		Counts: store.Counts{Pages: 12, Records: int64(400 + 37*(i%11)), Inserted: int64(60 + 13*(i%5)), Changed: int64(120 + 29*(i%7)), Deleted: int64(i % 4)},
	}
	switch {
	case i%23 == 7:
		end.Outcome, end.Error = store.Failed, `GET /api/v2/requests/order/1/50: the platform answered 500 Internal Server Error, saying "no budget for Ana Silva" (8 attempts); the fault is the platform's, run the command again later`
		end.Streams["orders"] = store.Failed
	case i%17 == 11:
		end.Outcome, end.Error = store.Partial, "budgets: no complete answer within 1m0s (8 attempts); check the network, or raise platform.timeout"
		end.Streams["budgets"] = store.Failed
	case i%31 == 13:
		end.Outcome = store.Interrupted
	}
	w.clock = w.clock.Add(41 * time.Second)
	must(t, mirror.FinishRun(t.Context(), run.ID, end))
}

func (w *world) write(t testing.TB, mirror *store.Mirror, f func(*store.Tx) error) {
	t.Helper()
	tx, err := mirror.Begin(t.Context())
	must(t, err)
	must(t, f(tx))
	must(t, tx.Commit())
}

func (w *world) ledger(tx *store.Tx) error {
	for stream, passes := range map[string][]string{"orders": {"live", "removed"}, "budgets": {"live", "removed"}} {
		for _, pass := range passes {
			through := now.Add(-4 * time.Minute)
			if stream == "budgets" {
				through = now.Add(-5 * time.Hour)
			}
			if err := tx.SetWatermark(store.Watermark{Stream: stream, Pass: pass, Watermark: "2026-11-21", CompleteThrough: through, LastFullScanAt: now.AddDate(0, 0, -6)}); err != nil {
				return err
			}
			window := &store.Window{Stream: stream, Pass: pass, StartedAt: now.AddDate(0, 0, -16), Pages: 812, Records: 40_587, CompletedAt: now.AddDate(0, 0, -15)}
			if err := tx.SaveWindow(window); err != nil {
				return err
			}
		}
	}
	if err := tx.SaveWindow(&store.Window{Stream: "equipments", Pass: "live", StartedAt: now.Add(-time.Hour), Cursor: 300, Pages: 6, Records: 300, Expected: 483}); err != nil {
		return err
	}
	for month := 1; month <= 9; month++ {
		window := &store.Window{
			Stream: "orders", Pass: "live", From: fmt.Sprintf("2024-%02d-01", month), To: fmt.Sprintf("2024-%02d-01", month+1), StartedAt: now.AddDate(0, 0, -2), Pages: 20, Records: 990,
		}
		if month < 8 {
			window.CompletedAt = now.AddDate(0, 0, -1)
		}
		if month == 3 {
			window.Promise = "pages of one size only"
		}
		if err := tx.SaveWindow(window); err != nil {
			return err
		}
	}
	for i := range 3 {
		raw := fmt.Sprintf(`{"name":"Ana Silva %d"}`, i)
		if _, err := tx.Reject(store.Reject{Stream: "orders", Source: "/api/v2/requests/order/1/50", Reason: `no id in "Ana"`, Raw: []byte(raw)}); err != nil {
			return err
		}
	}
	var drift []store.Drift
	for i := range 14 {
		drift = append(drift, store.Drift{Path: fmt.Sprintf("/customData/*/field%02d", i), Kind: []string{"unknown", "type", "shape"}[i%3], Example: `"Ana Silva"`, Occurrences: int64(7 * (i + 1))})
	}
	return tx.Drift("orders", drift)
}

// change does something to the mirror from beside, and keeps it open.
func (w *world) change(t testing.TB, statements string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+w.mirror()+"?mode=rw")
	must(t, err)
	db.SetMaxOpenConns(1)
	_, err = db.Exec(statements)
	must(t, err)
	return db
}

func (w *world) queue(t testing.TB) {
	t.Helper()
	w.clock = now.Add(-26 * time.Hour)
	queue, err := outbox.Open(t.Context(), w.outbox(), outbox.Options{Now: w.now})
	must(t, err)
	_, err = queue.Recover(t.Context())
	must(t, err)
	ends := []outbox.State{"", outbox.StateAmbiguous, outbox.StateDone, outbox.StateRejected, outbox.StateDone, outbox.StateAmbiguous, ""}
	for i, end := range ends {
		rows, err := queue.Add(t.Context(), []outbox.Company{{
			Name: "Ana", Surname: "Silva", Email: fmt.Sprintf("ana%d@example.com", i), CNPJ: fmt.Sprintf("11.222.333/%04d-00", i), Password: "canary-password",
		}}, false)
		must(t, err)
		if end == "" {
			continue
		}
		claimed, err := queue.Claim(t.Context(), rows[0])
		must(t, err)
		_, err = queue.Settle(t.Context(), claimed, outbox.Settlement{State: end, Outcome: string(end), Error: "the platform said Ana"})
		must(t, err)
		w.clock = w.clock.Add(time.Hour)
	}
	must(t, queue.Close())
}

// get asks the handler as a browser on this machine would.
func get(t testing.TB, h http.Handler, path string) *httptest.ResponseRecorder {
	t.Helper()
	return ask(h, http.MethodGet, "localhost:8480", path)
}

func ask(h http.Handler, method, host, path string) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	request := httptest.NewRequestWithContext(context.Background(), method, path, nil)
	request.Host = host
	h.ServeHTTP(answer, request)
	return answer
}
