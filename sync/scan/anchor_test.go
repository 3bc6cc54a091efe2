package scan

import "testing"

// A scan has read rows 1 to 60; 33 has changed since. What the next slice begins with decides
// whether it follows.
func TestAnchor(t *testing.T) {
	t.Parallel()
	rows := func(ids ...uint64) (list []Record) {
		for _, id := range ids {
			list = append(list, Record{ID: id, Hash: id})
		}
		return list
	}
	through := func(from, to uint64, step uint64) (ids []uint64) {
		for id := from; id <= to; id += step {
			ids = append(ids, id)
		}
		return ids
	}
	changed := rows(through(33, 52, 1)...)
	changed[0].Hash++
	for _, c := range []struct {
		name  string
		slice []Record
		want  int
	}{
		{"nothing has moved", rows(through(58, 77, 1)...), 57},
		{"one row before has left", rows(through(59, 78, 1)...), 58},
		{"two rows before have left", rows(through(60, 79, 1)...), -1},
		{"three rows before have left", rows(through(61, 80, 1)...), -1},
		{"ten rows were inserted before", rows(through(48, 67, 1)...), 47},
		{"all known", rows(through(20, 39, 1)...), 19},
		{"every other row has left", rows(through(20, 58, 2)...), 19},
		{"two of the last three have left", rows(append([]uint64{58}, through(61, 79, 1)...)...), -1},
		{"seen again further back: five of the last thirteen have left", rows(48, 49, 50, 52, 53, 55, 57, 58, 61, 62), 47},
		{"two have moved past rows not read", rows(8, 71, 35, 72, 73, 74, 75, 76), -1},
		{"the first is new", rows(61, 58, 59, 60), -1},
		{"the first has changed", changed, -1},
		{"no row", nil, -1},
	} {
		s := scanOfSixty(rows(through(1, 60, 1)...))
		if got := s.anchor(c.slice); got != c.want {
			t.Errorf("%s: got %d, want %d", c.name, got, c.want)
		}
	}
	for _, c := range []struct {
		name  string
		slice []Record
		want  int
	}{
		{"nothing has moved", rows(58, 59, 60, 61), 0},
		{"the end of the list", rows(59, 60), 0},
		{"one of three is new", rows(58, 61, 60, 62), -1},
		{"the first is new", rows(61, 62), -1},
		{"no row", nil, -1},
	} {
		s := scanOfSixty(rows(through(1, 60, 1)...))
		s.path = nil
		if got := s.anchor(c.slice); got != c.want {
			t.Errorf("after a scan was cut off, %s: got %d, want %d", c.name, got, c.want)
		}
	}
}

func scanOfSixty(read []Record) *Scan {
	s := New(Source{}, Options{Limit: 20})
	s.beginRound()
	for _, r := range read {
		s.mark(r, true)
	}
	s.extend(0, read)
	return s
}
