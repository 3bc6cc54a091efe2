package scan

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"solarmirror/sync/platform"
)

// gate answers the fetches of a prefetch when it is told to, and keeps account of them.
type gate struct {
	mu        sync.Mutex
	begun     []span
	running   int
	most      int
	cancelled int
	open      map[span]chan struct{}
}

func (g *gate) fetch(ctx context.Context, at span) (*platform.Page, error) {
	g.mu.Lock()
	g.begun = append(g.begun, at)
	g.running++
	g.most = max(g.most, g.running)
	wait := g.open[at]
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.running--
	}()
	if wait == nil {
		return &platform.Page{Total: at.start()}, nil
	}
	select {
	case <-wait:
		return &platform.Page{Total: at.start()}, nil
	case <-ctx.Done():
		g.mu.Lock()
		defer g.mu.Unlock()
		g.cancelled++
		return nil, ctx.Err()
	}
}

// hasBegun says whether all that is queued is being fetched.
func (g *gate) hasBegun(queue []*future) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !slices.ContainsFunc(queue, func(f *future) bool { return !slices.Contains(g.begun, f.span) })
}

// What was planned is fetched once; another plan throws away what was fetched for the old one, and
// waits until that has ended.
func TestPrefetch(t *testing.T) {
	t.Parallel()
	spans := func(pages ...int) []span {
		list := make([]span, len(pages))
		for i, page := range pages {
			list[i] = span{page, 10, 0}
		}
		return list
	}
	never := make(chan struct{})
	g := &gate{open: map[span]chan struct{}{{3, 10, 0}: never, {4, 10, 0}: never}}
	p := &prefetch{Source: fetching(g.fetch), slots: make(chan struct{}, 3)}
	for i, step := range []struct {
		at   int
		then []span
	}{
		{0, spans(1, 2)}, {1, spans(2, 3)}, {2, spans(3, 4)}, // as planned
		{1, nil}, // a step back: 3 and 4 are thrown away
		{2, nil},
	} {
		for !g.hasBegun(p.queue) {
			runtime.Gosched()
		}
		page, _, err := p.get(t.Context(), span{step.at, 10, 0}, step.then)
		if err != nil || page.Total != step.at*10 {
			t.Fatalf("step %d: %+v, %v", i, page, err)
		}
	}
	p.discard()
	if g.running != 0 || g.cancelled != 2 {
		t.Errorf("%d fetches running, %d were cancelled", g.running, g.cancelled)
	}
	first := slices.Clone(g.begun)
	slices.SortFunc(first, func(a, b span) int { return a.page - b.page })
	if want := spans(0, 1, 1, 2, 2, 3, 4); !slices.Equal(first, want) {
		t.Errorf("fetched %v, want %v", first, want)
	}
	if g.most > 3 {
		t.Errorf("%d fetches at one time", g.most)
	}
}

// A page that comes shortly is waited for as it is; before a longer wait someone is told.
func TestPrefetchTellsOfLongWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for takes, want := range map[time.Duration]int{0: 0, shortWait - 1: 0, shortWait + 1: 1} {
			told := 0
			p := &prefetch{slots: make(chan struct{}, 1), beforeWait: func() error { told++; return nil }}
			p.Fetch = func(context.Context, int, int) (*platform.Page, error) {
				time.Sleep(takes)
				return &platform.Page{}, nil
			}
			if page, _, err := p.get(t.Context(), span{0, 10, 0}, nil); err != nil || page == nil || told != want {
				t.Errorf("after %v: page %v, error %v, told %d times", takes, page, err, told)
			}
			p.discard()
		}
	})
}

