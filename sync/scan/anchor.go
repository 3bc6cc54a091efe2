package scan

import "slices"

// anchor returns where in the path a slice follows on what was read, -1 when it cannot be vouched
// for. Its first row must have been read in this round and be unchanged; and so must, after it in
// the path, more than half of those rows that should stand in the slice, and one at least. Then no
// row that has not moved itself can stand between what was read and this slice. Two unchanged rows
// anywhere in the slice would not do: those may have moved past rows that were not read, though
// nothing in them has changed.
func (s *Scan) anchor(records []Record) int {
	if len(records) == 0 || !s.unchanged(records[0]) {
		return -1
	}
	if len(s.path) == 0 { // of a scan that was cut off
		for _, r := range records[:min(wantedOverlap, len(records))] {
			if !s.unchanged(r) {
				return -1
			}
		}
		return 0
	}
	from := lastIndex(s.path, records[0].ID)
	if from < 0 {
		return -1
	}
	expected := min(len(s.path)-from, len(records))
	found := 0
	// As many again may have left the list, or moved, since they were read.
	for next := s.path[from:min(from+2*len(records), len(s.path))]; len(records) > 0; records = records[1:] {
		if i := slices.Index(next, records[0].ID); i >= 0 {
			found++
			next = next[i+1:]
		}
	}
	if 2*found <= expected || found < min(2, len(s.path)) {
		return -1
	}
	return from
}

func lastIndex(ids []uint64, id uint64) int {
	for i := len(ids) - 1; i >= 0; i-- {
		if ids[i] == id {
			return i
		}
	}
	return -1
}

// maxPath is how many rows the path is cut to when it has twice as many. A step back over more than
// those goes on to the start of the list.
const maxPath = 4096

// extend makes a slice the end of the path, from the given place on.
func (s *Scan) extend(from int, records []Record) {
	s.path = s.path[:from]
	for _, r := range records {
		s.path = append(s.path, r.ID)
	}
	if more := len(s.path) - maxPath; more > maxPath {
		s.path = slices.Delete(s.path, 0, more)
		s.trimmed += more
	}
}
