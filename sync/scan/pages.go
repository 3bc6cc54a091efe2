package scan

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// paging is the state of a list that is read in pages of one size.
type paging struct {
	ids     []uint64            // of the round, forward, each where it was first met
	bounds  []int               // where each page begins in ids, and the end of the last
	answers []answer            // of each page
	ended   bool                // an answer showed the end of the list behind the last row
	seenIn  map[uint64][4]place // where a row stood in the last answers that held it
	others  []alternative       // other ways to ask for the same rows; empty when there are none
	settled bool                // others was found out
}

// answer is what a page held.
type answer struct {
	rows int
	hash uint64 // of their ids
}

// place is the number of an answer and the index of a row in it. The zero value is none.
type place uint32

const indexBits = 10 // pages of more rows share their last index

func placeOf(answer, index int) place {
	return place(answer<<indexBits | min(index, 1<<indexBits-1))
}

func (p place) answer() int { return int(p >> indexBits) }

// alternative is another way to ask for pages and what the platform makes of it.
type alternative struct {
	span     // but for the page
	rows int // of a page
}

// readPages reads the list forward, until two pages in a row bring nothing new, and then backward.
// Between two pages, in the seam, a row may be missed. A seam is closed by an answer that holds
// rows of both sides: whatever stands between them is in it. Lists that move close most of their
// seams so, since pages are cut elsewhere each time. Where nothing has moved seams are closed by
// that: everything up to the seam and the page behind it was read twice, in other places, and was
// the same. proven says that all are closed.
func (s *Scan) readPages(ctx context.Context, emit emitter) (proven bool, err error) {
	if s.pages.seenIn == nil {
		s.pages.seenIn = map[uint64][4]place{}
	}
	if err := s.readPagesForward(ctx, emit); err != nil || s.emptied {
		return false, err
	}
	thin, isThin := s.thinPage()
	if len(s.openSeams()) == 0 && s.pages.ended && !isThin {
		return true, nil
	}
	s.forward = false
	if err := s.findAlternatives(ctx); err != nil {
		return false, err
	}
	moved, err := s.readPagesBackward(ctx, emit)
	if err != nil {
		return false, err
	}
	if isThin {
		if s.rounds >= sparseRounds {
			if still, err := s.stillThin(ctx, thin); err != nil || still {
				return false, cmp.Or(err, error(&thin))
			}
		}
		return false, nil
	}
	if !s.pages.ended && moved < len(s.pages.ids) {
		return false, nil
	}
	open, promise, err := s.closeSeams(ctx, moved, emit)
	if err != nil || open > 0 {
		return false, err
	}
	s.findings.Promise = promise
	return true, nil
}

// thinPage returns a page that is not the last and holds fewer rows than others, unless as many
// rows were found as the platform counts.
func (s *Scan) thinPage() (thin SparseError, ok bool) {
	if s.total >= 0 && s.seen >= s.total {
		return SparseError{}, false
	}
	full := 0
	for number, a := range s.pages.answers[:len(s.pages.answers)-1] {
		full = max(full, a.rows, s.pages.answers[number+1].rows)
		if a.rows < full {
			return SparseError{Page: number, Rows: a.rows, Full: full}, true
		}
	}
	return SparseError{}, false
}

// stillThin says whether a page is thin whenever it is asked for, with rows behind it. A page may
// have been the last of a list that grew right afterwards, or an answer may have been cut short.
func (s *Scan) stillThin(ctx context.Context, thin SparseError) (bool, error) {
	for range 3 {
		_, records, err := s.probe(ctx, span{thin.Page, s.Limit, 0})
		if err != nil || len(records) >= thin.Full {
			return false, err
		}
		_, behind, err := s.probe(ctx, span{thin.Page + 1, s.Limit, 0})
		if err != nil || len(behind) == 0 {
			return false, err
		}
	}
	return true, nil
}

// closeSeams reads the pages at open seams again while the list moves on, and says how many stay
// open. moved is where the first row stands that was elsewhere in the second reading.
func (s *Scan) closeSeams(ctx context.Context, moved int, emit emitter) (open int, promise string, err error) {
	for budget := 40 + len(s.pages.bounds); ; {
		promise = ""
		var seams []int
		for _, seam := range s.openSeams() {
			if s.pages.bounds[seam+2] > moved {
				seams = append(seams, seam)
			} else {
				promise = "read in pages of one size; rows at the edges of pages rest on a second reading that was the same"
			}
		}
		if budget -= 2 * len(seams); len(seams) == 0 || budget < 0 {
			return len(seams), promise, nil
		}
		for _, seam := range seams {
			for _, number := range []int{seam + 1, seam} {
				if _, _, err := s.readPage(ctx, span{number, s.Limit, 0}, nil, emit); err != nil && !behindEnd(err) {
					return 0, "", err
				}
			}
		}
	}
}