// A scan has no more requests on their way than it may, and none when it has ended, whether it came
// to its end, failed or was left.
func TestScanPrefetchesWithinItsLimit(t *testing.T) {
	t.Parallel()
	failing := errors.New("no more")
	for name, c := range map[string]struct {
		failAt  int
		leaveAt int
	}{"to the end": {}, "failing": {failAt: 9}, "left": {leaveAt: 6}} {
		for _, inFlight := range []int{1, 2, 4, 8} {
			l := newMovingList(1, "id", 900, churn{})
			g := &gate{}
			var mu sync.Mutex
			fetches := 0
			s := New(fetching(func(ctx context.Context, at span) (*platform.Page, error) {
				if _, err := g.fetch(ctx, at); err != nil {
					return nil, err
				}
				mu.Lock()
				defer mu.Unlock()
				if fetches++; fetches == c.failAt {
					return nil, failing
				}
				return l.fetch(ctx, at)
			}), Options{Limit: 50, InFlight: inFlight})
			slices, rows := 0, 0
			var failed error
			for sl, err := range s.Slices(t.Context()) {
				slices++
				rows += len(sl.Records)
				failed = err
				if slices == c.leaveAt {
					break
				}
			}
			if (c.failAt > 0) != errors.Is(failed, failing) {
				t.Errorf("%s: ended with %v", name, failed)
			}
			if name == "to the end" && rows != 900 {
				t.Errorf("%d rows", rows)
			}
			if g.running != 0 || g.most > inFlight {
				t.Errorf("%s: %d fetches running, %d at one time of %d allowed", name, g.running, g.most, inFlight)
			}
		}
	}
}

// What lies ahead in memory is bounded by rows, but never less than what may be on its way.
func TestScanLooksNoFurtherAhead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ limit, inFlight, total, want int }{
		{50, 4, 100_000, 12}, {100, 4, 100_000, 6}, {500, 4, 100_000, 3}, {20, 4, 100_000, 12}, {50, 1, 100_000, 0},
		{50, 4, -1, 3}, {50, 4, 60, 1}, {500, 8, 100_000, 7},
	} {
		s := New(Source{}, Options{Limit: c.limit, InFlight: c.inFlight})
		s.total = c.total
		if got := len(s.following(span{0, c.limit, 0})); got != c.want {
			t.Errorf("%+v: %d spans", c, got)
		}
	}
}

// While one request is tried again the others go on: the limiter is kept full as long as that takes
// them to read ten spans more, and never are more on their way than may be.
func TestScanReadsOnWhileOneIsTriedAgain(t *testing.T) {
	t.Parallel()
	l := newMovingList(1, "id", 2000, churn{})
	l.total = func(n int) (int, bool) { return n, true }
	var mu sync.Mutex
	running, most, beyond := 0, 0, 0
	enough := make(chan struct{})
	s := New(fetching(func(ctx context.Context, at span) (*platform.Page, error) {
		mu.Lock()
		defer mu.Unlock()
		running++
		defer func() { running-- }()
		most = max(most, running)
		if at.start() > 300 {
			if beyond++; beyond == 11 {
				close(enough)
			}
		}
		if beyond == 1 && at.start() > 300 {
			mu.Unlock()
			select {
			case <-enough:
			case <-time.After(30 * time.Second):
				t.Error("the others wait for the one")
			}
			mu.Lock()
		}
		return l.fetch(ctx, at)
	}), Options{Limit: 50, InFlight: 4})
	found, err := collect(s.Slices(t.Context()))
	if err != nil || len(found) != 2000 || most > 4 {
		t.Errorf("%d rows, %v, %d requests at one time", len(found), err, most)
	}
}

// What is thrown away does not count: a list that moves while it is fetched ahead loses nothing.
func TestPrefetchOfMovingList(t *testing.T) {
	t.Parallel()
	for seed := range uint64(*seeds) {
		for _, order := range []string{"created-asc", "created-desc", "updated-asc", "updated-desc", "id"} {
			l := newMovingList(seed, order, 300, churn{inserts: 0.2, updates: 0.3, removals: 0.4})
			var mu sync.Mutex
			s := New(fetching(func(ctx context.Context, at span) (*platform.Page, error) {
				mu.Lock()
				defer mu.Unlock()
				return l.fetch(ctx, at)
			}), Options{Limit: 50, InFlight: 4})
			found, err := collect(s.Slices(t.Context()))
			if err != nil {
				continue
			}
			if lost := l.lost(found); len(lost) > 0 {
				t.Errorf("%s, seed %d: %d rows lost: %v", order, seed, len(lost), lost)
			}
		}
	}
}
