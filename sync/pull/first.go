package pull

import (
	"context"
	"slices"

	"solarmirror/sync/platform"
)

// readFirst reads the start of the list and finds out how many rows the platform gives at once. ended says that this
// was all there is. Where it leaves the cursor at 0, the start is to be read again.
func (s *scan) readFirst(ctx context.Context, emit func(slice) error) (ended bool, err error) {
	at := span{0, s.limit}
	page, records, err := s.read(ctx, at, nil)
	if err == nil && len(records) == 0 { // an empty list is believed the second time
		page, records, err = s.read(ctx, at, nil)
	}
	if err != nil {
		return false, err
	}
	if len(records) == 0 { // handed on all the same: it says when the scan began
		return true, emit(slice{page: page})
	}
	if len(records) < s.limit {
		if ended, err = s.endsAt(ctx, page, len(records)); err != nil || !ended {
			return false, err
		}
	} else if !s.proven {
		if err := s.compareLimits(ctx, records); err != nil {
			return false, err
		}
	}
	if s.cursor = s.startAt(len(records)); s.cursor == len(records) {
		s.extend(0, records)
	}
	return ended, s.take(page, records, emit)
}

// trials is how often in a row the platform must show that it pages in an unusual way before that is believed, and remembered. A list that moves
// between two requests can look like it by chance: of 20,000 passes over lists of which a twentieth changed with each request, two trials were
// once mistaken, and a row lost that way.
const trials = 4

// endsAt tells a list that ends on its first page, after so many rows, from an answer that was cut short and from a platform that
// clamps the limit without a word. The total agrees, or else the page after it, in pages of the size received, is empty. Where it is not,
// and the first page is as short again and again, and there is a second page of the limit asked for, the size received becomes the limit.
func (s *scan) endsAt(ctx context.Context, page *platform.Page, rows int) (bool, error) {
	if page.HasTotal && page.Total == rows {
		return true, nil
	}
	_, after, err := s.read(ctx, span{1, rows}, nil)
	if err != nil || len(after) == 0 {
		return err == nil, err
	}
	for range trials {
		_, again, err := s.read(ctx, span{0, s.limit}, nil)
		if err != nil || len(again) != rows {
			return false, err
		}
		_, second, err := s.read(ctx, span{1, s.limit}, nil)
		if err != nil || len(second) == 0 {
			return false, err
		}
	}
	s.limit, s.proven, s.fixed = rows, true, rows < minAnchoredLimit
	return false, nil
}

// compareLimits checks that pages of different limits are cut from the same list: that the second half of the first page
// is the second page of half the size. Where they differ although the first page stands still, and differ every time, only one
// limit can be used. A list that keeps moving is given the benefit of the doubt until the next scan.
func (s *scan) compareLimits(ctx context.Context, first []record) error {
	half := s.limit / 2
	for range trials {
		_, second, err := s.read(ctx, span{1, half}, nil)
		if err != nil {
			return err
		}
		if slices.EqualFunc(second, first[half:2*half], sameID) {
			s.proven = true
			return nil
		}
		_, again, err := s.read(ctx, span{0, s.limit}, nil)
		if err != nil {
			return err
		}
		if !slices.EqualFunc(first, again, sameID) {
			return nil
		}
	}
	s.proven, s.fixed = true, true
	return nil
}

func sameID(a, b record) bool { return a.id == b.id }
