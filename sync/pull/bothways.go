package pull

import "context"

// readBothWays reads the list in pages of one size, forward and then backward. Without overlap a row removed from behind the
// cursor hides one from a forward scan, and a row inserted there hides one from a backward scan, but neither hides one
// from both. The promise is weaker all the same, and says so.
func (s *scan) readBothWays(ctx context.Context, emit func(slice) error) error {
	s.promise = "read in pages of one size, forward and back; only the platform's total could show a lost row"
	last := s.cursor / s.limit
	for full := true; full; last++ {
		n, err := s.readPage(ctx, last, emit)
		if err == nil && n < s.limit { // the end, or an answer that was cut short
			n, err = s.readPage(ctx, last, emit)
		}
		if err != nil {
			return err
		}
		full = n == s.limit
	}
	for page := last - 2; page >= 0; page-- {
		if _, err := s.readPage(ctx, page, emit); err != nil {
			return err
		}
	}
	return nil
}

// readPage reads one page without asking what it overlaps, and returns how many rows it has.
func (s *scan) readPage(ctx context.Context, number int, emit func(slice) error) (int, error) {
	page, records, err := s.read(ctx, span{number, s.limit}, nil)
	if err != nil {
		return 0, err
	}
	return len(records), s.take(page, records, emit)
}
