package pull

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/sync/platform"
	"solarmirror/sync/platform/platformtest"
	"solarmirror/sync/scan"
)

// slicesOf cuts records into slices as a scan would, each a page of its own.
func slicesOf(r *rig, s *Stream, raws []string, size int) []scan.Slice {
	var list []scan.Slice
	for from := 0; from < len(raws); from += size {
		sl := scan.Slice{Page: &platform.Page{Source: "/test", FetchedAt: r.clock.now(), Attempts: 1}, Cursor: from + size}
		for _, raw := range raws[from:min(from+size, len(raws))] {
			sl.Records = append(sl.Records, s.identify([]byte(raw)))
		}
		list = append(list, sl)
	}
	return list
}

// newBatch is a batch of a job that has just begun.
func (r *rig) newBatch(s *Stream, w *window) *batch {
	return &batch{engine: r.engine, job: &job{stream: s, writer: newWriter(s, 0, r.engine.Now), report: &StreamReport{}}, reading: &reading{window: w}}
}

// Slices that are there at once share a transaction: the first has its own, the others are committed by the thousand records, or as often as
// their window is noted.
func TestSlicesShareTransactions(t *testing.T) {
	t.Parallel()
	orders := named("orders")[0]
	ofOrders := func() *window { return &window{Window: store.Window{Stream: "orders", Pass: schema.Live}} }
	for name, c := range map[string]struct {
		size   int
		window *window
		want   []int64 // records after each commit
	}{
		"incremental":             {100, nil, []int64{100, 1100, 2100, 2500}},
		"window":                  {100, ofOrders(), []int64{100, 1100, 2100, 2500}},
		"small pages":             {20, nil, []int64{20, 1020, 2020, 2500}},
		"small pages of a window": {20, ofOrders(), []int64{20, 420, 820, 1220, 1620, 2020, 2420, 2500}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRigFor(t, &fixedList{})
			var commits []int64
			r.engine.Progress = func(p Progress) { commits = append(commits, p.Records) }
			b := r.newBatch(orders, c.window)
			for _, sl := range slicesOf(r, orders, records("deal", 0, 2500), c.size) {
				if err := b.write(t.Context(), sl); err != nil {
					t.Fatal(err)
				}
				visible := int64(0)
				if len(commits) > 0 {
					visible = commits[len(commits)-1]
				}
				if n := r.value("SELECT count(*) FROM requests"); n != visible {
					t.Fatalf("%v records can be seen, %d were reported", n, visible)
				}
			}
			if err := b.commit(); err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(commits) != fmt.Sprint(c.want) || b.job.report.Counts.Inserted != 2500 {
				t.Errorf("commits at %v, want %v; %+v", commits, c.want, b.job.report.Counts)
			}
		})
	}
}

// While the platform makes a scan wait, everything it has sent can be seen, and no other writer is held up.
func TestNothingWaitsWithTheScan(t *testing.T) {
	t.Parallel()
	list := &fixedList{records: records("deal", 0, 600)}
	var r *rig
	var mu sync.Mutex
	sent := 0 // of the list, in pages answered without a gap
	waits := 0
	r = newRigFor(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		at := pageOf(req)
		if !t.Failed() && at.start() > 25 && at.start() <= sent { // neither probes nor the comparison of limits

			deadline := time.Now().Add(20 * time.Second)
			for n := any(int64(0)); n != int64(sent); n = r.value("SELECT count(*) FROM requests") {
				if time.Now().After(deadline) {
					t.Errorf("the platform has sent %d records, %v can be seen", sent, n)
					break
				}
			}
			if err := r.mirror.SetDialect(t.Context(), "{}"); err != nil {
				t.Error(err)
			}
			waits++
		}
		sent = max(sent, min(at.end(), len(list.records)))
		list.ServeHTTP(w, req)
	}))
	r.engine.InFlight = 1
	r.engine.Paging.FirstPage = 1
	r.sync(Options{Streams: named("orders")})
	if waits < 12 {
		t.Errorf("%d waits", waits)
	}
}

// A slice that cannot be written takes back those of its transaction, and the window does not claim them: once the mirror can be written the
// next sync ends with everything.
func TestFailedSliceTakesItsBatchBack(t *testing.T) {
	t.Parallel()
	r := newRig(t, platformtest.Options{Seed: 6, Requests: 1500, Equipments: fewItems()})
	budgets := named("budgets")
	r.exec("CREATE TRIGGER refuse BEFORE INSERT ON requests WHEN NEW.request_key > 700 BEGIN SELECT raise(ABORT, 'no more'); END")
	report, err := r.trySync(Options{Streams: budgets})
	if err == nil {
		t.Fatal("the sync did not notice")
	}
	held := r.value("SELECT count(*) FROM requests")
	if held == int64(0) || held != report.Total().Inserted {
		t.Errorf("%v records are there, %+v were reported", held, report.Total())
	}
	w, _, err := r.mirror.Window(t.Context(), "budgets", schema.Live, "", "")
	if err != nil {
		t.Fatal(err)
	}
	seen := parseBitmap(w.Seen)
	for key := int64(1); key < 1500; key++ {
		if seen.has(key) && key > held.(int64) {
			t.Errorf("the window claims record %d of %v", key, held)
		}
	}
	r.exec("DROP TRIGGER refuse")
	r.sync(Options{Streams: budgets})
	r.mustHoldPresent(budgets)
}

// The indices of the records come with the end of a first load, not before: a sync that failed leaves them to the next.
func TestIndicesComeWithTheEndOfALoad(t *testing.T) {
	t.Parallel()
	r := newRig(t, platformtest.Options{Seed: 6, Requests: 50, Equipments: fewItems()})
	indices := func() any {
		return r.value("SELECT count(*) FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL AND tbl_name IN ('requests', 'request_products', 'equipments')")
	}
	for _, table := range []string{"requests", "equipments"} { // or a stream may be read whole before another fails
		r.exec("CREATE TRIGGER refuse_" + table + " BEFORE INSERT ON " + table + " BEGIN SELECT raise(ABORT, 'no'); END")
	}
	if _, err := r.trySync(Options{}); err == nil || indices() != int64(0) {
		t.Errorf("%v, and %v indices", err, indices())
	}
	r.exec("DROP TRIGGER refuse_requests", "DROP TRIGGER refuse_equipments")
	r.sync(Options{})
	if n := indices(); n != int64(7) {
		t.Errorf("%v indices", n)
	}
}
