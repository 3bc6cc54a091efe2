package scan

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"solarmirror/sync/platform"
)

// Numbering is how a platform numbers its pages and how long they may be.
type Numbering struct {
	First    int    // number of the first page
	Known    bool   // First was seen, not assumed: a list of one page may not show it
	Limit    int    // the greatest limit that is not refused, at most the one wanted
	Envelope string // form of the last answer seen
}

// Probe asks for a page, numbered as the platform numbers it.
type Probe func(ctx context.Context, page, limit int) (*platform.Page, error)

// FindFirstPage has the number of the first page found by asking.
const FindFirstPage = -1

// usualLimits are tried where the limit wanted is refused, the round ones first.
func usualLimits() []int {
	return []int{400, 200, 100, 50, 25, 20, 10, 5,
		300, 256, 250, 150, 128, 120, 90, 80, 75, 64, 60, 48, 40, 36, 32, 30, 24, 18, 16, 15, 12, 9, 8, 7, 6, 4, 3, 2, 1}
}

// Meet finds out by way of one list how the platform numbers its pages; first is the number of the
// first page, or FindFirstPage, and before the limit found earlier, or 0.
func Meet(ctx context.Context, probe Probe, wanted, first, before int) (Numbering, error) {
	m := &meeting{probe: probe, first: first}
	if err := m.findLimit(ctx, wanted, before); err != nil {
		return Numbering{}, fmt.Errorf("finding the page limit: %w", err)
	}
	if first != FindFirstPage {
		m.First, m.Known = first, true
	} else if err := m.findFirst(ctx); err != nil {
		return Numbering{}, fmt.Errorf("finding the first page: %w", err)
	}
	return m.Numbering, nil
}

type meeting struct {
	Numbering
	probe Probe
	first int
}

// ask returns the pages 0 and 1 of a limit, and whether each was refused. Only the first page is
// asked for where its number is given. The error is the last refusal where both were, or another
// failure.
func (m *meeting) ask(ctx context.Context, limit int) (pages [2][][]byte, refused [2]bool, err error) {
	numbers := []int{0, 1}
	if m.first != FindFirstPage {
		numbers = []int{m.first}
		refused = [2]bool{true, true}
	}
	for _, number := range numbers {
		page, failure := m.probe(ctx, number, limit)
		if failure != nil && !Refused(failure) {
			return pages, refused, failure
		}
		if refused[number] = failure != nil; failure != nil {
			err = failure
			continue
		}
		pages[number], m.Envelope = page.Records, page.Envelope
	}
	if !refused[0] || !refused[1] {
		err = nil
	}
	return pages, refused, err
}

// accepts says whether a page of the limit is answered at all. A list that is not empty has a page
// 1 or a page 0.
func (m *meeting) accepts(ctx context.Context, limit int) (bool, error) {
	if m.first == FindFirstPage {
		if _, err := m.probe(ctx, 1, limit); err == nil || !Refused(err) {
			return err == nil, err
		}
	}
	_, err := m.probe(ctx, max(0, m.first), limit)
	if err != nil && Refused(err) {
		return false, nil
	}
	return err == nil, err
}

// findLimit finds the greatest limit up to the wanted one that is not refused: the one found
// before, one of the usual ones, or one between that and the next that was tried. The wanted one
// must be refused twice: a passing fault looks the same.
func (m *meeting) findLimit(ctx context.Context, wanted, before int) error {
	low, refused := 0, []int{} // accepted, and tried in vain
	for _, limit := range append([]int{wanted, before}, usualLimits()...) {
		if limit < 1 || limit > wanted || slices.Contains(refused, limit) {
			continue
		}
		ok, err := m.accepts(ctx, limit)
		if err != nil {
			return err
		}
		if ok {
			low = limit
			break
		}
		refused = append(refused, limit)
	}
	if low == 0 {
		_, _, err := m.ask(ctx, 1)
		return fmt.Errorf("the platform refuses every page limit up to %d: %w", wanted, err)
	}
	high := low + 1
	if low < wanted {
		high = wanted
		for _, limit := range refused {
			if limit > low {
				high = min(high, limit)
			}
		}
		if low == before {
			high = low + 2 // one more would have been found before
		}
	}
	for low+1 < high {
		try := (low + high) / 2
		ok, err := m.accepts(ctx, try)
		if err != nil {
			return err
		}
		if ok {
			low = try
		} else {
			high = try
		}
	}
	if low < wanted {
		ok, err := m.accepts(ctx, wanted)
		if err != nil {
			return err
		}
		if ok {
			low = wanted
		}
	}
	m.Limit = low
	return nil
}

// findFirst tells apart platforms that count pages from 1, from 0, and from 1 but answer 0 as if it
// were 1. A list of one page may look like the last of these where a platform answers a page behind
// the end with the last one: then smaller limits are asked for. To take 1 for 0 costs some
// requests; to take 0 for 1 would hide the first page. So 1 is believed only where page 0 is
// refused, empty or the same as page 1 although there are more rows.
func (m *meeting) findFirst(ctx context.Context) error {
	longest := 0
	for i, limit := range append([]int{m.Limit}, smallLimits(m.Limit)...) {
		pages, refused, err := m.ask(ctx, limit)
		if err != nil && i > 0 && Refused(err) {
			continue // this size is not known
		}
		if err != nil {
			return err
		}
		zero, one := pages[0], pages[1]
		longest = max(longest, len(zero))
		switch {
		case len(zero) == 0 && len(one) > 0:
			again, refused, err := m.ask(ctx, limit)
			if err != nil && !Refused(err) {
				return err
			}
			if err == nil && (refused[0] || len(again[0]) == 0) { // and not by a passing fault
				m.First, m.Known = 1, true
				return nil
			}
		case len(zero) == 0:
			if m.First = 1; refused[1] && !refused[0] {
				m.First = 0
			}
			return nil
		case len(one) == 0:
			m.Known = true
			return nil
		case bytes.Equal(zero[0], one[0]):
			differs, err := m.thirdDiffers(ctx, limit, one[0])
			if err != nil {
				return err
			}
			if differs || len(zero) < longest {
				m.First, m.Known = 1, true
				return nil
			}
		case !shareRecords(zero, one) || i > 0 && !mostlyShared(zero, one):
			m.Known = true
			return nil
		}
	}
	return nil
}

// thirdDiffers says whether page 2 is another one than page 1, so that page numbers count.
func (m *meeting) thirdDiffers(ctx context.Context, limit int, first []byte) (bool, error) {
	page, err := m.probe(ctx, 2, limit)
	if err != nil {
		if Refused(err) {
			return true, nil
		}
		return false, err
	}
	return len(page.Records) == 0 || !bytes.Equal(page.Records[0], first), nil
}

// smallLimits are limits under the given one, to see different parts of a list with.
func smallLimits(limit int) (list []int) {
	for _, l := range []int{limit / 2, 5, 25, 10, 12, 3, 20, 7, 2, 1} {
		if l > 0 && l < limit && !slices.Contains(list, l) {
			list = append(list, l)
		}
	}
	return list
}

func shareRecords(a, b [][]byte) bool { return shared(a, b) > 0 }

// mostlyShared says whether two pages are the same one of a list that has moved in between.
func mostlyShared(a, b [][]byte) bool { return 2*shared(a, b) > min(len(a), len(b)) }

func shared(a, b [][]byte) int {
	n := 0
	for _, x := range a {
		if slices.ContainsFunc(b, func(y []byte) bool { return bytes.Equal(x, y) }) {
			n++
		}
	}
	return n
}
