package pull

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"solarmirror/store"
	"solarmirror/sync/scan"
)

// batch is the transaction that the slices of a reading are written in for as long as the next one is there at once, or shortly. It is committed
// before the reading waits longer for the platform, so that what a slow one sends is seen as it arrives and other streams can write meanwhile; and
// when it is full. The first slice of a reading is committed at once.
type batch struct {
	engine   *Engine
	job      *job
	reading  *reading
	progress Progress

	tx       *store.Tx // nil while nothing is written
	slices   int
	counts   store.Counts
	requests int64
	began    bool  // something was committed
	failed   error // of the mirror; nothing is written after it
}

// maxBatch is how many records are written in one transaction, but for what the last slice has more.
const maxBatch = 1000

// readAll writes everything that the scan yields.
func (b *batch) readAll(ctx context.Context, s *scan.Scan) error {
	for sl, err := range s.Slices(ctx) {
		switch {
		case b.failed != nil: // before a wait
			return b.failed
		case err != nil:
			if failed := b.commit(); failed != nil {
				return failed
			}
			return b.suspend(ctx, &fetchError{err})
		}
		if err := b.write(ctx, sl); err != nil {
			return err
		}
	}
	return b.commit()
}

// suspend keeps how far a window has come when its reading fails, so that it goes on from there. It
// returns the cause.
func (b *batch) suspend(ctx context.Context, cause error) error {
	w := b.reading.window
	if w == nil || w.ID == 0 || b.job.options.DryRun {
		return cause
	}
	tx, err := b.engine.Mirror.Begin(context.WithoutCancel(ctx))
	if err != nil {
		return cause // the mirror is what fails
	}
	defer tx.Rollback()
	if err := w.save(tx); err != nil {
		return cause
	}
	if err := tx.Commit(); err != nil {
		b.engine.Log.Debug().Err(err).Msg("noting where the window stands")
	}
	return cause
}

// write writes a slice, and commits it with those before when the batch is full. The context is not looked at: a slice that was read is written.
func (b *batch) write(ctx context.Context, sl scan.Slice) error {
	if err := b.add(ctx, sl); err != nil {
		return b.fail(fmt.Errorf("writing %s: %w", sl.Page.Source, err))
	}
	if !b.began || b.full() {
		return b.commit()
	}
	return nil
}

func (b *batch) add(ctx context.Context, sl scan.Slice) error {
	if b.reading.start.IsZero() {
		b.reading.start = scanStart(sl.Page.FetchedAt, sl.Page.ServerDate)
	}
	if b.tx == nil {
		tx, err := b.engine.Mirror.Begin(context.WithoutCancel(ctx))
		if err != nil {
			return err
		}
		b.tx = tx
	}
	counts, keys, err := b.job.writer.writeTx(b.tx, sl)
	if err != nil {
		return err
	}
	if w := b.reading.window; w != nil {
		w.begin(b.reading.start)
		w.add(keys, counts, sl)
	}
	b.slices++
	b.counts.Add(counts)
	b.requests += int64(sl.Page.Attempts)
	b.progress.add(sl.Page, counts)
	return nil
}

// full says whether to commit although the next slice may be there. A window is noted in the ledger every so many slices, and no
// kill must cost more than those.
func (b *batch) full() bool {
	w := b.reading.window
	return b.counts.Records >= maxBatch || w != nil && w.unsaved >= saveEvery
}

// commit makes what was written durable and visible, and reports it.
func (b *batch) commit() error {
	if b.failed != nil || b.tx == nil {
		return b.failed
	}
	if err := b.end(); err != nil {
		return b.fail(fmt.Errorf("writing %d slices of %s: %w", b.slices, b.job.stream.Name, err))
	}
	b.job.report.Counts.Add(b.counts)
	b.job.report.Requests += b.requests
	maps.Copy(b.job.repaired, b.job.writer.repaired)
	clear(b.job.writer.repaired)
	b.tx, b.slices, b.counts, b.requests, b.began = nil, 0, store.Counts{}, 0, true
	b.engine.show(b.progress)
	return nil
}

func (b *batch) end() error {
	if err := b.job.writer.flush(b.tx); err != nil {
		return err
	}
	if b.job.options.DryRun {
		return b.tx.Rollback()
	}
	if w := b.reading.window; w != nil && (w.ID == 0 || w.unsaved >= saveEvery) {
		if err := w.save(b.tx); err != nil {
			return err
		}
	}
	return b.tx.Commit()
}

// fail undoes what was not committed. What the window has noted of it must not be kept.
func (b *batch) fail(err error) error {
	if b.tx != nil {
		err = errors.Join(err, b.tx.Rollback())
	}
	b.job.writer.reset()
	clear(b.job.writer.repaired)
	b.tx, b.failed = nil, err
	return err
}
