package pull

import (
	"context"
	"errors"
	"maps"
	"slices"

	"solarmirror/store"
	"solarmirror/store/sqlitefile"
	"solarmirror/sync/scan"
)

// sweepsToGone is how many sweeps in a row must miss a record before it counts as gone.
const sweepsToGone = 2

// way is what tells whether a finding is the same as at the verification before.
type way struct {
	key    store.NaturalKey
	kind   string
	held   store.Hash
	sweeps int
}

func wayOf(f store.Finding) way { return way{f.Key, f.Kind, f.Held, f.Sweeps} }

// explain gives the differences of a stream, which have just been found, their state. A difference
// that the verification before has found in the same way is unexplained: it has outlived what was
// expected to settle it, unless a sync has changed the record since, or it is a request that stands
// among those of the other type now: the old row waits for the sweeps.
func (e *Engine) explain(ctx context.Context, s *Stream, differences []Difference) error {
	before, err := e.Mirror.Findings(ctx, s.Name)
	if err != nil {
		return err
	}
	known := make(map[way]store.Finding, len(before))
	for _, f := range before {
		known[wayOf(f)] = f
	}
	readWhole, err := e.readWhole(ctx, s)
	if err != nil {
		return err
	}
	now := e.Now()
	stale, moved := map[string]*Difference{}, map[string]*Difference{} // by the second column of the natural key
	for i := range differences {
		d := &differences[i]
		d.State, d.FirstSeenAt = store.Unexplained, now
		if f, again := known[wayOf(store.Finding(*d))]; again && d.ChangedAt <= sqlitefile.FormatTime(f.LastSeenAt) {
			d.FirstSeenAt = f.FirstSeenAt
			if d.Kind == DiffExtra && d.Sweeps < sweepsToGone && s.Dates.Updates {
				moved[d.Key[1]] = d
			}
			continue
		}
		switch {
		case d.Kind == DiffExtra && d.Sweeps < sweepsToGone:
			d.State = store.Pending
		case d.Kind != DiffMissing && d.Kind != DiffContent:
		case s.Dates.Updates:
			stale[d.Key[1]] = d
		case readWhole: // the next full read brings it
			d.State = store.Pending
		}
	}
	if err := e.explainMoved(ctx, s, moved); err != nil {
		return err
	}
	maps.Copy(stale, moved)
	return e.explainUpdates(ctx, s, stale)
}

// explainMoved makes those extra records pending, and takes them off, which the mirror also holds
// in another stream of the root.
func (e *Engine) explainMoved(ctx context.Context, s *Stream, moved map[string]*Difference) error {
	const atOnce = 100
	for _, other := range otherStreams(s) {
		for ids := range slices.Chunk(slices.Collect(maps.Keys(moved)), atOnce) {
			keys := make([]store.NaturalKey, len(ids))
			for i, id := range ids {
				keys[i] = store.NaturalKey{other.Partition, id}
			}
			held, err := e.Mirror.Held(ctx, s.Root, keys)
			if err != nil {
				return err
			}
			for i, id := range ids {
				if held[i].Key != 0 && !held[i].Deleted {
					moved[id].State = store.Pending
					delete(moved, id)
				}
			}
		}
	}
	return nil
}

// otherStreams are those with the same root.
func otherStreams(s *Stream) []*Stream {
	return slices.DeleteFunc(Streams(), func(other *Stream) bool { return other.Root != s.Root || other.Name == s.Name })
}

// readWhole says whether a full read of every pass of the stream has ended.
func (e *Engine) readWhole(ctx context.Context, s *Stream) (bool, error) {
	for _, pass := range s.Passes {
		mark, _, err := e.Mirror.Watermark(ctx, s.Name, pass)
		if err != nil || mark.LastFullScanAt.IsZero() {
			return false, err
		}
	}
	return true, nil
}

// explainUpdates finds the stale records among those that the next sync will ask for, and makes
// them pending. It asks for the other streams of the root, too, since a budget that was ordered
// meanwhile stands among the orders.
func (e *Engine) explainUpdates(ctx context.Context, s *Stream, stale map[string]*Difference) error {
	for _, asked := range append([]*Stream{s}, otherStreams(s)...) {
		for _, pass := range asked.Passes {
			if len(stale) == 0 {
				return nil
			}
			if err := e.explainPass(ctx, asked, pass, stale); err != nil {
				return err
			}
		}
	}
	return nil
}

// explainPass reads what the next sync will ask for in a pass, until no stale record is left. A
// pass without a watermark explains nothing.
func (e *Engine) explainPass(ctx context.Context, s *Stream, pass string, stale map[string]*Difference) error {
	mark, _, err := e.Mirror.Watermark(ctx, s.Name, pass)
	if err != nil {
		return err
	}
	r := &reading{stream: s, pass: pass, from: lookback(mark.Watermark, e.OverlapDays)}
	if r.whole() {
		return nil
	}
	if r.traits, err = e.ensureDialect(ctx, s, false); err != nil {
		return err
	}
	if r.traits.IgnoresDates {
		r.from = ""
	}
	for sl, err := range scan.New(e.source(r), r.scanOptions(e.InFlight)).Slices(ctx) {
		if err != nil {
			return &fetchError{err}
		}
		for _, record := range sl.Records {
			if d := stale[record.Key[1]]; record.Reject == nil && d != nil {
				d.State = store.Pending
				delete(stale, record.Key[1])
			}
		}
		if len(stale) == 0 {
			return nil
		}
	}
	return nil
}

// noteFindings replaces the findings in the ledger for the streams that were compared. Whoever may
// only read the mirror verifies it all the same.
func (e *Engine) noteFindings(ctx context.Context, list []Verification) error {
	var streams []string
	var found []store.Finding
	for _, v := range list {
		if v.Err != nil {
			continue
		}
		streams = append(streams, v.Stream)
		for _, d := range v.Differences {
			found = append(found, store.Finding(d))
		}
	}
	err := store.NoteFindings(ctx, e.Mirror.Path(), e.Now(), streams, found)
	if errors.Is(err, sqlitefile.ErrNoAccess) {
		e.Log.Warn().Err(err).Msg("the findings are not in the ledger, so the next verification does not know what was pending")
		return nil
	}
	return err
}
