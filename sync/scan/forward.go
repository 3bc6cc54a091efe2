package scan

import (
	"context"
	"slices"
)

// maxStray is how many slices of a round may stand or end elsewhere than their page and limit say,
// before the list is read in pages of one size.
const maxStray = 6

// readForward reads from the cursor to the end of the list, each slice anchored in the one before.
func (s *Scan) readForward(ctx context.Context, emit emitter) error {
	for {
		// At the end the same span would be asked for again: a smaller limit has another address.
		at := nextSpan(s.cursor, s.Limit-s.end.same-s.end.stray%4)
		page, records, err := s.read(ctx, at, s.following(at))
		if err != nil && !(behindEnd(err) && at.page > 0) {
			return err
		}
		if err != nil { // the list has become shorter
			s.stepBack()
			continue
		}
		from := 0
		switch {
		case at.page == 0 && len(records) == 0:
			s.emptied = true
			return nil
		case at.page == 0:
			s.trimmed, s.shift = 0, 0
		case len(s.path) == 0: // of a scan that was cut off
			s.shift = at.start()
			fallthrough
		default:
			if from = s.anchor(records); from < 0 {
				s.stepBack()
				continue
			}
		}
		ended := s.place(at, s.trimmed+from, records)
		s.end.total = page.HasTotal && !s.IgnoreTotal && page.Total == s.cursor
		s.extend(from, records)
		s.step = 0
		if err := s.take(at, page, records, emit); err != nil {
			return err
		}
		if ended(s.end) {
			capped, err := s.cappedAtEnd(ctx)
			if err != nil || !capped {
				return err
			}
			s.end.stray = maxStray + 1
		}
		if s.end.stray > maxStray || len(records) > at.limit {
			s.usePages()
			s.findings.Sizes = SizesUnknown // a list that moves much can look like this
			return errOtherSizes
		}
	}
}

// cappedAtEnd says whether there are rows behind an end that only short slices speak for, each of
// which ended elsewhere: the platform gives fewer rows than asked for. In a list that grows there are
// rows, too, but others each time.
func (s *Scan) cappedAtEnd(ctx context.Context) (bool, error) {
	if s.end.total || s.end.same > 0 {
		return false, nil
	}
	return s.standsStill(ctx, nextSpan(s.cursor, s.Limit/2))
}

// endProof is what speaks for the end of a list.
type endProof struct {
	last  uint64 // id of the last row of the slice before
	same  int    // slices in a row that ended with it, less one
	short int    // short slices in a row, all where they should stand
	stray int    // slices that stood or ended elsewhere than they should
	total bool   // the slice ends where the platform's total says
}

// place takes over where a slice stands: index is the place of its first row in the path. A full
// slice may have moved with the list. A short one is believed only where it stands as exactly as
// the full ones did: a platform that rounds the limit answers from another place. The function
// returned says whether the list has ended: with short slices, or with full ones that stay the same
// where a platform pads its last page.
func (s *Scan) place(at span, index int, records []Record) (ended func(endProof) bool) {
	moved := index - (at.start() - s.shift)
	last := records[len(records)-1].ID
	if last == s.end.last {
		s.end.same++
	} else {
		s.end.last, s.end.same = last, 0
	}
	switch {
	case len(records) == at.limit:
		if moved >= 0 { // it ends where it was asked to
			s.end.same = 0
		}
		s.sway = max(s.sway, abs(moved))
		s.shift, s.cursor, s.end.short = at.start()-index, at.end(), 0
		return func(e endProof) bool { return e.same >= 2 }
	case len(records) < at.limit && abs(moved) <= s.sway:
		s.shift, s.cursor = at.start()-index, at.start()+len(records)
		s.end.short++
		return func(e endProof) bool { return e.total || e.short > 1 && e.same > 0 || e.short > 3 }
	}
	s.end.stray++
	s.end.short = 0
	s.cursor = index + len(records) + s.shift
	return func(endProof) bool { return false }
}

func abs(n int) int { return max(n, -n) }

// How far ahead is planned: for each request that may be on its way so many spans, which is enough
// for the others to go on for a second or two while the foremost is tried again; but no more rows
// than these, since they lie in memory, unless that left requests unused.
const (
	lookAhead = 4
	maxAhead  = 600
)

// following plans what to fetch while a span is looked at, as far as there is a list to fetch.
// Where its end is not known no more is planned than can be on its way.
func (s *Scan) following(at span) []span {
	var plan []span
	for len(plan) < s.planned() && (s.total < 0 || at.end() < s.total) {
		at = nextSpan(at.end(), s.Limit)
		plan = append(plan, at)
	}
	return plan
}

// planned is how many spans to plan.
func (s *Scan) planned() int {
	most := s.InFlight - 1
	if s.total >= 0 {
		most = max(most, min(most*lookAhead, maxAhead/s.Limit))
	}
	return most
}

// stepBack moves the cursor back, twice as far as the time before when that was not far enough.
func (s *Scan) stepBack() {
	s.step = max(2*s.step, s.Limit/2)
	s.stepsBack++
	s.end.short, s.end.same = 0, 0
	s.cursor = max(0, s.cursor-s.step)
	s.ahead.discard()
}

// readHead reads the start of the list again until a slice is all known: what was updated meanwhile
// may have moved there. It asks for one row less than the first time, since answers may be cached
// by address.
func (s *Scan) readHead(ctx context.Context, emit emitter) error {
	s.forward = false
	limit := s.Limit
	if s.Sizes == SizesAny {
		limit--
	}
	for at := (span{0, limit, 0}); ; at.page++ {
		page, records, err := s.read(ctx, at, nil)
		if err != nil && behindEnd(err) {
			return nil // the list has become shorter
		}
		if err != nil {
			return err
		}
		known := !slices.ContainsFunc(records, func(r Record) bool { return !s.unchanged(r) })
		if err := s.take(at, page, records, emit); err != nil {
			return err
		}
		if known || len(records) < at.limit {
			return nil
		}
	}
}
