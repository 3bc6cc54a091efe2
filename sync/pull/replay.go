package pull

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"solarmirror/store"
	"solarmirror/store/marts"
	"solarmirror/sync/platform"
	"solarmirror/sync/scan"
)

// Fate is what became of a reject that was replayed.
type Fate string

// The fates.
const (
	Loaded     Fate = "loaded"         // the mirror did not hold the record; now it does
	Updated    Fate = "updated"        // the mirror held an older content of the record
	NotNeeded  Fate = "not needed"     // the mirror holds this content already, or a newer one
	StillBad   Fate = "still rejected" // see its reason
	LoadedOnce Fate = "loaded before"  // by an earlier replay
)

// Replayed is one reject and what became of it.
type Replayed struct {
	store.RejectRecord // as it is now, without Raw
	Fate               Fate
}

// ReplayReport is what a replay did, in the order of the rejects' numbers.
type ReplayReport struct {
	RunID   int64
	Rejects []Replayed
	Counts  store.Counts
}

// UnknownRejectError names a reject that does not exist.
type UnknownRejectError struct{ ID int64 }

func (e *UnknownRejectError) Error() string { return fmt.Sprintf("there is no reject %d", e.ID) }

// Replay runs rejected records through the code of today, without a request: those with the given numbers, or all that wait. What is
// accepted now is loaded as its page would have loaded it when it was first read, so never over newer content, and counts as
// replayed; the rest stays. Each reject is a transaction of its own. The caller holds the mirror's lock.
//
// Errors: [*UnknownRejectError], before anything is done.
func Replay(ctx context.Context, mirror *store.Mirror, ids []int64) (*ReplayReport, error) {
	ids, err := idsToReplay(ctx, mirror, ids)
	if err != nil {
		return &ReplayReport{}, err
	}
	run, err := mirror.StartRun(ctx, "rejects replay", store.TriggerManual)
	if err != nil {
		return &ReplayReport{}, err
	}
	r := &replay{mirror: mirror, report: &ReplayReport{RunID: run.ID}, writers: map[string]*writer{}}
	err = r.all(ctx, ids)
	outcome, text := store.OK, ""
	switch {
	case ctx.Err() != nil:
		outcome, text = store.Interrupted, ctx.Err().Error()
	case err != nil:
		outcome, text = store.Failed, err.Error()
	}
	bad := mirror.FinishRun(ctx, run.ID, store.Ending{Outcome: outcome, Counts: r.report.Counts, Error: text})
	if bad != nil || ctx.Err() != nil {
		return r.report, errors.Join(err, bad)
	}
	return r.report, errors.Join(err, marts.Refresh(ctx, mirror))
}

// idsToReplay puts the rejects in the order in which they were met, so that the newest content of a record comes last.
func idsToReplay(ctx context.Context, mirror *store.Mirror, ids []int64) ([]int64, error) {
	if len(ids) == 0 {
		waiting, err := mirror.Rejects(ctx, store.RejectFilter{})
		for _, r := range slices.Backward(waiting) {
			ids = append(ids, r.ID)
		}
		return ids, err
	}
	for _, id := range ids {
		if _, known, err := mirror.Reject(ctx, id); err != nil || !known {
			return nil, cmp.Or(err, error(&UnknownRejectError{ID: id}))
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(ids))), nil
}

type replay struct {
	mirror  *store.Mirror
	report  *ReplayReport
	writers map[string]*writer // by stream
}

func (r *replay) all(ctx context.Context, ids []int64) error {
	for _, s := range Streams() {
		r.writers[s.Name] = newWriter(s, r.report.RunID, nil)
	}
	for _, id := range ids {
		done, err := r.one(ctx, id)
		if err != nil {
			return fmt.Errorf("replaying reject %d: %w", id, err)
		}
		r.report.Rejects = append(r.report.Rejects, done)
	}
	return nil
}

func (r *replay) one(ctx context.Context, id int64) (Replayed, error) {
	reject, err := r.read(ctx, id)
	if err != nil {
		return Replayed{}, err
	}
	if !reject.ReplayedAt.IsZero() {
		reject.Raw = nil
		return Replayed{RejectRecord: reject, Fate: LoadedOnce}, nil
	}
	counts, err := r.load(ctx, reject)
	if err != nil {
		return Replayed{}, err
	}
	counts.Pages = 0 // no page was read
	r.report.Counts.Add(counts)
	reject, err = r.read(ctx, id)
	reject.Raw = nil
	return Replayed{RejectRecord: reject, Fate: fateOf(counts)}, err
}

func (r *replay) read(ctx context.Context, id int64) (store.RejectRecord, error) {
	reject, known, err := r.mirror.Reject(ctx, id)
	if err == nil && !known {
		err = &UnknownRejectError{ID: id}
	}
	return reject, err
}

// load writes the reject as the page of one record that it was part of.
func (r *replay) load(ctx context.Context, reject store.RejectRecord) (store.Counts, error) {
	w := r.writers[reject.Stream]
	if w == nil {
		return store.Counts{}, fmt.Errorf("unknown stream %q", reject.Stream)
	}
	tx, err := r.mirror.Begin(ctx)
	if err != nil {
		return store.Counts{}, err
	}
	page := &platform.Page{Source: reject.Source, FetchedAt: reject.FirstSeenAt}
	counts, _, err := w.writeTx(tx, scan.Slice{Page: page, Records: []scan.Record{w.stream.identify(reject.Raw)}})
	if err == nil {
		err = w.flush(tx)
	}
	if err == nil && counts.Rejected == 0 {
		err = tx.Replayed(reject.ID)
	}
	if err != nil {
		w.reset()
		return store.Counts{}, errors.Join(err, tx.Rollback())
	}
	return counts, tx.Commit()
}

func fateOf(c store.Counts) Fate {
	switch {
	case c.Rejected > 0:
		return StillBad
	case c.Inserted > 0:
		return Loaded
	case c.Changed > 0:
		return Updated
	}
	return NotNeeded
}
