package pull

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"solarmirror/store"
	"solarmirror/sync/platform"
)

// record is a record of a slice, identified.
type record struct {
	raw    []byte
	hash   uint64
	key    store.NaturalKey
	reject error  // why it has no key; nil when it has one
	id     uint64 // stands for the key while the pass lasts, or for the bytes of a record without one
}

// slice is a verified part of a pass: of one page, the records that the pass had not seen before in this form.
type slice struct {
	page    *platform.Page
	records []record
	cursor  int // rows from the start of the list that have been read with this slice
}

// source is where a scan reads: one list of the platform, filtered. Its functions are called by several goroutines at once.
type source struct {
	fetch    func(ctx context.Context, s span) (*platform.Page, error)
	identify func(raw []byte) record
}

// scan reads one pass of a list that moves while it is read; see the package comment.
type scan struct {
	limits       // what the platform allows; learnt on the way
	inFlight int // requests at one time
	resume   *resumption
	ahead    *prefetch

	// Of the pass.
	known   map[uint64]mark
	gone    map[uint64]bool // rows that were missing where they had stood
	rounds  int
	total   int    // the smallest total of the pass, -1 when none can be used
	promise string // what weakens the promise of the pass; "" when nothing does

	// Of the round.
	ids      []uint64 // by order
	path     []uint64 // ids of the last rows before the cursor, as the slices had them; see extend
	seen     int      // distinct rows
	carried  int      // of them, those that the round before had read, too
	cursor   int      // rows from the start of the list that were read
	asked    int      // requests
	backs    int      // steps back
	inverts  int      // rows that had changed places
	back     int      // how far the last step back went; 0 after a step forward
	shorts   int      // short slices in a row
	end      uint64   // id of the last row of the last of them
	repeats  int      // slices in a row that were the one before again
	last     []uint64 // ids of the slice before, which was of lastSpan
	lastSpan span
}

// limits is what a scan must know of the platform's paging.
type limits struct {
	limit  int  // rows asked for at once; no more than the platform's cap
	proven bool // the platform has been seen to answer limit rows, and the same ones in smaller pages
	fixed  bool // only one limit may be used: it is small, or pages of different limits do not agree
}

// mark is what a pass remembers of a row it has read.
type mark struct {
	hash  uint32 // folded
	order uint32 // place among the rows of the round; 0 when it is open
	round uint8
}

// resumption is where a scan that was cut off goes on.
type resumption struct {
	cursor int
	known  map[uint64]mark
}

// maxRounds is how often a pass is read whole before it counts as unstable.
const maxRounds = 8

// minAnchoredLimit is the least limit with which the planner always finds an overlap.
const minAnchoredLimit = 20

func newScan(src source, l limits, inFlight int) *scan {
	l.fixed = l.fixed || l.limit < minAnchoredLimit
	return &scan{
		limits: l, inFlight: inFlight, ahead: &prefetch{source: src, slots: make(chan struct{}, max(1, inFlight))},
		known: map[uint64]mark{}, gone: map[uint64]bool{}, total: -1,
	}
}

// errStopped ends a scan whose reader has had enough.
var errStopped = errors.New("stopped")

