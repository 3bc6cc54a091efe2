package pull

import (
	"context"
	"fmt"
	"time"

	"solarmirror/schema"
	"solarmirror/store"
)

// sweep compares what is in the mirror with what complete readings of all passes of a stream have seen. A record that two sweeps in a row
// have missed is marked as gone; never on a sweep of which a pass saw nothing, and never so many at once that a fault is likelier. A sweep that
// met new records without a key does not count: they may be the very ones that are missing.
func (e *Engine) sweep(ctx context.Context, j *job, windows []*window) error {
	if j.options.DryRun {
		return nil
	}
	before, err := e.Mirror.Absences(ctx, j.stream.Name)
	if err != nil {
		return err
	}
	unseen, seen, err := e.Mirror.Unseen(ctx, j.stream.Root, j.stream.Partition, func(key int64) bool { return seenIn(windows, key) })
	if err != nil {
		return err
	}
	c := census{held: seen}
	for _, p := range unseen {
		c.miss(p, before[p.Key] > 0)
	}
	if c.missing() == 0 && len(before) == 0 {
		return nil
	}
	if j.writer.keyless > 0 {
		e.Log.Warn().Str("stream", j.stream.Name).Int("missing", c.missing()).Int("without_key", j.writer.keyless).
			Msg("the platform listed records without a usable key, so the missing ones are not counted as missing this time")
		return nil
	}
	refusal := c.refusal(j.stream, windows, j.options.AcceptDeletions)
	if refusal != nil {
		if refusal.Empty != "" {
			return refusal
		}
		c.first, c.again = append(c.first, c.again...), nil
	}
	if err := e.strike(ctx, j, c.first, c.again); err != nil || refusal == nil {
		return err
	}
	return refusal
}

// census is what a sweep found of the records in the mirror.
type census struct {
	held           int
	first, again   []int64 // missing for the first time, and once more
	missingRemoved int     // of them, those that were last listed as removed
}

func (c *census) miss(p store.Present, missedBefore bool) {
	c.held++
	if p.Removed {
		c.missingRemoved++
	}
	if missedBefore {
		c.again = append(c.again, p.Key)
	} else {
		c.first = append(c.first, p.Key)
	}
}

func (c *census) missing() int { return len(c.first) + len(c.again) }

// believable is how many records may vanish from a pass that lists none any more.
const believable = 5

// refusal is why what is missing is not believed; nil when it is.
func (c *census) refusal(s *Stream, windows []*window, accepted bool) *DeletionsError {
	refusal := &DeletionsError{Stream: s.Name, Missing: c.missing(), Held: c.held}
	if c.held > 0 && c.missing() == c.held {
		refusal.Empty = allPasses
		return refusal
	}
	if accepted {
		return nil
	}
	for _, w := range windows {
		missing := c.missing() - c.missingRemoved
		if w.Pass == schema.Removed {
			missing = c.missingRemoved
		}
		if len(w.seen) == 0 && missing > believable {
			refusal.Empty, refusal.Missing = w.Pass, missing
			return refusal
		}
	}
	if tooMany(c.missing(), c.held) {
		return refusal
	}
	return nil
}

// strike notes what is missing for the first time, and marks as gone what is missing again.
func (e *Engine) strike(ctx context.Context, j *job, first, again []int64) error {
	tx, err := e.Mirror.Begin(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := tx.SetAbsences(j.stream.Name, first); err != nil {
		return err
	}
	for _, key := range again {
		if err := tx.Tombstone(j.stream.Root, key); err != nil {
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	j.report.Counts.Add(store.Counts{Deleted: int64(len(again))})
	return nil
}

// prune deletes what had been gone for longer than it is kept when a sweep began, by the earlier of the two clocks. It comes after a sweep,
// which reads the whole table anyway.
func (e *Engine) prune(ctx context.Context, j *job, began time.Time) error {
	if e.KeepDeleted == 0 || j.options.DryRun {
		return nil
	}
	tx, err := e.Mirror.Begin(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	defer tx.Rollback()
	pruned, err := tx.Prune(j.stream.Root, j.stream.Partition, began.Add(-e.KeepDeleted))
	if err != nil {
		return err
	}
	if pruned > 0 {
		e.Log.Info().Str("stream", j.stream.Name).Int64("records", pruned).Msg("records that had been gone for long were deleted")
	}
	return tx.Commit()
}

func seenIn(windows []*window, key int64) bool {
	for _, w := range windows {
		if w.seen.has(key) {
			return true
		}
	}
	return false
}

// tooMany says whether more records are missing than can be believed: over half, or over a twentieth and more than twenty.
func tooMany(missing, held int) bool {
	return missing > held/2 || missing > max(20, held/20)
}

// DeletionsError is a sweep that missed more records than can be believed. None was marked as gone.
type DeletionsError struct {
	Stream  string
	Missing int    // of the empty pass when there is one
	Held    int    // records of the stream in the mirror
	Empty   string // the pass of which the sweep saw nothing at all, or allPasses; "" when there is none
}

// allPasses is a sweep that saw nothing.
const allPasses = "all"

func (e *DeletionsError) Error() string {
	const fault = "none was marked as gone, since that is likelier a fault of the platform"
	accept := fmt.Sprintf("If they are gone indeed, run \"solarmirror sync %s --full --accept-deletions\"", e.Stream)
	switch e.Empty {
	case "":
		return fmt.Sprintf("the platform no longer lists %d of the %d records of %s in the mirror; none was marked as gone. %s", e.Missing, e.Held, e.Stream, accept)
	case allPasses:
		return fmt.Sprintf("the platform listed none of the %d records of %s in the mirror; %s", e.Held, e.Stream, fault)
	}
	return fmt.Sprintf("the platform listed no %s %s, of which the mirror holds %d; %s. %s", e.Empty, e.Stream, e.Missing, fault, accept)
}
