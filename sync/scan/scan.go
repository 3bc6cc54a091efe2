package scan

import (
	"context"
	"errors"
	"iter"
	"slices"

	"solarmirror/sync/platform"
)

// Record is a record of a slice, identified by the reader.
type Record struct {
	Raw    []byte
	Hash   uint64    // of Raw
	Key    [2]string // the natural key; empty when Reject is set
	Reject error     // why the record has no key; nil when it has one
	ID     uint64    // stands for Key while the pass lasts, or for Raw of a record without a key
}

// Slice is what one answer added to a pass: the records that the pass had not met before in this
// form.
type Slice struct {
	Page    *platform.Page
	Records []Record
	Cursor  int // rows from the start of the list of which none was missed; 0 in pages of one size
}

// Source is one list of the platform, filtered. Pages are counted from 0. Several goroutines call
// its functions at once.
type Source struct {
	// Fetch returns a page, and repeats passing failures.
	Fetch func(ctx context.Context, page, limit int) (*platform.Page, error)
	// Probe is Fetch for a request that may well be refused.
	Probe func(ctx context.Context, page, limit int) (*platform.Page, error)
	// Again is Fetch in another way: by another address for the same page. Ways are counted from 1.
	// It is nil where there is none.
	Again    func(ctx context.Context, way, page, limit int) (*platform.Page, error)
	Identify func(raw []byte) Record
}

// Sizes says which page sizes a platform honours.
type Sizes string

// Values of Sizes. The zero value has the scan find out.
const (
	SizesUnknown Sizes = ""
	SizesAny     Sizes = "any" // every size up to the limit
	SizesOne     Sizes = "one" // only the limit can be relied on
)

// Options is what is known of the platform's paging before a scan begins.
type Options struct {
	Limit         int // rows asked for at once, at most the platform's cap
	Sizes         Sizes
	InFlight      int  // requests at one time
	IgnoreTotal   bool // the platform's total is not this list's own
	Resume        *Resumption
	LookBeyond    bool         // pages some way behind the end are asked for, too: a list may have holes
	BeforeWaiting func() error // called before a longer wait for a page; its error ends the scan
}

// Resumption is where an interrupted scan goes on.
type Resumption struct {
	Cursor int
	Known  map[uint64]uint64 // hash by ID of what was read and has not changed since
}

// Findings is what a scan has found out beside the records.
type Findings struct {
	Limit int
	Sizes Sizes
	// Promise says what the pass relies on where snapshots alone do not prove it; "" when they do.
	Promise string
	// Total is higher than Found where the platform counts more rows than there are, although the
	// end of the list was proved. Whoever reads the list decides what that means.
	Total, Found int
}

// Scan reads one pass of a list that may move meanwhile. It belongs to one goroutine.
type Scan struct {
	Options
	ahead *prefetch

	// Of the pass.
	findings  Findings
	paged     bool // read in pages of one size
	known     map[uint64]mark
	gone      map[uint64]bool // rows that were missing where they had stood
	rounds    int
	total     int // the smallest total of the pass, -1 when none can be used
	responses int // answers that were taken
	pages     paging

	round
}

// round is the state of one reading of the whole list.
type round struct {
	ids       []uint64 // by order
	path      []uint64 // ids of the last rows before the cursor, as the slices had them
	trimmed   int      // rows that were cut off the front of path
	shift     int      // by how much the platform's positions are ahead of those in path
	sway      int      // the greatest change of shift between two full slices
	seen      int      // distinct rows
	carried   int      // of them, those that the round before had read, too
	cursor    int      // rows from the start of the list that were read
	asked     int      // requests
	stepsBack int
	step      int     // how far the last step back went; 0 after a step forward
	checked   []check // slices whose order was compared
	forward   bool    // what is read follows on what was read
	end       endProof
	last      []uint64 // ids of the slice before, which was of lastSpan
	lastSpan  span
	repeats   int  // slices in a row that were the one before again
	emptied   bool // nothing was answered where rows had been listed
	repeated  bool // a page was answered for a later one
}

// mark is what a pass remembers of a row it has read.
type mark struct {
	hash  uint32 // folded
	order uint32 // place among the rows of the round; 0 when it is open
	round uint8
}

// maxRounds is how often a list is read whole before it counts as unstable.
const maxRounds = 8

// enoughRounds is after how many rounds in order a total that is too high no longer asks for
// another.
const enoughRounds = 4

// minAnchoredLimit is the least limit with which the planner always finds an overlap.
const minAnchoredLimit = 20

// New returns a scan of a list.
func New(src Source, o Options) *Scan {
	s := &Scan{
		Options: o, ahead: &prefetch{Source: src, slots: make(chan struct{}, max(1, o.InFlight)), beforeWait: o.BeforeWaiting},
		known: map[uint64]mark{}, gone: map[uint64]bool{}, total: -1,
	}
	s.findings.Limit, s.findings.Sizes = o.Limit, o.Sizes
	return s
}

// Findings returns what the scan has found out so far.
func (s *Scan) Findings() Findings { return s.findings }

// errStopped ends a scan whose reader has had enough.
var errStopped = errors.New("stopped")

// emitter hands a slice on.
type emitter func(Slice) error

