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

// Stream is one list of the platform, and what reads it.
type Stream struct {
	*schema.Stream
	Resource platform.Resource
	plan     *flatten.Plan
}

// Streams returns all streams, in the order in which they are read.
func Streams() []*Stream {
	var streams []*Stream
	plans := map[*schema.Table]*flatten.Plan{}
	for _, s := range schema.Streams {
		if plans[s.Root] == nil {
			plans[s.Root] = flatten.Compile(s.Root)
		}
		resource := platform.Resource{
			Name: s.Name, Path: s.Path, From: s.Dates.From, To: s.Dates.To, Removed: slices.Contains(s.Passes, schema.Removed),
		}
		streams = append(streams, &Stream{Stream: s, Resource: resource, plan: plans[s.Root]})
	}
	return streams
}

// FullJobStreams returns the streams that a job on schedule reads whole.
func FullJobStreams(job string) []*Stream {
	return slices.DeleteFunc(Streams(), func(s *Stream) bool { return s.FullJob != job })
}

// StreamNames are the names that ParseStreams knows.
func StreamNames() []string {
	var names []string
	for _, s := range schema.Streams {
		names = append(names, s.Name)
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
		if wanted[s.Name] {
			chosen = append(chosen, s)
			delete(wanted, s.Name)
		}
	}
	for name := range wanted {
		return nil, fmt.Errorf("unknown stream %q; the streams are %s", name, strings.Join(StreamNames(), ", "))
	}
	return chosen, nil
}

// owns says whether a row of the root table is of this stream.
func (s *Stream) owns(row []any) bool {
	column := slices.Index(s.Root.ColumnNames(), s.Root.Unique[0])
	return s.Partition == "" || row[column] == s.Partition
}

// filterOf is what a pass asks for between two dates, both included; "" is unbounded.
func filterOf(pass, from, to string) platform.Filter {
	return platform.Filter{From: from, To: to, Removed: pass == schema.Removed}
}

// identify finds out what a record is.
func (s *Stream) identify(raw []byte) scan.Record {
	r := scan.Record{Raw: raw, Hash: flatten.RawHash(raw)}
	key, err := s.plan.Key(raw, s.Partition)
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
