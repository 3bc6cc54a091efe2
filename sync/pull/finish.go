package pull

import (
	"context"
	"fmt"
	"time"

	"solarmirror/sync/scan"
)

// complete notes, in one transaction, that a reading ended cleanly: its window, and its pass's
// watermark if it has to do with that.
func (e *Engine) complete(ctx context.Context, j *job, r *reading) error {
	if j.options.DryRun {
		return nil
	}
	tx, err := e.Mirror.Begin(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if w := r.window; w != nil {
		w.begin(r.start)
		w.CompletedAt, w.Promise, w.Cursor = e.Now(), r.promise, 0
		w.Anchor, w.Seen = "", nil
		if err := tx.SaveWindow(&w.Window); err != nil {
			return err
		}
	}
	if r.promise != "" {
		e.Log.Warn().Str("stream", j.stream.Name).Str("pass", r.pass).Msg(r.promise)
	}
	if r.mark != nil {
		r.mark.Promise = r.promise
		r.advance(e.Zone)
		if err := tx.SetWatermark(*r.mark); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// advance moves the watermark to where a clean reading took it. A full reading that was interrupted
// began long ago, and does not take back what incremental ones have reached since.
func (r *reading) advance(zone *time.Location) {
	mark := r.mark
	if r.window == nil {
		mark.Watermark = watermarkDate(r.start, zone)
		if r.stream.Dates.Updates {
			mark.CompleteThrough = r.start
		}
		return
	}
	start := r.window.StartedAt
	mark.Watermark = max(mark.Watermark, watermarkDate(start, zone))
	mark.LastFullScanAt = start
	if start.After(mark.CompleteThrough) {
		mark.CompleteThrough = start
	}
}

// completeOpen completes the passes of a stream that were left open, because the platform counts
// more rows in one than there are. A total that is not the list's own is remembered as such.
func (e *Engine) completeOpen(ctx context.Context, j *job, open []*reading) error {
	foreign, err := judgeTotals(open)
	if err != nil {
		return &fetchError{err}
	}
	if foreign {
		e.learnForeignTotals(ctx, j.stream)
	}
	for _, r := range open {
		if err := e.complete(ctx, j, r); err != nil {
			return err
		}
	}
	return nil
}

// excess is by how many rows the platform's total is higher than what the reading found, up to an
// end that was proved.
func (r *reading) excess() int { return r.findings.Total - r.findings.Found }

// few says whether a total is so little too high that it may be overruled: it may come from a
// cache, or count rows that are not listed. A list of which nothing was found is not one of few.
func (r *reading) few() bool {
	return r.findings.Found > 0 && r.excess() <= max(20, r.findings.Found/100)
}

// judgeTotals says what to make of totals that are too high, when all passes of a stream were read.
// Such a total is not the list's own where it is what all passes hold together; foreign says so.
// Otherwise it is overruled by a few rows, which the promise of the reading tells, or an error.
func judgeTotals(readings []*reading) (foreign bool, err error) {
	together := 0
	for _, r := range readings {
		together += r.findings.Found
	}
	for _, r := range readings {
		all := reading{findings: scan.Findings{Total: r.findings.Total, Found: together}}
		switch {
		case r.excess() <= 0:
		case together > r.findings.Found && all.excess() >= 0 && all.few():
			foreign = true
		case r.few():
			r.promise = fmt.Sprintf("the platform counts %d rows and lists %d", r.findings.Total, r.findings.Found)
		default:
			return false, &TotalError{Stream: r.stream.Name, Pass: r.pass, Total: r.findings.Total, Found: r.findings.Found}
		}
	}
	return foreign, nil
}

// TotalError is a platform that counts far more rows than it lists.
type TotalError struct {
	Stream, Pass string
	Total, Found int
}

func (e *TotalError) Error() string {
	return fmt.Sprintf("the platform counts %d rows of %s (%s) and lists %d, then the list ends; the watermark stays. "+
		"Ask the platform's operators for the difference; \"solarmirror sync %[2]s --full\" asks again", e.Total, e.Stream, e.Pass, e.Found)
}
