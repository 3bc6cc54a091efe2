package pull

import (
	"context"
	"slices"
)

// readBothWays reads the list in pages of one size, forward and then backward. Without overlap a row removed from behind the
// cursor hides one from a forward scan, and a row inserted there hides one from a backward scan, but neither hides one
// from both. The promise is weaker all the same, and says so. A page that is another one again hides the rows that should stand there: the round
// counts as out of order, and the list is read again.
func (s *scan) readBothWays(ctx context.Context, emit func(slice) error) error {
	s.promise = "read in pages of one size, forward and back; only the platform's total could show a lost row"
	last := s.cursor / s.limit
	for full := true; full; last++ {
		n, err := s.readPage(ctx, last, s.allMet, emit)
		if err == nil && n < s.limit { // the end, or an answer that was cut short
			n, err = s.readPage(ctx, last, s.allMet, emit)
		}
		if err != nil {
			return err
		}
		full = n == s.limit
	}
	for page := last - 2; page >= 0; page-- {
		if _, err := s.readPage(ctx, page, func([]record) bool { return s.repeats > 0 }, emit); err != nil {
			return err
		}
	}
	return nil
}

// allMet says whether the round has read all of some rows before.
func (s *scan) allMet(records []record) bool {
	return !slices.ContainsFunc(records, func(r record) bool { return !s.met(r) })
}

// readPage reads one page without asking what it overlaps, and returns how many rows it has. repeats says of a full page whether it is
// another one again.
func (s *scan) readPage(ctx context.Context, number int, repeats func([]record) bool, emit func(slice) error) (int, error) {
	page, records, err := s.read(ctx, span{number, s.limit}, nil)
	if err != nil {
		return 0, err
	}
	if len(records) == s.limit && s.limit > 1 && repeats(records) {
		s.inverts++
	}
	return len(records), s.take(page, records, emit)
}
