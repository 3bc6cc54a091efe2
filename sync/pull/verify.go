package pull

import (
	"cmp"
	"context"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"solarmirror/store"
	"solarmirror/sync/flatten"
)

// Difference is one record in which the mirror and the platform differ.
type Difference struct {
	Stream string
	Key    store.NaturalKey
	Kind   string // DiffMissing, DiffExtra or DiffContent
}

// Kinds of difference.
const (
	DiffMissing = "missing" // the platform lists it, the mirror has it not, or as gone
	DiffExtra   = "extra"   // the mirror has it, the platform does not list it
	DiffContent = "differs" // both have it, with different content
)

// Verification is how a stream's mirror compares with the platform.
type Verification struct {
	Stream      string
	Platform    int // records the platform lists, live and removed
	Mirror      int // records the mirror has that are not gone
	Rejected    int // records of the platform that cannot be loaded
	Differences []Difference
	Err         error // why it could not be compared; nil when it was
}

// Verify reads the streams whole, both passes, and compares keys and content with the mirror. It changes nothing. A record that was
// updated since the last sync differs, rightly.
func (e *Engine) Verify(ctx context.Context, streams []*Stream) ([]Verification, error) {
	if err := e.startReading(ctx); err != nil {
		return nil, err
	}
	list := make([]Verification, len(streams))
	for i, s := range streams {
		list[i] = e.verifyStream(ctx, s)
		if stopsRun(list[i].Err) || ctx.Err() != nil {
			return list[:i+1], list[i].Err
		}
	}
	return list, nil
}

// startReading recalls the dialect for work that changes nothing, on a mirror of this platform.
func (e *Engine) startReading(ctx context.Context) error {
	if err := e.samePlatform(ctx); err != nil {
		return err
	}
	e.dryRun = true
	return e.recallDialect(ctx)
}

func (e *Engine) verifyStream(ctx context.Context, s *Stream) Verification {
	v := Verification{Stream: s.Name()}
	listed, err := e.listAll(ctx, s, &v)
	if err != nil {
		v.Err = err
		return v
	}
	for _, r := range listed {
		if r.sound {
			v.Platform++
		}
	}
	for p, err := range e.Mirror.Present(ctx, s.Root(), s.partition) {
		if err != nil {
			v.Err = err
			return v
		}
		v.Mirror++
		r, ok := listed[p.Natural]
		switch {
		case !ok:
			v.differs(p.Natural, DiffExtra)
		case !r.sound: // it is there, and no content to compare with
		case r.raw != p.Hash.Raw && r.canonical != p.Hash.Canonical:
			v.differs(p.Natural, DiffContent)
		}
		delete(listed, p.Natural)
	}
	for key, r := range listed {
		if r.sound {
			v.differs(key, DiffMissing)
		}
	}
	slices.SortFunc(v.Differences, func(a, b Difference) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), slices.Compare(a.Key[:], b.Key[:]))
	})
	return v
}

func (v *Verification) differs(key store.NaturalKey, kind string) {
	v.Differences = append(v.Differences, Difference{Stream: v.Stream, Key: key, Kind: kind})
}

// listing is a record as the platform lists it.
type listing struct {
	raw, canonical uint64 // hashes
	sound          bool   // a sync could load it
}

// listAll reads every pass of a stream, and keeps of each record what it takes to compare it.
func (e *Engine) listAll(ctx context.Context, s *Stream, v *Verification) (map[store.NaturalKey]listing, error) {
	if err := e.ensureDialect(ctx, s, true); err != nil {
		return nil, &fetchError{err}
	}
	listed := map[store.NaturalKey]listing{}
	for _, pass := range s.passes {
		progress := Progress{Stream: s.Name(), Pass: pass, Total: -1}
		for sl, err := range e.newScan(s, &reading{pass: pass}).slices(ctx) {
			if err != nil {
				return nil, &fetchError{err}
			}
			for _, r := range sl.records {
				if r.reject != nil {
					v.Rejected++
					continue
				}
				canonical, followed := flatten.Canonical(r.raw)
				sound := followed && jsontext.Value(r.raw).IsValid() // depth; duplicate keys, UTF-8
				if !sound {
					v.Rejected++
				}
				listed[r.key] = listing{r.hash, canonical, sound}
			}
			progress.add(sl.page, store.Counts{Records: int64(len(sl.records))})
			e.show(progress)
		}
	}
	return listed, nil
}