// maxThin is how many pages may bring few new rows, beside half of all.
const maxThin = 20

// sparseRounds is after how many rounds pages of various lengths are the platform's way.
const sparseRounds = 4

// endPages is how many pages in a row without a new row end a list.
const endPages = 2

func (s *Scan) readPagesForward(ctx context.Context, emit emitter) error {
	p := &s.pages
	p.ids, p.answers, p.bounds, p.ended = p.ids[:0], p.answers[:0], append(p.bounds[:0], 0), false
	end := 0                               // pages up to the last one with a new row
	thin := 0                              // pages that brought few new rows
	again := false                         // the page behind them is read a second time, and the last of them if it was full
	repeating := false                     // pages behind the first hold rows of the first
	var behind struct{ empty, again bool } // what answered since the last new row: nothing, the page before
	for number := 0; ; number++ {
		before := s.seen
		ids, news, err := s.readPage(ctx, span{number, s.Limit, 0}, s.followingPages(number), emit)
		if err != nil && (number == 0 || !behindEnd(err)) {
			return err
		}
		p.ids = append(p.ids, news...)
		p.bounds = append(p.bounds[:number+1], len(p.ids))
		p.answers = append(p.answers[:number], answer{len(ids), hashOf(ids)})
		if number >= end && 2*(s.seen-before) < p.bounds[1] {
			thin++
		}
		if thin > maxThin+number/2 { // the list grows while its end is read
			return &ChurnError{Requests: s.asked, Planned: PlannedRequests(s.seen, s.Limit), Rows: s.seen}
		}
		if len(news) > 0 {
			s.repeated = s.repeated || behind.again
			behind.empty, behind.again = false, false
			end, again = number+1, false
			p.ended = len(ids) < p.answers[0].rows
			continue
		}
		if len(ids) > 0 && ids[len(ids)-1] == p.ids[len(p.ids)-1] {
			p.ended = true
		}
		switch {
		case len(ids) == 0 && (number == 0 || again && number == end-1):
			s.emptied = true
			return nil
		case again && number == end-1:
			continue
		}
		repeating = len(ids) > 0
		behind.empty = behind.empty || len(ids) == 0
		behind.again = behind.again || len(ids) > 0 && number > 0 && p.answers[number] == p.answers[number-1]
		if number+1-end < endPages && !again {
			continue
		}
		p.bounds, p.answers = p.bounds[:end+1], p.answers[:end]
		p.ids = p.ids[:p.bounds[end]]
		if again {
			break
		}
		if again, number = true, end-1; !p.ended {
			number--
		}
	}
	// A platform that pads its list answers every page behind the end alike.
	s.repeated = s.repeated || behind.again && behind.empty
	if end == 1 && repeating {
		return s.pageNumbersCount(ctx, p.ids)
	}
	return nil
}

// followingPages plans the pages behind one, as far as there is a list to fetch.
func (s *Scan) followingPages(number int) []span {
	var plan []span
	for len(plan) < s.planned() && (s.total < 0 || (number+1)*s.Limit < s.total) {
		number++
		plan = append(plan, span{number, s.Limit, 0})
	}
	return plan
}

// readPagesBackward reads the list from its end to its start, in another way than forward where the
// platform has one. moved is the place of the first row that does not stand where it stood.
func (s *Scan) readPagesBackward(ctx context.Context, emit emitter) (moved int, err error) {
	p := &s.pages
	moved = len(p.ids)
	as := alternative{span: span{limit: s.Limit}}
	if len(p.others) > 0 { // where pages have various sizes there is none
		as = p.others[(s.rounds-1)%len(p.others)]
	}
	bounds := p.bounds
	if as.rows > 0 {
		bounds = nil
		for at := 0; at < len(p.ids); at += as.rows {
			bounds = append(bounds, at)
		}
		bounds = append(bounds, len(p.ids))
	}
	for number := len(bounds) - 2; number >= 0; number-- {
		var then []span
		for n := number - 1; n >= 0 && len(then) < s.planned(); n-- {
			then = append(then, span{n, as.limit, as.way})
		}
		ids, _, err := s.readPage(ctx, span{number, as.limit, as.way}, then, emit)
		if err != nil && !behindEnd(err) {
			return 0, err
		}
		from, to := bounds[number], bounds[number+1]
		same := slices.Equal(ids, p.ids[from:to])
		if as.rows == 0 {
			same = hashOf(ids) == p.answers[number].hash
		} else if to == len(p.ids) && len(ids) <= to { // perhaps filled up with rows before it
			same = slices.Equal(ids, p.ids[to-len(ids):])
		}
		if !same {
			moved = from
		}
	}
	return moved, nil
}

