package pull

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/testsize"
	"solarmirror/sync/platform/platformtest"
)

func day(text string) time.Time {
	at, err := time.Parse(time.DateOnly, text)
	if err != nil {
		panic(err)
	}
	return at
}

func backfillOptions(from, to string, chunk Chunk) BackfillOptions {
	return BackfillOptions{Options: Options{Streams: requestStreams(), Trigger: store.TriggerManual}, From: day(from), To: day(to), Chunk: chunk}
}

// Windows cover every day of the range, neighbours share one day and no more, none goes beyond the range, and but for the first and the
// last they are the same whatever the range.
func TestStretchesTileTheRange(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		from := day("2019-12-20").AddDate(0, 0, rapid.IntRange(0, 2500).Draw(rt, "from"))
		to := from.AddDate(0, 0, rapid.IntRange(0, 900).Draw(rt, "days"))
		o := BackfillOptions{From: from, To: to, Chunk: rapid.SampledFrom([]Chunk{Month, Week, Day}).Draw(rt, "chunk")}
		list := o.Stretches()
		if list[0].From != from.Format(time.DateOnly) || list[len(list)-1].To != to.Format(time.DateOnly) {
			rt.Fatalf("%v to %v: %v", from, to, list)
		}
		for i, at := range list {
			if at.From > at.To || i > 0 && at.From != list[i-1].To || i > 0 && i < len(list)-1 && at.From == at.To {
				rt.Fatalf("window %d of %v", i, list)
			}
		}
		wider := o
		wider.From, wider.To = from.AddDate(0, 0, -rapid.IntRange(0, 70).Draw(rt, "before")), to.AddDate(0, 0, rapid.IntRange(0, 70).Draw(rt, "after"))
		for _, at := range list[min(1, len(list)-1):max(1, len(list)-1)] {
			if len(list) > 2 && !slices.Contains(wider.Stretches(), at) {
				rt.Fatalf("%v is no window of the wider range", at)
			}
		}
	})
}

// backfill reads all windows and the tail.
func (r *rig) backfill(o BackfillOptions) *Report {
	r.t.Helper()
	report := &Report{}
	for _, at := range o.Stretches() {
		done, err := r.engine.BackfillWindow(r.t.Context(), o, at)
		if err != nil {
			r.t.Fatal(err)
		}
		report.Merge(done)
	}
	done, err := r.engine.BackfillTail(r.t.Context(), o)
	if err != nil {
		r.t.Fatal(err)
	}
	report.Merge(done)
	return report
}

// asked counts the requests that bound the dates above: those are for windows.
type asked struct {
	next    http.Handler
	windows atomic.Int64
}

func (a *asked) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.URL.Query().Has("lastUpdateBefore") {
		a.windows.Add(1)
	}
	a.next.ServeHTTP(w, req)
}

// A backfill brings every record that was updated in its range, reads no finished window again unless told to, and ends with a read of what
// has moved out of the windows meanwhile.
func TestBackfill(t *testing.T) {
	t.Parallel()
	r := newRig(t, platformtest.Options{Seed: 12, Requests: 120})
	count := &asked{next: r.platform}
	r.connect(count)
	r.engine.InFlight = 1
	o := backfillOptions("2024-01-01", "2026-03-10", Month)

	before := r.content()
	plan, err := r.engine.PlanBackfill(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(plan) != 4*len(o.Stretches()) || r.content() != before {
		t.Errorf("%d windows planned; written: %v", len(plan), r.content() != before)
	}
	planned := 0
	for _, p := range plan {
		planned += p.Records
	}
	o.Streams = requestStreams()
	r.backfill(o)
	r.mustHoldPresent(requestStreams())
	if held := int(r.value("SELECT count(*) FROM requests").(int64)); planned < held {
		t.Errorf("%d records planned, %d arrived", planned, held)
	}

	count.windows.Store(0)
	r.backfill(o)
	if n := count.windows.Load(); n != 0 {
		t.Errorf("%d requests for windows that were finished", n)
	}
	r.clock.advance(2 * 24 * time.Hour)
	r.backfill(o)
	if n := count.windows.Load(); n != 0 {
		t.Errorf("%d requests for windows that were finished", n)
	}
	r.mustHoldPresent(requestStreams()) // the tail asks from the day the first window was begun

	o.Restart = true
	r.backfill(o)
	if n := int(count.windows.Load()); n < 4*len(o.Stretches()) {
		t.Errorf("--restart sent %d requests for %d windows", n, 4*len(o.Stretches()))
	}
	if n := r.value("SELECT count(*) FROM _windows WHERE completed_at IS NULL"); n != int64(0) {
		t.Errorf("%v windows are not complete", n)
	}
}

// What leaves its window while the window is read is caught by the tail.
func TestBackfillOfMovingPlatform(t *testing.T) {
	t.Parallel()
	for seed := range uint64(testsize.Fewer(max(2, *seeds/20))) {
		r := newMovingRig(t, seed, movingOrders[seed%5], platformtest.TotalNumber, lightChurn)
		o := backfillOptions("2023-01-01", "2026-03-10", Month)
		for _, at := range o.Stretches() {
			if _, err := r.engine.BackfillWindow(t.Context(), o, at); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		r.platform.SetChurn(platformtest.Churn{})
		if _, err := r.engine.BackfillTail(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		r.mustHoldPresent(requestStreams())
	}
}

// content is every table of the mirror but for the times at which things were done, as text.
func (r *rig) content() string {
	r.t.Helper()
	var b strings.Builder
	for _, root := range schema.Roots() {
		for key, record := range r.records(root) {
			fmt.Fprintln(&b, key, record)
		}
	}
	lines := strings.Split(b.String(), "\n")
	slices.Sort(lines)
	for _, query := range []string{
		"SELECT stream, pass, coalesce(from_date, ''), coalesce(to_date, ''), state FROM _windows ORDER BY 1, 2, 3, 4",
		"SELECT stream, pass, watermark FROM _watermarks ORDER BY 1, 2",
		"SELECT stream, raw FROM _rejects ORDER BY 1, 2",
		"SELECT count(*) FROM _absences",
		`SELECT r.request_type, r.id, h.deal_status, h.final_value, h.removed FROM request_status_history h JOIN requests r USING (request_key) ORDER BY 1, 2, 3, 4`,
		"SELECT count(*) FROM requests WHERE _deleted_at IS NOT NULL",
	} {
		for _, row := range r.query(query) {
			lines = append(lines, fmt.Sprint(row...))
		}
	}
	return strings.Join(lines, "\n")
}