// slices yields the pass slice by slice. It ends after the last slice of a pass that can be vouched for, or with the error that
// keeps it from being one.
func (s *scan) slices(ctx context.Context) iter.Seq2[slice, error] {
	return func(yield func(slice, error) bool) {
		defer s.ahead.discard()
		err := s.run(ctx, func(sl slice) error {
			if !yield(sl, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(slice{}, err)
		}
	}
}

// run reads whole rounds until one is in order and holds as many rows as the platform says there are.
func (s *scan) run(ctx context.Context, emit func(slice) error) error {
	before := -1 // rows of the round before, if that was in order
	for {
		s.beginRound()
		if err := s.readRound(ctx, emit); err != nil {
			return err
		}
		inOrder := s.inverts == 0
		missing := s.total - (len(s.known) - len(s.gone))
		switch {
		case inOrder && missing <= 0:
			return nil
		case inOrder && before == s.seen && s.carried == s.seen:
			s.promise = fmt.Sprintf("the platform counts %d rows, two identical passes found %d", s.total, s.seen)
			return nil
		case s.rounds == maxRounds:
			return &UnstableError{Rounds: maxRounds, Moved: s.inverts, Missing: max(0, missing)}
		}
		before = -1
		if inOrder {
			before = s.seen
		}
	}
}

func (s *scan) beginRound() {
	s.rounds++
	s.ids, s.path, s.last = s.ids[:0], s.path[:0], nil
	s.seen, s.carried, s.cursor, s.asked, s.backs, s.inverts, s.back, s.shorts, s.repeats = 0, 0, 0, 0, 0, 0, 0, 0, 0
	if s.rounds == 1 && s.resume != nil {
		s.known, s.seen = s.resume.known, len(s.resume.known)
	}
}

// startAt is where the round goes on after the first page: behind it, or where the scan was cut off.
func (s *scan) startAt(rows int) int {
	if s.rounds == 1 && s.resume != nil {
		return max(rows, s.resume.cursor)
	}
	return rows
}

// readRound reads the list once, whole.
func (s *scan) readRound(ctx context.Context, emit func(slice) error) error {
	for s.cursor == 0 {
		ended, err := s.readFirst(ctx, emit)
		if err != nil || ended && s.seen == 0 {
			return err
		}
		if ended {
			return s.readHead(ctx, emit)
		}
	}
	if s.fixed {
		return s.readBothWays(ctx, emit)
	}
	if err := s.readForward(ctx, emit); err != nil {
		return err
	}
	return s.readHead(ctx, emit)
}

// readForward reads from the cursor to the end of the list.
func (s *scan) readForward(ctx context.Context, emit func(slice) error) error {
	for {
		at := nextSpan(s.cursor, s.limit)
		page, records, err := s.read(ctx, at, s.following(at))
		if err != nil {
			return err
		}
		from := 0
		if at.page > 0 {
			if from = s.anchor(records); from < 0 {
				s.stepBack()
				continue
			}
		}
		s.extend(from, records)
		s.back, s.cursor = 0, at.start()+len(records)
		if err := s.take(page, records, emit); err != nil {
			return err
		}
		if len(records) == at.limit {
			s.shorts = 0
		} else if s.ended(page, records) {
			return nil
		}
	}
}

// ended says whether a short slice is where the list ends. An answer that was cut short looks the same, so the platform's
// total must agree, or the next slice, which begins a little before that end, must end with the same row. Where rows keep being added at
// the end, four short slices in a row will do.
func (s *scan) ended(page *platform.Page, records []record) bool {
	if page.HasTotal && page.Total == s.cursor || len(records) == 0 {
		return true
	}
	last := records[len(records)-1].id
	s.shorts++
	if s.shorts > 1 && last == s.end || s.shorts > 3 {
		return true
	}
	s.end = last
	return false
}

// How far ahead is planned: for each request that may be on its way so many spans, which is enough for the others to go on for a second or two
// while the foremost is tried again; but no more rows than these, since they lie in memory, unless that left requests unused.
const (
	lookAhead = 4
	maxAhead  = 600
)

// following plans what to fetch while a span is looked at, as far as there is a list to fetch. Where its end is not known no more is planned
// than can be on its way.
func (s *scan) following(at span) []span {
	var plan []span
	most := s.inFlight - 1
	if s.total >= 0 {
		most = max(most, min(most*lookAhead, maxAhead/s.limit))
	}
	for len(plan) < most && (s.total < 0 || at.end() < s.total) {
		at = nextSpan(at.end(), s.limit)
		plan = append(plan, at)
	}
	return plan
}

// unchanged says whether the round has read the row before, just as it is.
func (s *scan) unchanged(r record) bool {
	return s.met(r) && s.known[r.id].hash == fold(r.hash)
}

// stepBack moves the cursor back, twice as far as the time before when that was not far enough.
func (s *scan) stepBack() {
	s.back = max(2*s.back, s.limit/2)
	s.backs++
	s.shorts = 0
	s.cursor = max(0, s.cursor-s.back)
	s.ahead.discard()
}

// readHead reads the start of the list again until a slice is all known: what was updated meanwhile may have moved there.
func (s *scan) readHead(ctx context.Context, emit func(slice) error) error {
	for at := (span{0, s.limit}); ; at.page++ {
		page, records, err := s.read(ctx, at, nil)
		if err != nil {
			return err
		}
		news := slices.ContainsFunc(records, func(r record) bool { return !s.unchanged(r) })
		if err := s.take(page, records, emit); err != nil {
			return err
		}
		if !news || len(records) < at.limit {
			return nil
		}
	}
}

// maxRetries is how often a page of which most records have no key is fetched again: that is likelier a passing fault.
const maxRetries = 2

// read fetches one span, and those planned after it meanwhile.
func (s *scan) read(ctx context.Context, at span, then []span) (*platform.Page, []record, error) {
	for retries := 0; ; retries++ {
		page, records, err := s.readOnce(ctx, at, then)
		if err != nil {
			return nil, nil, err
		}
		if mostlyKeyed(records) || retries == maxRetries {
			return page, records, s.notRepeated(at, records)
		}
	}
}

func (s *scan) readOnce(ctx context.Context, at span, then []span) (*platform.Page, []record, error) {
	s.asked++
	if planned := plannedRequests(max(s.seen, s.total), s.limit); s.asked > 3*planned+10 {
		return nil, nil, &ChurnError{Requests: s.asked, Planned: planned, StepsBack: s.backs, Rows: s.seen}
	}
	page, records, err := s.ahead.get(ctx, at, then)
	if err != nil {
		return nil, nil, err
	}
	s.count(page)
	return page, records, nil
}

func mostlyKeyed(records []record) bool {
	keyless := 0
	for _, r := range records {
		if r.reject != nil {
			keyless++
		}
	}
	return keyless <= max(1, len(records)/2)
}

// count notes the platform's total, the smallest of the pass. A total under what was read is none.
func (s *scan) count(page *platform.Page) {
	if page.HasTotal && page.Total > 0 && (s.total < 0 || page.Total < s.total) {
		s.total = page.Total
	}
}

// notRepeated fails when the same rows come for one span after another: the platform does not look at the page number.
func (s *scan) notRepeated(at span, records []record) error {
	ids := make([]uint64, len(records))
	for i, r := range records {
		ids[i] = r.id
	}
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

func samePrefix(a, b []uint64) bool {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return false
		}
	}
	return n > 0
}

// take checks a slice against what was read, remembers it, and hands on the rows that are new or changed. Rows behind all those known
// continue the list; the place of a new row among known ones, or of one that has changed, is left open. The bytes of the rows are gone afterwards.
func (s *scan) take(page *platform.Page, records []record, emit func(slice) error) error {
	s.checkOrder(records)
	fresh := make([]record, 0, len(records))
	from := s.newFrom(records)
	for i, r := range records {
		delete(s.gone, r.id)
		m, known := s.known[r.id]
		if !known || m.hash != fold(r.hash) {
			fresh = append(fresh, r)
		}
		s.mark(r, i >= from)
	}
	err := emit(slice{page: page, records: fresh, cursor: s.cursor})
	page.Release()
	return err
}

// newFrom is behind the last row of a slice that the round has read before.
func (s *scan) newFrom(records []record) int {
	for i := len(records); i > 0; i-- {
		if s.met(records[i-1]) {
			return i
		}
	}
	return 0
}

// met says whether the round has read the row, in whatever form.
func (s *scan) met(r record) bool {
	m, ok := s.known[r.id]
	return ok && int(m.round) == s.rounds
}

// mark remembers a row; continues says that its place is behind all the others.
func (s *scan) mark(r record, continues bool) {
	m, known := s.known[r.id]
	now := mark{hash: fold(r.hash), round: uint8(s.rounds)}
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
			s.ids = append(s.ids, r.id)
			now.order = uint32(len(s.ids))
		}
	}
	s.known[r.id] = now
}

