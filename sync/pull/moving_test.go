package pull

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/testsize"
	"solarmirror/sync/flatten"
	"solarmirror/sync/platform/platformtest"
	"solarmirror/sync/scan"
)

// movingOrders are the orders that a platform may keep its lists in while they move.
var movingOrders = []platformtest.Order{
	platformtest.OrderCreatedDesc, platformtest.OrderCreatedAsc, platformtest.OrderUpdatedDesc, platformtest.OrderUpdatedAsc, platformtest.OrderName,
}

var (
	lightChurn = platformtest.Churn{Inserts: 0.2, Updates: 0.4, Removals: 0.15, Conversions: 0.1, Restores: 0.1}
	heavyChurn = platformtest.Churn{Inserts: 1.5, Updates: 3, Removals: 1, Conversions: 0.6, Restores: 0.6}
)

// The engine reads a platform that changes between every two requests. When a pass has ended cleanly the mirror holds every record that was
// not touched during that pass, as it is; and after the next sync, for which the platform keeps still, it holds all of them. A pass may
// give up under heavy churn, if it says so.
func TestScanOfMovingPlatform(t *testing.T) {
	t.Parallel()
	for _, order := range movingOrders {
		t.Run(order.String(), func(t *testing.T) {
			t.Parallel()
			var gaveUp, passes atomic.Int64
			n := uint64(testsize.Fewer(max(4, *seeds/10)))
			if *seeds >= fullRun {
				n = uint64(*seeds)
			}
			for seed := range n {
				churn, name := lightChurn, "light churn"
				if seed%2 == 1 {
					churn, name = heavyChurn, "heavy churn"
				}
				total := platformtest.TotalNumber
				if seed/2%2 == 1 {
					total = platformtest.TotalAbsent
				}
				t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
					r := newMovingRig(t, seed, order, total, churn)
					whole := r.readMoving(&passes, &gaveUp)
					r.platform.SetChurn(platformtest.Churn{})
					r.clock.advance(time.Hour)
					if !whole { // a first reading that gave up is gone on with, and is as old as its beginning
						r.sync(Options{Streams: requestStreams()})
					}
					r.sync(Options{Streams: requestStreams()})
					r.mustHoldPresent(requestStreams())
					if seed%5 == 0 {
						r.mustEqualAfterSweeps()
					}
					if t.Failed() {
						t.Logf("seed %d, %s, %s, total %v", seed, order, name, total)
					}
				})
			}
			lost := "no record lost"
			if t.Failed() {
				lost = "RECORDS LOST"
			}
			t.Logf("%-13s %d platforms, %d clean passes while it moved, %d passes given up, %s", order, n, passes.Load(), gaveUp.Load(), lost)
		})
	}
}

func requestStreams() []*Stream { return named("orders", "budgets") }

func newMovingRig(t *testing.T, seed uint64, order platformtest.Order, total platformtest.Total, churn platformtest.Churn) *rig {
	r := newRig(t, platformtest.Options{
		Seed: seed, Requests: 150 + int(seed%7)*20, Churn: churn,
		Dialect: platformtest.Dialect{Cap: 20, Order: order, Total: total},
	})
	r.engine.Paging = Paging{FirstPage: 1, Limit: 20}
	return r
}

// readMoving syncs one stream after the other, so that what happens while a pass is read can be told.
func (r *rig) readMoving(passes, gaveUp *atomic.Int64) (whole bool) {
	r.t.Helper()
	whole = true
	for _, s := range requestStreams() {
		begun := r.platform.Served()
		r.engine.Progress = func(p Progress) {
			if p.Finished {
				passes.Add(1)
				r.mustHoldPass(s, p.Pass, begun)
				begun = r.platform.Served()
			}
		}
		_, err := r.trySync(Options{Streams: []*Stream{s}})
		r.engine.Progress = nil
		var churned *scan.ChurnError
		var unstable *scan.UnstableError
		switch {
		case errors.As(err, &churned), errors.As(err, &unstable):
			gaveUp.Add(1)
			whole = false
			r.t.Log(r.platform.Served()-begun, err)
		case err != nil:
			r.t.Fatal(err)
		}
	}
	return whole
}

// mustHoldPass checks one pass: every record it should have listed and that nothing has happened to since a request of that number. Requests
// that were fetched ahead and thrown away may be answered, and change the platform, a little later: hence the slack, and the order.
func (r *rig) mustHoldPass(s *Stream, pass string, since int64) {
	r.t.Helper()
	listed := slices.Collect(r.platform.Records(s.Name))
	touched := map[string]bool{}
	for _, event := range r.platform.Events() {
		touched[event.Key] = touched[event.Key] || event.Request > since-int64(r.engine.InFlight)
	}
	r.mustHold(s, slices.DeleteFunc(listed, func(rec platformtest.Record) bool {
		return rec.Removed != (pass == schema.Removed) || touched[rec.Key]
	}))
}

// mustHoldPresent checks that what the platform holds of some streams is present in the mirror.
func (r *rig) mustHoldPresent(streams []*Stream) {
	r.t.Helper()
	for _, s := range streams {
		r.mustHold(s, slices.Collect(r.platform.Records(s.Name)))
	}
}

// mustHold checks that records are present in the mirror byte for byte, by their hash.
func (r *rig) mustHold(s *Stream, list []platformtest.Record) {
	r.t.Helper()
	present := r.present(s)
	for _, rec := range list {
		key, err := s.plan.Key(rec.JSON, s.Partition)
		if err != nil {
			r.t.Fatal(err)
		}
		switch hash, ok := present[store.NaturalKey(key)]; {
		case !ok:
			r.t.Errorf("%s %v is not in the mirror", s.Name, key)
		case hash != flatten.RawHash(rec.JSON):
			r.t.Errorf("%s %v is not as the platform has it", s.Name, key)
		}
	}
}

// present is what the mirror holds of a stream and does not take for gone.
func (r *rig) present(s *Stream) map[store.NaturalKey]uint64 {
	r.t.Helper()
	present := map[store.NaturalKey]uint64{}
	for p, err := range r.mirror.Present(r.t.Context(), s.Root, s.Partition) {
		if err != nil {
			r.t.Fatal(err)
		}
		present[p.Natural] = p.Hash.Raw
	}
	return present
}

// mustEqualAfterSweeps has a still platform swept twice, after which the mirror holds nothing but what the platform holds.
func (r *rig) mustEqualAfterSweeps() {
	r.t.Helper()
	for range 2 {
		r.sync(Options{Streams: requestStreams(), Full: true, AcceptDeletions: true})
	}
	r.mustEqualByHash(requestStreams())
}

// mustEqualByHash checks that what is present in the mirror is what the platform holds, byte for byte, by its hash.
func (r *rig) mustEqualByHash(streams []*Stream) {
	r.t.Helper()
	for _, s := range streams {
		truth := map[store.NaturalKey]uint64{}
		for rec := range r.platform.Records(s.Name) {
			key, err := s.plan.Key(rec.JSON, s.Partition)
			if err != nil {
				r.t.Fatal(err)
			}
			truth[store.NaturalKey(key)] = flatten.RawHash(rec.JSON)
		}
		if got := r.present(s); !maps.Equal(got, truth) {
			r.t.Errorf("the mirror holds %d %s, the platform %d, or they differ", len(got), s.Name, len(truth))
		}
	}
}
