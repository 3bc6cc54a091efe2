package pull

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"solarmirror/store"
	"solarmirror/sync/scan"
)

// Difference is one record in which the mirror and the platform differ. Kind is one of the kinds
// below; Tables, of DiffEdited and DiffOrphan, say where the rows are.
type Difference store.Finding

// Kinds of difference.
const (
	DiffMissing = "missing" // the platform lists it, the mirror has it not, or as gone
	DiffExtra   = "extra"   // the mirror has it, the platform does not list it
	DiffContent = "differs" // the content has changed on the platform since the last sync
	DiffEdited  = "edited"  // the content has not, but its rows are not what it flattens to
	DiffOrphan  = "orphan"  // rows of child tables whose root row is gone
	DiffTotal   = "total"   // the platform counts more records in a pass than it lists
)

// NeedsRepair says whether a sync without Repair leaves the difference as it is.
func (d Difference) NeedsRepair() bool { return d.Kind == DiffEdited || d.Kind == DiffOrphan }

// Verification is how a stream's mirror compares with the platform.
type Verification struct {
	Stream      string
	Platform    int // records the platform lists, live and removed
	Mirror      int // records the mirror has that are not gone
	Rejected    int // records of the platform that cannot be loaded
	Erased      int // records with the platform's content and fields that Forget blanked: not compared
	Differences []Difference
	Err         error // why it could not be compared; nil when it was
}

// Verify reads the streams whole, both passes, and compares keys, content and rows with the mirror.
// It says of each difference whether it is pending or unexplained, and notes them all in the ledger
// when no stream has stopped it; otherwise it changes nothing. Memory grows with the differences and
// the erased records, not with all records.
func (e *Engine) Verify(ctx context.Context, streams []*Stream) ([]Verification, error) {
	if err := e.startReading(ctx); err != nil {
		return nil, err
	}
	list := make([]Verification, len(streams))
	for i, s := range streams {
		list[i] = e.verifyStream(ctx, s, firstOfRoot(streams, s))
		if stopsRun(list[i].Err) || ctx.Err() != nil {
			return list[:i+1], list[i].Err
		}
	}
	return list, e.noteFindings(ctx, list)
}

// firstOfRoot says whether a stream is the first one with its root: orphans have no type that would
// tell orders from budgets.
func firstOfRoot(streams []*Stream, s *Stream) bool {
	return streams[slices.IndexFunc(streams, func(other *Stream) bool { return other.Root == s.Root })] == s
}

// startReading recalls the dialect for work that changes no record, on a mirror of this platform.
func (e *Engine) startReading(ctx context.Context) error {
	if err := e.samePlatform(ctx); err != nil {
		return err
	}
	e.dryRun = true
	return e.recallDialect(ctx)
}

func (e *Engine) verifyStream(ctx context.Context, s *Stream, withOrphans bool) Verification {
	c := &check{
		Verification: Verification{Stream: s.Name},
		mirror:       e.Mirror, comparer: newComparer(s), seen: keySet{}, found: map[store.NaturalKey]Difference{},
		erased: map[store.NaturalKey]bool{},
	}
	c.Err = e.listAll(ctx, s, c)
	if c.Err == nil {
		c.Err = c.finish(ctx, withOrphans)
	}
	if c.Err == nil {
		if c.Err = e.explain(ctx, s, c.Differences); c.Err != nil {
			c.Differences = nil
		}
	}
	return c.Verification
}

// listAll reads every pass of a stream, and compares each slice with the mirror.
func (e *Engine) listAll(ctx context.Context, s *Stream, c *check) error {
	traits, err := e.ensureDialect(ctx, s, true)
	if err != nil {
		return err
	}
	var readings []*reading
	for _, pass := range s.Passes {
		progress := Progress{Stream: s.Name, Pass: pass, Total: -1}
		r := &reading{stream: s, pass: pass, traits: traits}
		reader := scan.New(e.source(r), r.scanOptions(e.InFlight))
		for sl, err := range reader.Slices(ctx) {
			if err != nil {
				return &fetchError{err}
			}
			if err := c.slice(ctx, sl); err != nil {
				return err
			}
			progress.Records += int64(len(sl.Records)) // no total: those of later passes are not known
			e.show(progress)
		}
		r.findings = reader.Findings()
		readings = append(readings, r)
	}
	if foreign, err := judgeTotals(readings); foreign && err == nil {
		return nil
	}
	for _, r := range readings {
		if r.excess() > 0 {
			key := store.NaturalKey{r.pass, fmt.Sprintf("%d of %d", r.findings.Found, r.findings.Total)}
			c.found[key] = Difference{Stream: s.Name, Key: key, Kind: DiffTotal}
		}
	}
	return nil
}

