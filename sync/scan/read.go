package scan

import (
	"context"
	"slices"

	"solarmirror/sync/platform"
)

// maxRetries is how often a page is fetched again of which most records have no key: a passing
// fault is likelier.
const maxRetries = 2

// read fetches one span, and those planned after it meanwhile.
func (s *Scan) read(ctx context.Context, at span, then []span) (*platform.Page, []Record, error) {
	for retries := 0; ; retries++ {
		s.asked++
		if planned := PlannedRequests(max(s.seen, s.total), s.Limit); !s.paged && s.asked > 3*planned+10 {
			return nil, nil, &ChurnError{Requests: s.asked, Planned: planned, StepsBack: s.stepsBack, Rows: s.seen}
		}
		page, records, err := s.ahead.get(ctx, at, then)
		if err != nil {
			return nil, nil, err
		}
		if mostlyKeyed(records) || retries == maxRetries {
			s.count(page)
			return page, records, s.notRepeated(at, records)
		}
	}
}

// probe fetches a span that may be refused, which counts as no rows. The rows are looked at only.
func (s *Scan) probe(ctx context.Context, at span) (refused bool, records []Record, err error) {
	s.ahead.discard()
	if s.BeforeWaiting != nil {
		if err := s.BeforeWaiting(); err != nil {
			return false, nil, err
		}
	}
	probe := s.ahead.Probe
	if at.way > 0 {
		probe = func(ctx context.Context, page, limit int) (*platform.Page, error) {
			return s.ahead.Again(ctx, at.way, page, limit)
		}
	}
	page, err := probe(ctx, at.page, at.limit)
	if err != nil && !Refused(err) {
		return false, nil, err
	}
	if err != nil {
		if !behindEnd(err) { // or the platform is down
			if _, down := s.ahead.Probe(ctx, 0, s.Limit); down != nil {
				return false, nil, down
			}
		}
		return true, nil, nil
	}
	for _, raw := range page.Records {
		records = append(records, s.ahead.Identify(raw))
	}
	return false, records, nil
}

func mostlyKeyed(records []Record) bool {
	keyless := 0
	for _, r := range records {
		if r.Reject != nil {
			keyless++
		}
	}
	return keyless <= max(1, len(records)/2)
}

// count notes the platform's total, the smallest of the pass.
func (s *Scan) count(page *platform.Page) {
	if !s.IgnoreTotal && page.HasTotal && page.Total > 0 && (s.total < 0 || page.Total < s.total) {
		s.total = page.Total
	}
}

// notRepeated fails when the same rows come for one span after another: the platform ignores the
// page number. Pages of one size have their own rule, since there a list may end so.
func (s *Scan) notRepeated(at span, records []Record) error {
	if s.paged {
		return nil
	}
	ids := idsOf(records)
	same := at.start() != s.lastSpan.start() && at.page > 0 && len(ids) > 1 && samePrefix(ids, s.last)
	s.last, s.lastSpan = ids, at
	if !same {
		s.repeats = 0
		return nil
	}
	if s.repeats++; s.repeats == 3 {
		return &RepeatedPageError{Rows: len(ids)}
	}
	s.ahead.discard()
	return nil
}

func idsOf(records []Record) []uint64 {
	ids := make([]uint64, len(records))
	for i, r := range records {
		ids[i] = r.ID
	}
	return ids
}

func samePrefix(a, b []uint64) bool {
	n := min(len(a), len(b))
	return n > 0 && slices.Equal(a[:n], b[:n])
}

// take checks a slice against what was read, remembers it, and hands on the rows that are new or
// changed. Rows behind all those known continue the list while it is read forward; the place of any
// other new row, and of one that has changed, is left open. The bytes of the rows are gone
// afterwards.
func (s *Scan) take(at span, page *platform.Page, records []Record, emit emitter) error {
	s.responses++
	s.checkOrder(at.start(), records)
	fresh := make([]Record, 0, len(records))
	from := s.newFrom(records)
	for i, r := range records {
		delete(s.gone, r.ID)
		m, known := s.known[r.ID]
		if !known || m.hash != fold(r.Hash) {
			fresh = append(fresh, r)
		}
		s.mark(r, s.forward && i >= from)
	}
	err := emit(Slice{Page: page, Records: fresh, Cursor: s.cursor})
	page.Release()
	return err
}

