package scan

import (
	"context"
	"errors"
	"flag"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"solarmirror/store/testsize"
	"solarmirror/sync/platform"
)

var servers = flag.Int("servers", 200, "still servers drawn at random; the full run takes 20000, a quarter as many that move, and a fortieth with caches and replicas")

// result is what came of reading a server.
type result struct {
	found    map[int]int
	findings Findings
	requests int
	err      error
}

// read has a client read a server that it meets for the first time.
func (v *server) read(t *testing.T, wanted int) (r result) {
	numbering, err := Meet(t.Context(), v.page, wanted, FindFirstPage, 0)
	if err != nil {
		return result{err: err}
	}
	met := v.served
	if len(v.lags) == 0 && v.cacheFor == 0 { // else what was seen before counts
		clear(v.touched)
		v.began = v.clock
	}
	src := fetching(nil)
	src.Fetch = func(ctx context.Context, page, limit int) (*platform.Page, error) {
		return v.page(ctx, page+numbering.First, limit)
	}
	src.Probe = src.Fetch
	if v.dice.IntN(4) > 0 {
		src.Again = func(ctx context.Context, way, page, limit int) (*platform.Page, error) {
			return v.pageAt(strconv.Itoa(way), page+numbering.First, limit)
		}
	}
	s := New(src, Options{Limit: numbering.Limit, InFlight: 1, LookBeyond: true})
	r.found, r.err = collect(s.Slices(t.Context()))
	r.findings = s.Findings()
	r.requests = v.served - met
	if over := r.findings.Total - r.findings.Found; r.err == nil && over > max(20, r.findings.Found/100) {
		r.err = errFarTotal
	}
	return r
}

var errFarTotal = errors.New("the platform counts far more rows")

// inParallel tries seeds on all processors.
func inParallel(t *testing.T, n int, try func(seed uint64)) {
	var next atomic.Uint64
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			for seed := next.Add(1); seed <= uint64(n); seed = next.Add(1) {
				try(seed)
			}
		})
	}
	group.Wait()
}

// A still server is read exactly wherever any client could read it, and loudly not where none
// could.
func TestStillServers(t *testing.T) {
	t.Parallel()
	var exact, unreadable, failed atomic.Int64
	inParallel(t, testsize.Fewer(*servers), func(seed uint64) {
		v, wanted := drawServer(seed, churn{})
		r := v.read(t, wanted)
		why := v.readable(wanted)
		n := len(v.rows)
		farOff := v.totals == "far"
		switch {
		case r.err == nil && len(r.found) == n && !farOff:
			exact.Add(1)
		case errors.Is(r.err, errFarTotal) && farOff && len(r.found) == n:
			exact.Add(1)
		case r.err != nil && why != "":
			unreadable.Add(1)
		default:
			failed.Add(1)
			t.Errorf("seed %d, limit %d: %d of %d rows, %v, %+v\n%s", seed, wanted, len(r.found), n, r.err, r.findings, v)
		}
	})
	t.Logf("%d exact, %d that no client could read and said so, %d wrong", exact.Load(), unreadable.Load(), failed.Load())
}

// A server that changes loses no row that was not touched meanwhile, or fails.
func TestMovingServers(t *testing.T) {
	t.Parallel()
	churns := []churn{
		{inserts: 0.02, updates: 0.03, removals: 0.02},
		{inserts: 0.2, updates: 0.3, touches: 0.1, removals: 0.2},
		{inserts: 1, updates: 2, touches: 0.5, removals: 1},
		{inserts: 0.3},
		{removals: 0.3},
	}
	var clean, gaveUp [5]atomic.Int64
	inParallel(t, testsize.Fewer(*servers/4), func(seed uint64) {
		kind := int(seed % 5)
		v, wanted := drawServer(seed, churns[kind])
		mustLoseNothing(t, v, wanted, seed, &clean[kind], &gaveUp[kind])
	})
	for i := range churns {
		t.Logf("%+v: %d clean passes, %d given up", churns[i], clean[i].Load(), gaveUp[i].Load())
	}
}

func mustLoseNothing(t *testing.T, v *server, wanted int, seed uint64, clean, gaveUp *atomic.Int64) {
	r := v.read(t, wanted)
	if r.err != nil {
		gaveUp.Add(1)
		if *verbose {
			t.Logf("seed %d: %v\n%s", seed, r.err, v)
		}
		return
	}
	clean.Add(1)
	if lost := v.lost(r.found); len(lost) > 0 {
		t.Errorf("seed %d, limit %d: %d of %d rows lost after %d requests, %+v\n%s", seed, wanted, len(lost), len(v.rows), r.requests, r.findings, v)
	}
}

var verbose = flag.Bool("verbose", false, "print the passes that were given up")

// The same with pages cached by address, and with replicas that lag by different amounts.
func TestCachingServers(t *testing.T) {
	t.Parallel()
	var clean, gaveUp atomic.Int64
	inParallel(t, testsize.Fewer(max(20, *servers/40)), func(seed uint64) {
		v, wanted := drawServer(seed, churn{inserts: 0.05, updates: 0.1, touches: 0.02, removals: 0.05})
		lag := 0
		if v.dice.IntN(3) > 0 {
			v.cacheFor = pick(v.dice, 3, 20, 100, 1000)
		}
		if v.cacheFor == 0 || v.dice.IntN(2) == 0 {
			for range 2 + v.dice.IntN(3) {
				v.lags = append(v.lags, v.dice.IntN(30))
				lag = max(lag, v.lags[len(v.lags)-1])
			}
		}
		mustLoseNothing(t, v, wanted, seed, &clean, &gaveUp)
	})
	t.Logf("%d clean passes, %d given up", clean.Load(), gaveUp.Load())
}
