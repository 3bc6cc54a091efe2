package pull

import (
	"context"

	"solarmirror/store"
	"solarmirror/sync/scan"
)

// deleteOrphans begins a repair, before any stream is read: a new record could be given the
// surrogate key of an orphan. A failure leaves no stream in the report.
func (e *Engine) deleteOrphans(ctx context.Context, o Options, report *Report) error {
	if !o.Repair {
		return nil
	}
	err := e.deleteOrphansTx(ctx, o, report)
	if err != nil {
		report.Streams, report.Outcome = nil, store.Failed
	}
	return err
}

func (e *Engine) deleteOrphansTx(ctx context.Context, o Options, report *Report) error {
	tx, err := e.Mirror.Begin(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for i, s := range o.Streams {
		if !firstOfRoot(o.Streams, s) {
			continue
		}
		orphans, err := tx.DeleteOrphans(s.Root)
		if err != nil {
			return err
		}
		report.Streams[i].Repairs = orphanDifferences(s, orphans)
	}
	if o.DryRun {
		return nil
	}
	return tx.Commit()
}

// findEdited returns, by their places among records of different keys, those whose content is
// stored and whose rows say something else, each with the tables of such rows. Erased records are
// left out: writing one anew would bring the person back.
func (w *writer) findEdited(tx *store.Tx, records []scan.Record, stored []store.Stored) (map[int][]string, error) {
	if w.repair == nil {
		return nil, nil
	}
	var places []int
	var keys []int64
	for i, known := range stored {
		if known.Key != 0 && !known.Erased && sameContent(records[i], known.Hash) {
			places, keys = append(places, i), append(keys, known.Key)
		}
	}
	held, err := tx.Records(w.stream.Root, keys)
	if err != nil {
		return nil, err
	}
	edited := map[int][]string{}
	for n, i := range places {
		tables, err := w.repair.edited(records[i], keys[n], held[n])
		if err == nil && len(tables) > 0 { // what cannot be flattened any more stays as it is
			edited[i] = tables
		}
	}
	return edited, nil
}