// newFrom is the index behind the last row of a slice that the round has read before.
func (s *Scan) newFrom(records []Record) int {
	for i := len(records); i > 0; i-- {
		if s.met(records[i-1]) {
			return i
		}
	}
	return 0
}

// met says whether the round has read the row, in whatever form.
func (s *Scan) met(r Record) bool {
	m, ok := s.known[r.ID]
	return ok && int(m.round) == s.rounds
}

// unchanged says whether the round has read the row before, just as it is.
func (s *Scan) unchanged(r Record) bool {
	return s.met(r) && s.known[r.ID].hash == fold(r.Hash)
}

// mark remembers a row; continues says that its place is behind all the others.
func (s *Scan) mark(r Record, continues bool) {
	m, known := s.known[r.ID]
	now := mark{hash: fold(r.Hash), round: uint8(s.rounds)}
	switch {
	case s.met(r) && m.hash == now.hash:
		return // it keeps its place
	case s.met(r):
	default:
		s.seen++
		if known && int(m.round) == s.rounds-1 {
			s.carried++
		}
		if continues {
			s.ids = append(s.ids, r.ID)
			now.order = uint32(len(s.ids))
		}
	}
	s.known[r.ID] = now
}

// checkOrder compares a slice with what the round has read: rows that have not changed must stand
// in the order in which they were read, and those that are missing between two of them have left
// the list or moved.
func (s *Scan) checkOrder(start int, records []Record) {
	orders, ids := make([]uint32, 0, len(records)), make([]uint64, 0, len(records))
	for _, r := range records {
		if m := s.known[r.ID]; s.unchanged(r) && m.order > 0 {
			orders, ids = append(orders, m.order), append(ids, r.ID)
		}
	}
	from, to := s.withoutMoved(start, orders)
	for _, id := range slices.Concat(ids[:from], ids[to:]) {
		m := s.known[id]
		m.order = 0
		s.known[id] = m
	}
	if orders = orders[from:to]; len(orders) < 2 {
		return
	}
	inverts := 0
	for i := 1; i < len(orders); i++ {
		if orders[i] < orders[i-1] {
			inverts++
		}
	}
	s.checked = append(s.checked, check{start, inverts})
	if inverts > 0 {
		return
	}
	for i := 1; i < len(orders); i++ {
		if orders[i]-orders[i-1] > uint32(s.Limit/2) { // it is one of the two that moved
			continue
		}
		for place := orders[i-1] + 1; place < orders[i]; place++ {
			s.gone[s.ids[place-1]] = true
		}
	}
	for _, r := range records {
		delete(s.gone, r.ID)
	}
}

// withoutMoved returns the part of a slice without rows at its ends that came from more than a page
// away, or, at the front of the list, from anywhere.
func (s *Scan) withoutMoved(start int, orders []uint32) (from, to int) {
	far := uint32(s.Limit)
	front := far
	if start == 0 {
		front = 0
	}
	for to = len(orders); to-from > 1; {
		switch {
		case orders[from] > slices.Min(orders[from+1:to])+front:
			from++
		case orders[to-1]+far < slices.Max(orders[from:to-1]):
			to--
		default:
			return from, to
		}
	}
	return from, to
}

// check is how many rows of a slice stood in another order than they were read in before.
type check struct{ start, inverts int }

// moved counts the rows that had changed places in the round. In a list sorted by update a row that
// is touched moves to the head or the tail, though nothing in it may have changed: slices there do
// not count, unless they are most of the list.
func (s *Scan) moved() int {
	slices.SortStableFunc(s.checked, func(a, b check) int { return a.start - b.start })
	all, disordered := 0, 0
	for _, c := range s.checked {
		if all += c.inverts; c.inverts > 0 {
			disordered++
		}
	}
	if 2*disordered > len(s.checked) {
		return all
	}
	inner := s.checked
	for len(inner) > 0 && inner[0].inverts > 0 {
		all -= inner[0].inverts
		inner = inner[1:]
	}
	for len(inner) > 0 && inner[len(inner)-1].inverts > 0 {
		all -= inner[len(inner)-1].inverts
		inner = inner[:len(inner)-1]
	}
	return all
}
