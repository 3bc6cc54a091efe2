package scan

import (
	"testing"

	"pgregory.net/rapid"
)

// Whatever the cap and wherever the cursor, the next span goes on from it, overlaps what was read,
// and asks for no more than the cap.
func TestNextSpanAlwaysProgresses(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		limit := rapid.IntRange(1, 500).Draw(rt, "cap")
		cursor := rapid.IntRange(0, 2_000_000).Draw(rt, "cursor")
		s := nextSpan(cursor, limit)
		overlap := cursor - s.start()
		if s.limit < 1 || s.limit > limit {
			rt.Fatalf("%+v asks for more than %d", s, limit)
		}
		if s.end() <= cursor {
			rt.Fatalf("%+v does not pass %d", s, cursor)
		}
		if overlap < 0 {
			rt.Fatalf("%+v starts behind %d", s, cursor)
		}
		if limit >= minAnchoredLimit && overlap < min(wantedOverlap, cursor) {
			rt.Fatalf("%+v overlaps %d by %d only", s, cursor, overlap)
		}
	})
}

// Every cap, with every small cursor or, of large caps, every few: rapid would only sample them.
func TestNextSpanExhaustively(t *testing.T) {
	t.Parallel()
	for limit := 1; limit <= 500; limit++ {
		for cursor := 0; cursor <= 1500; cursor += 1 + limit/100 {
			s := nextSpan(cursor, limit)
			overlap := cursor - s.start()
			if s.end() <= cursor || s.limit > limit || overlap < 0 {
				t.Fatalf("cap %d, cursor %d: %+v", limit, cursor, s)
			}
			if limit >= minAnchoredLimit && overlap < min(wantedOverlap, cursor) {
				t.Fatalf("cap %d, cursor %d: overlap %d", limit, cursor, overlap)
			}
		}
	}
}

// At a cap of 50 the overlap costs no more than a third more requests, and PlannedRequests is about
// right.
func TestNextSpanCost(t *testing.T) {
	t.Parallel()
	for _, rows := range []int{500, 1_000, 10_000, 100_000, 300_000} {
		const limit = 50
		requests := 0
		for cursor := 0; cursor < rows; requests++ {
			s := nextSpan(cursor, limit)
			cursor = s.end()
		}
		plain := (rows + limit - 1) / limit
		if ratio := float64(requests) / float64(plain); ratio > 1.35 {
			t.Errorf("%d rows: %d requests, %.2f times those of plain paging", rows, requests, ratio)
		} else {
			t.Logf("%d rows: %d requests, %.3f times those of plain paging", rows, requests, ratio)
		}
		if planned := PlannedRequests(rows, limit); planned < requests {
			t.Errorf("%d rows: %d planned, %d needed", rows, planned, requests)
		}
	}
}