// findAlternatives looks for other limits that pages can be asked for with: answers may be cached
// by address, so that the same address shows nothing twice; and pages of another size have their
// edges elsewhere. It is called right before they are used, or it would itself fill the cache too
// early.
func (s *Scan) findAlternatives(ctx context.Context) error {
	p := &s.pages
	if p.settled || len(p.answers) < 2 {
		return nil
	}
	p.settled = true
	var candidates []span
	if s.Limit < minAnchoredLimit { // such a platform may know many sizes, which shows more than the same pages again
		candidates = append(candidates, span{1, s.Limit - 1, 0}, span{1, s.Limit - 2, 0})
	}
	if s.ahead.Again != nil {
		candidates = append(candidates, span{1, s.Limit, 1}, span{1, s.Limit, 2})
	}
	for _, limit := range []int{s.Limit - 1, s.Limit - 2, s.Limit - 3, s.Limit / 2, 25, 20, 10, 5} {
		candidates = append(candidates, span{1, limit, 0})
	}
	for _, at := range candidates {
		if at.limit < 1 || at.limit > s.Limit || len(p.others) == 2 {
			continue
		}
		rows, err := s.rowsOf(ctx, at)
		if err != nil {
			return err
		}
		if 3*rows >= p.answers[0].rows {
			p.others = append(p.others, alternative{at, rows})
		}
	}
	return nil
}

// rowsOf returns how many rows a page has when it is asked for in another way; 0 where pages asked
// for so do not follow on one another.
func (s *Scan) rowsOf(ctx context.Context, at span) (int, error) {
	_, first, err := s.probe(ctx, at)
	rows := len(first)
	if err != nil || rows == 0 || first[rows-1].ID == s.pages.ids[len(s.pages.ids)-1] {
		return 0, err
	}
	start, known := standing(s.pages.ids, first)
	if len(s.pages.answers) < 4 {
		if !known || abs(start-rows) > 2+rows/4 {
			rows = 0
		}
		return rows, nil
	}
	at.page++
	_, second, err := s.probe(ctx, at)
	if err != nil || !known || !stands(start+rows, s.pages.ids, second) {
		return 0, err
	}
	return rows, nil
}

// openSeams returns the pages behind which a seam is open: of the two rows before it and the two
// after it no answer held three, in their order.
func (s *Scan) openSeams() (open []int) {
	p := &s.pages
	for page := range len(p.bounds) - 2 {
		at := p.bounds[page+1]
		around := p.ids[max(0, at-2):min(len(p.ids), at+2)]
		if !s.seenTogether(around, min(3, len(around))) {
			open = append(open, page)
		}
	}
	return open
}

// seenTogether says whether an answer held so many of the rows in this order. A row that was
// touched and stands elsewhere now, unchanged, does not count.
func (s *Scan) seenTogether(ids []uint64, wanted int) bool {
	last := map[int]place{} // by answer
	counts := map[int]int{}
	for _, id := range ids {
		for _, at := range s.pages.seenIn[id] {
			answer := at.answer()
			if at == 0 || at <= last[answer] {
				continue
			}
			last[answer] = at
			if counts[answer]++; counts[answer] == wanted {
				return true
			}
		}
	}
	return false
}

// readPage reads one page; news are the rows that the round had not met.
func (s *Scan) readPage(ctx context.Context, at span, then []span, emit emitter) (ids, news []uint64, err error) {
	page, records, err := s.read(ctx, at, then)
	if err != nil {
		s.ahead.discard()
		return nil, nil, err
	}
	for i, r := range records {
		if !s.met(r) {
			news = append(news, r.ID)
		}
		in := s.pages.seenIn[r.ID]
		copy(in[1:], in[:3])
		in[0] = placeOf(s.responses+1, i)
		s.pages.seenIn[r.ID] = in
	}
	return idsOf(records), news, s.take(at, page, records, emit)
}

func hashOf(ids []uint64) uint64 {
	h := xxhash.New()
	for _, id := range ids {
		_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, id)) // never fails
	}
	return h.Sum64()
}
