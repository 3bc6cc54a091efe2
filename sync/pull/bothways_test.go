package pull

import (
	"context"
	"math/rand/v2"
	"testing"

	"solarmirror/sync/platform"
)

// Where pages of one size are all there is to go by, a page that comes in the place of another is noticed, wherever the scan begins: the list is
// read again, until a round had none of them, or the pass fails.
func TestRepeatedPagesOfOneSize(t *testing.T) {
	t.Parallel()
	right, failed := 0, 0
	for seed := range uint64(max(100, *seeds)) {
		rows := 30 + int(seed)%150
		l := newMovingList(seed, "id", rows, churn{})
		dice := rand.New(rand.NewPCG(seed, 1))
		s := newScan(source{identify: identifyRow, fetch: func(ctx context.Context, at span) (*platform.Page, error) {
			if at.page > 0 && dice.IntN(8) == 0 {
				at.page--
			}
			return l.fetch(ctx, at)
		}}, limits{limit: 25, proven: true, fixed: true}, 1)
		found := map[uint64]bool{}
		var err error
		for sl, failure := range s.slices(t.Context()) {
			err = failure
			for _, r := range sl.records {
				found[r.id] = true
			}
		}
		switch {
		case err != nil:
			failed++
		case len(found) == rows:
			right++
		default:
			t.Errorf("seed %d: %d of %d rows, and nothing was noticed", seed, len(found), rows)
		}
	}
	t.Logf("%d lists read right, %d failed", right, failed)
	if right == 0 {
		t.Error("no list was read")
	}
}

// What a list that moves can look like by chance, twice as well, is not taken for the platform's way of paging: a smaller page that is not where
// it should be beside a first page that stands still, and a list that seems to be cut at the size of its first page.
func TestPagingIsNotToldByChance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		asked    span
		answered span
	}{
		{"a smaller page", span{1, 10}, span{2, 10}},
		{"a short list", span{0, 20}, span{0, 19}},
	} {
		for times, fixed := range map[int]bool{1: false, 2: false, trials + 1: true} {
			l, odd := newMovingList(1, "id", 30, churn{}), 0
			s := newScan(source{identify: identifyRow, fetch: func(ctx context.Context, at span) (*platform.Page, error) {
				if at == c.asked && odd < times {
					odd++
					at = c.answered
				}
				return l.fetch(ctx, at)
			}}, limits{limit: 20}, 1)
			_, err := collect(s.slices(t.Context()))
			if err != nil || s.fixed != fixed {
				t.Errorf("%s, %d times: fixed %v, %v", c.name, times, s.fixed, err)
			}
		}
	}
}