// checkOrder compares a slice with what the round has read: rows that have not changed must stand in the order in which they were read,
// and those that are missing between two of them have left the list or moved.
func (s *scan) checkOrder(records []record) {
	orders := make([]uint32, 0, len(records))
	for _, r := range records {
		if m := s.known[r.id]; s.unchanged(r) && m.order > 0 {
			orders = append(orders, m.order)
		}
	}
	orders = s.withoutMoved(orders)
	for i := 1; i < len(orders); i++ {
		if orders[i] < orders[i-1] {
			s.inverts++
		}
	}
	if len(orders) == 0 || !slices.IsSorted(orders) {
		return
	}
	for _, id := range s.ids[orders[0]-1 : orders[len(orders)-1]] {
		s.gone[id] = true
	}
	for _, r := range records {
		delete(s.gone, r.id)
	}
}

// withoutMoved leaves out rows that were touched and thereby moved to the head or the tail of a list sorted by update, though
// nothing in them has changed: at one end of a slice, some of them, and from more than a page away. An order that is not stable mixes up
// more than that.
func (s *scan) withoutMoved(orders []uint32) []uint32 {
	far := uint32(s.limit)
	for n := s.limit / 4; n > 0 && len(orders) > 1; n-- {
		last := len(orders) - 1
		switch {
		case orders[0] > slices.Min(orders[1:])+far:
			orders = orders[1:]
		case orders[last]+far < slices.Max(orders[:last]):
			orders = orders[:last]
		default:
			return orders
		}
	}
	return orders
}

// fold makes 32 bits of a hash: enough to tell two versions of one row apart.
func fold(hash uint64) uint32 { return uint32(hash ^ hash>>32) }
