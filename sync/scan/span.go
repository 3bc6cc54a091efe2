package scan

// span is a part of a list as the platform can be asked for it: page number page, counted from 0,
// of limit rows.
type span struct {
	page, limit int
	way         int // of asking for it; see Source.Again
}

func (s span) start() int { return s.page * s.limit }
func (s span) end() int   { return s.start() + s.limit }

// wantedOverlap is how many rows before the cursor a span should read again. Rows removed from
// behind the cursor pull the rest of the list forward, that many at most between two requests
// without anything being missed; what is more than that shows in the first row being unknown.
const wantedOverlap = 3

// nextSpan plans the request after the first cursor rows of a list were read: of the spans that
// start at least overlap rows before the cursor, and have no more than limit rows, the one that
// ends furthest. Where no such span ends beyond the cursor the overlap shrinks, to nothing in the
// end; the overlap there is comes back. Only limits under 20 ever come to that: every greater one
// has a smaller limit that does not divide the cursor.
func nextSpan(cursor, limit int) (best span) {
	if cursor == 0 {
		return span{0, limit, 0}
	}
	for overlap := min(wantedOverlap, cursor); best.end() <= cursor; overlap-- {
		best = span{}
		for l := limit; l > 0; l-- {
			if s := (span{(cursor - overlap) / l, l, 0}); s.end() > best.end() {
				best = s
			}
		}
	}
	return best
}

// PlannedRequests is about how many requests reading rows of a still list takes: a span is cut
// short on average by the overlap and by what does not divide.
func PlannedRequests(rows, limit int) int {
	return rows*4/(limit*3) + 2
}
