package pull

import (
	"context"

	"solarmirror/store"
)

// job is the work on one stream in a run. It belongs to one goroutine.
type job struct {
	stream  *Stream
	writer  *writer
	options Options
	runID   int64
	report  *StreamReport
	// repaired are the edited records written anew and committed. A dry run may write one twice.
	repaired map[store.NaturalKey]Difference
}

// syncStream reads the passes of a stream, each from its watermark on or whole. When all of them
// were read whole, it was a sweep: what it did not find is missing.
func (e *Engine) syncStream(ctx context.Context, j *job) error {
	readings, err := e.sinceWatermarks(ctx, j)
	if err != nil {
		return err
	}
	traits, err := e.meet(ctx, j.stream, readings[0].whole())
	if err != nil {
		return err
	}
	var sweep []*window
	for _, r := range readings {
		if traits.IgnoresDates {
			r.from = ""
		}
		if j.report.Full = r.whole(); !j.report.Full {
			continue
		}
		if r.window, err = e.openWindow(ctx, j, r); err != nil {
			return err
		}
		sweep = append(sweep, r.window)
	}
	if err := e.readPasses(ctx, j, readings); err != nil || len(sweep) < len(readings) {
		return err
	}
	if err := e.sweep(ctx, j, sweep); err != nil {
		return err
	}
	return e.prune(ctx, j, sweep[0].StartedAt)
}

// readPasses reads passes one after another, and completes each unless the platform counts more
// rows than there are: what that means shows when all passes were read. Those are left open till
// then, and so are all after them.
func (e *Engine) readPasses(ctx context.Context, j *job, readings []*reading) error {
	var open []*reading
	for _, r := range readings {
		if err := e.readFitting(ctx, j, r); err != nil {
			return err
		}
		if len(open) > 0 || r.excess() > 0 {
			open = append(open, r)
			continue
		}
		if err := e.complete(ctx, j, r); err != nil {
			return err
		}
	}
	return e.completeOpen(ctx, j, open)
}
