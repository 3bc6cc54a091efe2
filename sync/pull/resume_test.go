package pull

import (
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"solarmirror/sync/platform/platformtest"
)

// A full reading that was cut off goes on, although another sync has read in between what was updated and stands elsewhere now: such rows do
// not vouch for what lies between.
func TestResumedAmongMovedRows(t *testing.T) {
	t.Parallel()
	orders := named("orders")
	s := &shelves{}
	r := newRigFor(t, s)
	r.sync(Options{Streams: orders}) // of nothing; there is a watermark now

	rows := records("deal", 0, 250)
	s.set("order", rows)
	s.spoilWith(func(_ int, page []string) ([]string, int) {
		if strings.Contains(strings.Join(page, ""), "deal-0220") {
			return nil, http.StatusInternalServerError
		}
		return page, http.StatusOK
	})
	r.clock.advance(time.Hour)
	if _, err := r.trySync(Options{Streams: orders, Full: true}); err == nil {
		t.Fatal("the full reading was not cut off")
	}
	s.spoilWith(nil)

	moved := slices.Clone(rows[:70])
	for i := range moved {
		moved[i] = strings.Replace(moved[i], `"n"`, `"updated"`, 1)
	}
	s.set("order", append(slices.Clone(rows[70:]), moved...))
	s.set("order updated", moved)
	r.clock.advance(time.Hour)
	r.sync(Options{Streams: orders})
	r.clock.advance(time.Hour)
	r.sync(Options{Streams: orders, Full: true})
	if n := r.value("SELECT count(*) FROM requests"); n != int64(250) {
		t.Errorf("%v of 250 records arrived", n)
	}
	if n := r.value("SELECT count(*) FROM _absences"); n != int64(0) {
		t.Errorf("%v records count as missing", n)
	}
}

// A window that was cut off goes on where it stopped: it reads no more again than was read since the ledger was last told, and the first page.
func TestResumedWindowReadsLittleAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t, platformtest.Options{Seed: 5, Requests: 700, Equipments: fewItems(), Dialect: platformtest.Dialect{Cap: 20}})
	budgets := named("budgets")
	var failAt atomic.Int64
	failAt.Store(40)
	r.connect(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if r.platform.Served() >= failAt.Load() {
			http.Error(w, "no", http.StatusInternalServerError)
			return
		}
		r.platform.ServeHTTP(w, req)
	}))
	r.engine.InFlight = 1
	if _, err := r.trySync(Options{Streams: budgets}); err == nil {
		t.Fatal("the first sync was not cut off")
	}
	failAt.Store(1 << 40)
	r.sync(Options{Streams: budgets})
	r.mustHoldPresent(budgets)
	resumed := r.platform.Served() - 40

	undisturbed := newRig(t, platformtest.Options{Seed: 5, Requests: 700, Equipments: fewItems(), Dialect: platformtest.Dialect{Cap: 20}})
	undisturbed.engine.InFlight = 1
	undisturbed.sync(Options{Streams: budgets})
	if saved := undisturbed.platform.Served() - resumed; saved < 15 {
		t.Errorf("going on took %d requests, the whole %d", resumed, undisturbed.platform.Served())
	}
}
