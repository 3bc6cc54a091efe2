package scan

import (
	"cmp"
	"context"
	"slices"
)

// readFirst reads the start of the list and finds out how the platform pages it. ended says that
// this was all there is. Where it leaves the cursor at 0, the start is to be read again.
func (s *Scan) readFirst(ctx context.Context, emit emitter) (ended bool, err error) {
	at := span{0, s.Limit, 0}
	page, records, err := s.read(ctx, at, nil)
	if err == nil && len(records) == 0 { // an empty list is believed the second time
		page, records, err = s.read(ctx, at, nil)
	}
	if err != nil {
		return false, err
	}
	if len(records) == 0 { // handed on all the same: it says when the scan began
		s.emptied = len(s.known) > 0
		return true, emit(Slice{Page: page})
	}
	first, total := idsOf(records), page.HasTotal && !s.IgnoreTotal && page.Total == len(records)
	s.cursor = s.startAt(len(first))
	if s.cursor == len(first) {
		s.extend(0, records)
	}
	if err := s.take(at, page, records, emit); err != nil {
		return false, err
	}
	if len(first) >= s.Limit {
		return false, s.trySizes(ctx, first)
	}
	if ended, err = s.endsAt(ctx, first, total); !ended {
		s.cursor = 0
	}
	return ended, err
}

// startAt is where the round goes on after the first page: behind it, or where the scan was cut
// off.
func (s *Scan) startAt(rows int) int {
	if s.rounds == 1 && s.Resume != nil {
		return max(rows, s.Resume.Cursor)
	}
	return rows
}

// endsAt tells a list that ends on its first page from an answer that was cut short, and from a
// platform that answers fewer rows than it was asked for. The page after it must bring nothing, in
// the size received and in the size asked for. Otherwise the size received becomes the limit, or,
// where that is not honoured either, the list is read in pages of one size.
func (s *Scan) endsAt(ctx context.Context, first []uint64, asCounted bool) (bool, error) {
	rows := len(first)
	_, inSize, err := s.probe(ctx, span{1, rows, 0})
	if err != nil {
		return false, err
	}
	smaller := beyond(first, inSize)
	if len(inSize) == 0 && asCounted {
		return true, nil
	}
	if s.Sizes == SizesUnknown { // the platform may answer with nothing for a while
		if _, again, err := s.probe(ctx, span{0, s.Limit, 0}); err != nil || len(again) == 0 {
			s.emptied = true
			return true, err
		}
	}
	_, asAsked, err := s.probe(ctx, span{1, s.Limit, 0})
	if err != nil {
		return false, err
	}
	greater := beyond(first, asAsked)
	if len(smaller) == 0 && len(greater) == 0 {
		if len(inSize) == 0 && len(asAsked) == 0 {
			return true, nil
		}
		_, third, err := s.probe(ctx, span{2, s.Limit, 0})
		if err != nil {
			return false, err
		}
		if len(third) == 0 {
			return true, nil
		}
		if len(beyond(first, third)) == 0 {
			return true, s.pageNumbersCount(ctx, first)
		}
	}
	for range 2 { // an answer that was cut short is longer the next time
		_, again, err := s.probe(ctx, span{0, s.Limit, 0})
		if err != nil || len(again) != rows {
			return false, err
		}
	}
	if len(smaller) == 0 || rows >= s.Limit-s.Limit/8 && s.rounds > 1 {
		s.usePages() // the size received is no size to ask for
		return false, nil
	}
	s.Limit, s.findings.Limit = rows, rows
	return false, nil
}

// beyond returns the rows that are not among those of the first page.
func beyond(first []uint64, records []Record) (list []Record) {
	for _, r := range records {
		if !slices.Contains(first, r.ID) {
			list = append(list, r)
		}
	}
	return list
}

// fewRows is how many rows are too few to tell a page number that is ignored from a list that ends.
const fewRows = 4

// pageNumbersCount fails where the second page of a list is its first page in every size, so that
// it cannot be told whether the platform looks at the page number. A page of another size that
// holds more shows that the list does not end on its first page.
func (s *Scan) pageNumbersCount(ctx context.Context, first []uint64) error {
	for _, limit := range append([]int{odd(len(first) / 2)}, usualLimits()...) {
		if limit >= len(first) || len(first) <= fewRows {
			continue
		}
		for _, page := range []int{1, 2} { // where it is not known yet what the first page is
			_, records, err := s.probe(ctx, span{page, limit, 0})
			if err != nil {
				return err
			}
			if len(records) > 0 && records[0].ID != first[0] {
				s.repeated = s.repeated || len(beyond(first, records)) > 0
				return nil
			}
		}
	}
	if len(first) <= fewRows || s.total == len(first) {
		return nil
	}
	return &RepeatedPageError{Rows: len(first)}
}

// odd returns the next number from n on that no usual page size is a multiple or a part of.
func odd(n int) int {
	for n = max(3, n); n%2 == 0 || n%5 == 0; n++ {
	}
	return n
}

// trySizes asks for parts of the first page in other sizes, unless the answer is known. A part that
// lies within rows that were read is as long as it was asked to be, and about where it should be,
// also in a list that moves: so this takes no list for another that merely moves.
func (s *Scan) trySizes(ctx context.Context, first []uint64) error {
	if s.Limit < minAnchoredLimit || len(first) != s.Limit || s.Sizes == SizesOne {
		s.usePages()
		return nil
	}
	if s.Sizes == SizesAny {
		return nil
	}
	s.findings.Sizes = SizesOne
	for _, limit := range []int{odd(s.Limit / 2), odd(s.Limit / 4), odd(s.Limit / 6)} {
		at := span{s.Limit/limit - 1, limit, 0}
		refused, records, err := s.probe(ctx, at)
		if err != nil {
			return err
		}
		if refused || len(records) == 0 {
			if _, start, err := s.probe(ctx, span{0, limit, 0}); err != nil || len(start) == limit {
				return cmp.Or(err, error(&HiddenRowsError{Page: at.page, Limit: limit}))
			}
		}
		if refused || len(records) != limit || !stands(at.start(), first, records) {
			s.usePages()
			return nil
		}
	}
	s.Sizes, s.findings.Sizes = SizesAny, SizesAny
	return nil
}

// stands says whether rows are about where they should be among those that were read.
func stands(start int, read []uint64, records []Record) bool {
	at, ok := standing(read, records)
	return ok && abs(at-start) <= 2+len(records)/4
}

// standing returns where rows stand among those that were read, by the median of them, since some
// may have moved.
func standing(read []uint64, records []Record) (start int, ok bool) {
	var starts []int
	for i, r := range records {
		if at := slices.Index(read, r.ID); at >= 0 {
			starts = append(starts, at-i)
		}
	}
	if len(starts) == 0 {
		return 0, false
	}
	slices.Sort(starts)
	return starts[len(starts)/2], true
}

// usePages has the list read in pages of one size from the next round on.
func (s *Scan) usePages() {
	s.paged = true
	s.ahead.discard()
}