// check is the verification of one stream under way.
type check struct {
	Verification
	mirror   *store.Mirror
	comparer *comparer
	seen     keySet                          // surrogate keys of listed records
	found    map[store.NaturalKey]Difference // a record read again may differ no more
	erased   map[store.NaturalKey]bool
}

// slice compares the records of a slice with the mirror.
func (c *check) slice(ctx context.Context, sl scan.Slice) error {
	var keyed []scan.Record
	for _, r := range sl.Records {
		if r.Reject != nil {
			c.Rejected++
			continue
		}
		keyed = append(keyed, r)
	}
	for len(keyed) > 0 {
		var first []scan.Record
		first, keyed = apart(keyed)
		keys := make([]store.NaturalKey, len(first))
		for i, r := range first {
			keys[i] = r.Key
		}
		held, err := c.mirror.Held(ctx, c.comparer.stream.Root, keys)
		if err != nil {
			return err
		}
		for i, r := range first {
			c.record(r, held[i])
		}
	}
	return nil
}

// record compares one record.
func (c *check) record(r scan.Record, held store.Held) {
	delete(c.found, r.Key)
	delete(c.erased, r.Key)
	tables, err := c.comparer.edited(r, held.Key, held.Rows)
	if err != nil { // there are no rows to compare; the mirror may hold an earlier content
		c.Rejected++
		c.seen.add(held.Key)
		return
	}
	if held.Key == 0 || held.Deleted {
		c.differs(Difference{Key: r.Key, Kind: DiffMissing, ChangedAt: held.ChangedAt})
		return
	}
	if !c.seen.has(held.Key) {
		c.seen.add(held.Key)
		c.Platform++
	}
	switch {
	case !sameContent(r, held.Hash):
		c.differs(Difference{Key: r.Key, Kind: DiffContent, Held: held.Hash, ChangedAt: held.ChangedAt})
	case held.Erased:
		c.erased[r.Key] = true
	case len(tables) > 0:
		c.differs(Difference{Key: r.Key, Kind: DiffEdited, Tables: tables})
	}
}

func (c *check) differs(d Difference) {
	d.Stream = c.Stream
	c.found[d.Key] = d
}

// finish looks for what the platform does not list, and lists the differences.
func (c *check) finish(ctx context.Context, withOrphans bool) error {
	for _, d := range c.found {
		if d.Kind == DiffMissing {
			c.Platform++
		}
	}
	missed, err := c.mirror.Absences(ctx, c.Stream)
	if err != nil {
		return err
	}
	root := c.comparer.stream.Root
	for p, err := range c.mirror.Present(ctx, root, c.comparer.stream.Partition) {
		if err != nil {
			return err
		}
		c.Mirror++
		_, lacked := c.found[p.Natural]
		switch {
		case c.seen.has(p.Key):
		case lacked: // a sync has loaded it meanwhile
			delete(c.found, p.Natural)
		default:
			c.differs(Difference{Key: p.Natural, Kind: DiffExtra, Sweeps: missed[p.Key]})
		}
	}
	c.Differences, c.Erased = sorted(c.found), len(c.erased)
	if withOrphans {
		orphans, err := c.mirror.Orphans(ctx, root)
		if err != nil {
			return err
		}
		c.Differences = append(c.Differences, orphanDifferences(c.comparer.stream, orphans)...)
	}
	return nil
}

func orphanDifferences(s *Stream, orphans []store.Orphan) (list []Difference) {
	for _, o := range orphans {
		list = append(list, Difference{Stream: s.Name, Key: store.NaturalKey{s.Root.Key[0], o.Key}, Kind: DiffOrphan, Tables: o.Tables})
	}
	return list
}

// sorted orders differences by kind and key.
func sorted(found map[store.NaturalKey]Difference) []Difference {
	return slices.SortedFunc(maps.Values(found), func(a, b Difference) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), slices.Compare(a.Key[:], b.Key[:]))
	})
}

// keySet is a set of surrogate keys. They are dense, so a million take a few hundred kilobytes; SQL
// can have written any others.
type keySet map[int64]uint64

func (s keySet) add(key int64)      { s[key>>6] |= 1 << (key & 63) }
func (s keySet) has(key int64) bool { return s[key>>6]&(1<<(key&63)) != 0 }