// Slices yields the pass slice by slice. It ends after the last slice of a pass that can be
// vouched for, or with the error that keeps it from being one.
func (s *Scan) Slices(ctx context.Context) iter.Seq2[Slice, error] {
	return func(yield func(Slice, error) bool) {
		defer s.ahead.discard()
		err := s.run(ctx, func(sl Slice) error {
			if !yield(sl, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(Slice{}, err)
		}
	}
}

// run reads whole rounds until one is in order and holds as many rows as the platform counts.
func (s *Scan) run(ctx context.Context, emit emitter) error {
	before := -1 // rows of the round before, if that was in order
	inOrder := 0 // rounds in order
	for {
		s.beginRound()
		proven, err := s.readRound(ctx, emit)
		if errors.Is(err, errOtherSizes) {
			before = -1
			continue
		}
		if err != nil {
			return err
		}
		moved := s.moved()
		proven = proven && moved == 0 && !s.emptied && !s.repeated
		missing := s.total - (len(s.known) - len(s.gone))
		if proven {
			inOrder++
		}
		switch {
		case proven && missing <= 0:
			if more, err := s.lookBeyond(ctx); err != nil || !more {
				return err
			}
			if s.rounds > enoughRounds {
				return &UnstableError{Rounds: s.rounds, Emptied: true}
			}
		case proven && (before == s.seen && s.carried == s.seen || inOrder == enoughRounds):
			s.findings.Total, s.findings.Found = s.total, s.total-missing
			return s.proveEnd(ctx)
		case s.rounds >= maxRounds:
			return &UnstableError{Rounds: s.rounds, Moved: moved, Missing: max(0, missing), Emptied: s.emptied}
		}
		before = -1
		if proven {
			before = s.seen
		}
	}
}

// errOtherSizes ends a round whose page sizes turned out not to be honoured.
var errOtherSizes = errors.New("the page sizes are not honoured")

func (s *Scan) beginRound() {
	s.rounds++
	s.round = round{ids: s.ids[:0], path: s.path[:0], forward: true}
	if s.rounds == 1 && s.Resume != nil {
		for id, hash := range s.Resume.Known {
			s.known[id] = mark{hash: fold(hash), round: 1}
		}
		s.seen = len(s.known)
	}
}

// readRound reads the list once, whole. proven says that no row can have been missed.
func (s *Scan) readRound(ctx context.Context, emit emitter) (proven bool, err error) {
	if s.paged {
		return s.readPages(ctx, emit)
	}
	for s.cursor == 0 {
		ended, err := s.readFirst(ctx, emit)
		switch {
		case err != nil:
			return false, err
		case s.paged:
			return false, errOtherSizes
		case ended && s.seen == 0:
			return true, nil
		case ended:
			return true, s.readHead(ctx, emit)
		}
	}
	if err := s.readForward(ctx, emit); err != nil || s.emptied {
		return false, err
	}
	return true, s.readHead(ctx, emit)
}

// proveEnd asks for the pages right after the last row where the platform counts more rows than
// were found.
func (s *Scan) proveEnd(ctx context.Context) error {
	limits := []int{s.Limit, max(1, s.Limit-1)}
	if s.paged {
		limits = limits[:1]
	}
	for _, limit := range limits {
		for more := range 2 {
			page := (s.cursor+limit-1)/limit + more
			if s.paged {
				page = len(s.pages.bounds) - 1 + more
			}
			_, records, err := s.probe(ctx, span{page, limit, 0})
			if err != nil {
				return err
			}
			for _, r := range records {
				if _, known := s.known[r.ID]; !known {
					return &UnstableError{Rounds: s.rounds, Missing: s.findings.Total - s.findings.Found}
				}
			}
		}
	}
	return nil
}

// lookBeyond says whether there are rows right behind the end: the list was answered with nothing
// for a while, or has grown; in a list that grows they are others each time. It fails where there
// are some a few pages behind an empty one: the platform filters after it cuts the list into pages.
func (s *Scan) lookBeyond(ctx context.Context) (more bool, err error) {
	if !s.LookBeyond {
		return false, nil
	}
	end := (s.cursor + s.Limit - 1) / s.Limit
	if s.paged {
		end = len(s.pages.bounds) - 1
	}
	for _, behind := range []int{2, 5, 11} {
		_, records, err := s.probe(ctx, span{end + behind, s.Limit, 0})
		if err != nil {
			return false, err
		}
		if !s.holdsUnmet(records) {
			continue
		}
		_, right, err := s.probe(ctx, span{end, s.Limit, 0})
		if err == nil && len(right) == 0 {
			err = &SparseError{Page: end, Full: len(records)}
		}
		if err != nil {
			return false, err
		}
		break // the list has grown, or the page behind its end was answered with nothing before
	}
	return s.standsStill(ctx, span{end, s.Limit, 0}) // last: by now an outage may be over
}

// standsStill says whether a span has a row that the round has not read, and ends with the same row
// when it is asked for again.
func (s *Scan) standsStill(ctx context.Context, at span) (bool, error) {
	last := uint64(0)
	for range 2 {
		_, records, err := s.probe(ctx, at)
		if err != nil || !s.holdsUnmet(records) {
			return false, err
		}
		id := records[len(records)-1].ID
		if id == last {
			return true, nil
		}
		last = id
	}
	return false, nil
}

// holdsUnmet says whether a row is among these that the round has not read.
func (s *Scan) holdsUnmet(records []Record) bool {
	return slices.ContainsFunc(records, func(r Record) bool { return !s.met(r) })
}

// fold makes 32 bits of a hash: enough to tell two versions of one row apart.
func fold(hash uint64) uint32 { return uint32(hash ^ hash>>32) }
