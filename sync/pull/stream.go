package pull

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/sync/flatten"
	"solarmirror/sync/platform"
	"solarmirror/sync/scan"
)

// Stream is one list of the platform and where its records go.
type Stream struct {
	Resource  platform.Resource
	plan      *flatten.Plan
	partition string // request_type of its records; "" for equipment
	passes    []string
}

// Name is how people and the ledger call the stream.
func (s *Stream) Name() string { return string(s.Resource) }

// Root is the table of the stream's records.
func (s *Stream) Root() *schema.Table { return s.plan.Tables()[0] }

// owns says whether a row of the root table is of this stream.
func (s *Stream) owns(row []any) bool {
	column := slices.Index(s.Root().ColumnNames(), s.Root().Unique[0])
	return s.partition == "" || row[column] == s.partition
}

// Passes of a stream, as in _watermarks.
const (
	live    = "live"
	removed = "removed"
)

// Streams returns all streams, in the order in which they are read.
func Streams() []*Stream {
	requests, equipments := flatten.Compile(schema.Requests), flatten.Compile(schema.Equipments)
	return []*Stream{
		{Resource: platform.Orders, plan: requests, partition: "order", passes: []string{live, removed}},
		{Resource: platform.Budgets, plan: requests, partition: "budget", passes: []string{live, removed}},
		{Resource: platform.Equipments, plan: equipments, passes: []string{live}},
	}
}

// StreamNames are the names that ParseStreams knows.
func StreamNames() []string {
	var names []string
	for _, s := range Streams() {
		names = append(names, s.Name())
	}
	return names
}

// ParseStreams returns the named streams in their usual order, all of them when none is named.
func ParseStreams(names []string) ([]*Stream, error) {
	all := Streams()
	if len(names) == 0 {
		return all, nil
	}
	wanted := map[string]bool{}
	for _, name := range names {
		wanted[name] = true
	}
	var chosen []*Stream
	for _, s := range all {
		if wanted[s.Name()] {
			chosen = append(chosen, s)
			delete(wanted, s.Name())
		}
	}
	for name := range wanted {
		return nil, fmt.Errorf("unknown stream %q; the streams are %s", name, strings.Join(StreamNames(), ", "))
	}
	return chosen, nil
}

// filter is what a pass asks for: what was updated (equipment: created) between two dates, both included; "" is unbounded.
func (s *Stream) filter(pass, from, to string) platform.Filter {
	f := platform.Filter{Removed: pass == removed}
	if s.Resource == platform.Equipments {
		f.CreatedFrom, f.CreatedTo = from, to
	} else {
		f.UpdatedFrom, f.UpdatedTo = from, to
	}
	return f
}

// seesUpdates says whether an incremental scan of the stream finds changed records, not only new ones.
func (s *Stream) seesUpdates() bool { return s.Resource != platform.Equipments }

// identify finds out what a record is.
func (s *Stream) identify(raw []byte) scan.Record {
	r := scan.Record{Raw: raw, Hash: flatten.RawHash(raw)}
	key, err := s.plan.Key(raw, s.partition)
	if err != nil {
		r.Reject = err
		r.ID = r.Hash
		return r
	}
	r.Key = key
	r.ID = keyID(key)
	return r
}

// keyID stands for a natural key while a pass lasts. 64 bits tell a million keys apart but for one case in thirty million.
func keyID(k store.NaturalKey) uint64 { return xxhash.Sum64String(k[0] + "\x00" + k[1]) }
