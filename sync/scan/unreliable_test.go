package scan

import (
	"context"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/cespare/xxhash/v2"

	"solarmirror/store/testsize"
	"solarmirror/sync/platform"
)

// A platform that answers with nothing for a while, from any request on, costs no row: the pass is
// whole, or it says that it is not.
func TestScanOfListThatIsEmptyForAWhile(t *testing.T) {
	t.Parallel()
	clean, drawn := 0, testsize.Fewer(100**seeds)
	for seed := range uint64(drawn) {
		d := rand.New(rand.NewPCG(seed, 2))
		c := []churn{{}, {inserts: 2, updates: 3, removals: 2}}[d.IntN(2)]
		l := newMovingList(seed, []string{"created-desc", "created-asc", "updated-asc", "id"}[d.IntN(4)], d.IntN(400), c)
		l.cap = []int{50, 50, 30, 10}[d.IntN(4)]
		from, many := 2+d.IntN(40), 1+d.IntN(1+d.IntN(40))
		s := New(fetching(func(ctx context.Context, at span) (*platform.Page, error) {
			page, err := l.fetch(ctx, at)
			if l.requests >= from && l.requests < from+many {
				page.Records = nil
			}
			return page, err
		}), Options{Limit: 50, InFlight: 1})
		found, err := collect(s.Slices(t.Context()))
		if err != nil {
			continue
		}
		clean++
		if lost := l.lost(found); len(lost) > 0 {
			t.Errorf("seed %d: %d empty answers from request %d on: %d of %d rows lost", seed, many, from, len(lost), len(l.rows))
		}
	}
	t.Logf("%d of %d passes were whole", clean, drawn)
}

// A scan that was cut off goes on in a list that has moved meanwhile, and loses nothing of what has
// kept still since it began, however the platform pages.
func TestScanGoesOn(t *testing.T) {
	t.Parallel()
	clean, drawn := 0, testsize.Fewer(30**seeds)
	for seed := range uint64(drawn) {
		d := rand.New(rand.NewPCG(seed, 3))
		orders := []string{"created-desc", "created-asc", "updated-asc", "updated-desc", "id"}
		moving := churn{inserts: 2, updates: 5, removals: 1}
		l := newMovingList(seed, orders[d.IntN(len(orders))], d.IntN(200), moving)
		limit := []int{10, 20, 50}[d.IntN(3)]
		read := func(o Options, slices int) (found map[int]int, last Slice, err error) {
			found = map[int]int{}
			for sl, err := range New(fetching(l.fetch), o).Slices(t.Context()) {
				if err != nil {
					return found, last, err
				}
				for _, r := range sl.Records {
					row := parseRow(r.Raw)
					found[row.id] = row.version
				}
				last = sl
				if slices--; slices == 0 {
					return found, last, errStopped
				}
			}
			return found, last, nil
		}
		found, last, err := read(Options{Limit: limit, InFlight: 1}, 1+d.IntN(60))
		if err == nil {
			continue
		}
		l.churn = []churn{{}, moving}[d.IntN(2)]
		known := map[uint64]uint64{}
		for id, version := range found {
			known[uint64(id)] = xxhash.Sum64(listRow{id: id, version: version}.json())
		}
		more, _, err := read(Options{Limit: limit, InFlight: 1, Resume: &Resumption{Cursor: last.Cursor, Known: known}}, -1)
		if err != nil {
			continue
		}
		maps.Copy(found, more)
		clean++
		if lost := l.lost(found); len(lost) > 0 {
			t.Errorf("seed %d, %s, limit %d: %d of %d rows lost", seed, l.order, limit, len(lost), len(l.rows))
		}
	}
	t.Logf("%d of %d passes were whole", clean, drawn)
}

// Pages behind the first that are the first again look like the end of a list of one page, unless
// a page of another size holds more.
func TestScanOfListWhoseSecondPageRepeatsTheFirst(t *testing.T) {
	t.Parallel()
	for _, rows := range []int{51, 55, 80, 100} {
		l := newMovingList(1, "created-desc", rows, churn{})
		l.cap = 50
		for _, times := range []int{2, 3, 6} {
			left := times
			s := New(fetching(func(ctx context.Context, at span) (*platform.Page, error) {
				if at == (span{1, 50, 0}) && left > 0 {
					at.page, left = 0, left-1
				}
				return l.fetch(ctx, at)
			}), Options{Limit: 50, Sizes: SizesOne, InFlight: 1, IgnoreTotal: true})
			found, err := collect(s.Slices(t.Context()))
			if lost := l.lost(found); err != nil || len(lost) > 0 {
				t.Errorf("%d times: %d of %d rows lost, %v", times, len(lost), rows, err)
			}
		}
	}
}

// A platform that now and then answers a page with the one before it costs no row.
func TestScanOfPagesThatRepeat(t *testing.T) {
	t.Parallel()
	clean, drawn := 0, testsize.Fewer(100**seeds)
	for seed := range uint64(drawn) {
		d := rand.New(rand.NewPCG(seed, 9))
		l := newMovingList(seed, "created-desc", d.IntN(150), churn{})
		share, sizes, limit := 0.05+0.25*d.Float64(), []Sizes{SizesUnknown, SizesOne}[d.IntN(2)], []int{10, 50}[d.IntN(2)]
		s := New(fetching(func(ctx context.Context, at span) (*platform.Page, error) {
			if at.page > 0 && d.Float64() < share {
				at.page--
			}
			return l.fetch(ctx, at)
		}), Options{Limit: limit, InFlight: 1, IgnoreTotal: true, Sizes: sizes})
		found, err := collect(s.Slices(t.Context()))
		if err != nil {
			continue
		}
		clean++
		if lost := l.lost(found); len(lost) > 0 {
			t.Errorf("seed %d: %d of %d rows lost", seed, len(lost), len(l.rows))
		}
	}
	t.Logf("%d of %d passes were whole", clean, drawn)
}

// A platform that honours the limit on its first page and gives fewer rows on every later one is
// not read as if it had ended there.
func TestScanOfListWhoseLaterPagesAreShorter(t *testing.T) {
	t.Parallel()
	for _, later := range []int{10, 25, 30, 45, 49} {
		for _, rows := range []int{51, 60, 130, 230, 400} {
			l := newMovingList(1, "created-desc", rows, churn{})
			s := New(fetching(func(ctx context.Context, at span) (*platform.Page, error) {
				page, err := l.fetch(ctx, at)
				if at.page > 0 && len(page.Records) > later {
					page.Records = page.Records[:later]
				}
				return page, err
			}), Options{Limit: 50, InFlight: 1})
			found, err := collect(s.Slices(t.Context()))
			if lost := l.lost(found); err == nil && len(lost) > 0 {
				t.Errorf("%d rows on later pages: %d of %d rows lost", later, len(lost), rows)
			}
		}
	}
}
