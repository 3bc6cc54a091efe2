package own

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"solarmirror/store"
	"solarmirror/store/owntables"
	"solarmirror/store/sqlitefile"
)

// Check reads the directory and prepares every statement against the present tables. It returns the
// marts in the order in which they can be built. q reads the mirror; nil where there is none yet.
func Check(ctx context.Context, dir string, q sqlitefile.Querier) ([]*Mart, error) {
	marts, err := Read(dir)
	if err != nil {
		return nil, err
	}
	return order(ctx, marts, q, nil)
}

var missingTable = regexp.MustCompile(`no such table: (?:main\.)?(` + store.OwnPrefix + `\w+)`)

// order sorts marts so that each comes after those it reads, and sets Err of those that cannot be
// built. last are the definitions of the tables there are: who reads a mart that fails has its last
// good table.
func order(ctx context.Context, marts []*Mart, q sqlitefile.Querier, last map[string]*owntables.Definition) (sorted []*Mart, err error) {
	s, err := newScratch(ctx, q)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	var pending []*Mart
	for _, m := range marts {
		if m.Err != nil {
			sorted = append(sorted, m)
		} else {
			pending = append(pending, m)
		}
	}
	for len(pending) > 0 {
		waits := map[*Mart]*Mart{}
		var left []*Mart
		for _, m := range pending {
			before, err := s.settle(ctx, m, marts, last)
			switch {
			case err != nil:
				return nil, err
			case before != nil:
				waits[m], left = before, append(left, m)
			default:
				sorted = append(sorted, m)
			}
		}
		if len(left) == len(pending) {
			circle := findCircle(left[0], waits)
			for _, m := range circle {
				m.Err = circleError(circle)
				sorted = append(sorted, m)
			}
			left = slices.DeleteFunc(left, func(m *Mart) bool { return m.Err != nil })
		}
		pending = left
	}
	return sorted, nil
}

// settle gives the scratch the table of a mart, or sets the mart's Err. It returns the mart that
// has to be settled before, if there is one.
func (s *scratch) settle(ctx context.Context, m *Mart, marts []*Mart, last map[string]*owntables.Definition) (before *Mart, err error) {
	for {
		d, err := s.define(ctx, m)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil {
			return nil, s.add(ctx, m.Table, d)
		}
		missing := missingTable.FindStringSubmatch(strings.ToLower(err.Error()))
		if missing == nil {
			m.Err = err
			return nil, nil
		}
		i := slices.IndexFunc(marts, func(other *Mart) bool { return other.Table == missing[1] })
		switch {
		case i < 0:
			m.Err = err
			return nil, nil
		case marts[i].Err == nil:
			return marts[i], nil
		case last[missing[1]] == nil || s.own[missing[1]] != nil:
			m.Err = fmt.Errorf("it reads %s, which has no table because it fails itself", missing[1])
			return nil, nil
		}
		if err := s.add(ctx, missing[1], last[missing[1]]); err != nil {
			return nil, err
		}
	}
}

// findCircle follows marts that wait until it meets one again.
func findCircle(m *Mart, waits map[*Mart]*Mart) []*Mart {
	var seen []*Mart
	for !slices.Contains(seen, m) {
		seen = append(seen, m)
		m = waits[m]
	}
	return seen[slices.Index(seen, m):]
}

func circleError(circle []*Mart) error {
	var names []string
	for _, m := range circle {
		names = append(names, m.Table)
	}
	return fmt.Errorf("a circle: %s reads %s", strings.Join(names, " reads "), names[0])
}
