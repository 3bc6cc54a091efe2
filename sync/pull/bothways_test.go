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
