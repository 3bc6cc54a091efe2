package pull

import (
	"cmp"
	"errors"
	"runtime"
	"slices"
	"time"

	"solarmirror/store"
	"solarmirror/store/sqlitefile"
	"solarmirror/sync/flatten"
	"solarmirror/sync/platform"
	"solarmirror/sync/scan"
)

// writer turns the pages of one stream into rows. It belongs to one goroutine. What is to be written waits until flush, so that one statement for each
// table writes what has changed on many pages.
type writer struct {
	stream *Stream
	runID  int64
	batch  *flatten.Batch
	crew   *flatten.Crew
	now    func() time.Time // nil for what was read long ago

	// Of what waits in batch.
	waiting            map[uint64]bool // ids of the records
	inserted, replaced []int64         // surrogate keys
	edited             []int64         // likewise, of records whose history does not change

	repair   *comparer                       // nil unless edited records are to be written anew
	repaired map[store.NaturalKey]Difference // edited records since the last commit
	keyless  int                             // records without a key that had not been met before
}

// maxWaiting is how many records wait at the most, but for what the last slice has more. Each takes about 10 KB.
const maxWaiting = 250

func newWriter(s *Stream, runID int64, now func() time.Time) *writer {
	batch := s.plan.NewBatch()
	return &writer{stream: s, runID: runID, now: now, batch: batch, crew: s.plan.NewCrew(batch, runtime.GOMAXPROCS(0)), waiting: map[uint64]bool{}}
}

// writeTx writes a slice, but for what waits until flush. Records with the same key are written one after another, as they would be on two pages.
func (w *writer) writeTx(tx *store.Tx, sl scan.Slice) (store.Counts, []int64, error) {
	counts := store.Counts{Pages: 1, Records: int64(len(sl.Records))}
	records, err := w.keyed(tx, sl, &counts)
	var keys []int64
	for err == nil && len(records) > 0 {
		var first []scan.Record
		first, records = apart(records)
		var written []int64
		written, err = w.writeDistinct(tx, sl.Page, first, &counts)
		keys = append(keys, written...)
	}
	return counts, keys, err
}

// keyed returns the records that have a key, and keeps the others as rejects.
func (w *writer) keyed(tx *store.Tx, sl scan.Slice, counts *store.Counts) ([]scan.Record, error) {
	records := make([]scan.Record, 0, len(sl.Records))
	for _, r := range sl.Records {
		if r.Reject == nil {
			records = append(records, r)
			continue
		}
		added, err := w.reject(tx, sl.Page.Source, r.Raw, r.Reject, counts)
		if err != nil {
			return nil, err
		}
		if added {
			w.keyless++
		}
	}
	return records, nil
}

// apart takes the first record of each key, and leaves what has the same key as an earlier one.
func apart(records []scan.Record) (first, rest []scan.Record) {
	taken := make(map[uint64]bool, len(records))
	for _, r := range records {
		if taken[r.ID] {
			rest = append(rest, r)
			continue
		}
		taken[r.ID] = true
		first = append(first, r)
	}
	return first, rest
}

// writeDistinct writes records of a page that have different keys, and returns the surrogate keys of those that are in the
// mirror when they are flushed. Whatever waits of the same records comes first.
func (w *writer) writeDistinct(tx *store.Tx, page *platform.Page, records []scan.Record, counts *store.Counts) ([]int64, error) {
	if slices.ContainsFunc(records, func(r scan.Record) bool { return w.waiting[r.ID] }) {
		if err := w.flush(tx); err != nil {
			return nil, err
		}
	}
	natural := make([]store.NaturalKey, len(records))
	for i, r := range records {
		natural[i] = r.Key
	}
	stored, err := tx.Stored(w.stream.Root, natural)
	if err != nil {
		return nil, err
	}
	edited, err := w.findEdited(tx, records, stored)
	if err != nil {
		return nil, err
	}
	at := sqlitefile.FormatTime(pageTime(page))
	keys := make([]int64, 0, len(records))
	var load []flatten.Record
	var loaded []int // their places among the records
	for i, r := range records {
		known := stored[i]
		worth, err := w.worthLoading(tx, r, known, at)
		if err != nil {
			return nil, err
		}
		if !worth && edited[i] == nil {
			counts.Unchanged++
			keys = append(keys, known.Key)
			continue
		}
		key := known.Key
		if key == 0 {
			key = tx.NewKey(w.stream.Root)
		}
		changedAt := max(at, known.ChangedAt)
		if edited[i] != nil {
			changedAt = cmp.Or(known.ChangedAt, at)
		}
		load = append(load, flatten.Record{Key: key, Partition: w.stream.Partition, RawHash: r.Hash, At: changedAt, Raw: r.Raw})
		loaded = append(loaded, i)
	}
	for n, bad := range w.crew.Flatten(load) {
		r, known, key := records[loaded[n]], stored[loaded[n]], load[n].Key
		switch {
		case bad != nil:
			if _, err := w.reject(tx, page.Source, r.Raw, bad, counts); err != nil {
				return nil, err
			}
			if known.Key != 0 {
				keys = append(keys, key) // it is there, if in no fit state to be read
			}
			continue
		case known.Key == 0:
			w.inserted = append(w.inserted, key)
			counts.Inserted++
		case edited[loaded[n]] != nil:
			w.edited = append(w.edited, key)
			w.repaired[r.Key] = Difference{Stream: w.stream.Name, Key: r.Key, Kind: DiffEdited, Tables: edited[loaded[n]]}
			counts.Changed++
		default:
			w.replaced = append(w.replaced, key)
			counts.Changed++
		}
		keys = append(keys, key)
		w.waiting[r.ID] = true
	}
	if len(w.waiting) < maxWaiting {
		return keys, nil
	}
	return keys, w.flush(tx)
}

// flush writes what waits. It comes before the commit.
func (w *writer) flush(tx *store.Tx) error {
	defer w.reset()
	if len(w.waiting) > 0 {
		if err := tx.Upsert(w.batch.Rows, slices.Concat(w.replaced, w.edited)); err != nil {
			return err
		}
		if err := tx.Follow(w.stream.Root, w.inserted, w.replaced); err != nil {
			return err
		}
	}
	return tx.Drift(w.stream.Name, driftList(w.batch.Drift))
}

// reset forgets what waits.
func (w *writer) reset() {
	w.batch.Reset()
	clear(w.waiting)
	w.inserted, w.replaced, w.edited = w.inserted[:0], w.replaced[:0], w.edited[:0]
}

// worthLoading says whether a record must be flattened: it is new, or its content differs and is not older than what is
// there. It does what else a record read again calls for.
func (w *writer) worthLoading(tx *store.Tx, r scan.Record, known store.Stored, at string) (bool, error) {
	if known.Key == 0 {
		return true, nil
	}
	if at < known.ChangedAt && !w.fromTheFuture(known.ChangedAt) {
		return false, nil
	}
	if known.Hash.Raw == r.Hash {
		return false, w.seenAgain(tx, known)
	}
	canonical, ok := flatten.Canonical(r.Raw)
	if !ok || canonical != known.Hash.Canonical {
		return true, nil
	}
	if err := tx.SetHash(w.stream.Root, known.Key, store.Hash{Raw: r.Hash, Canonical: canonical}); err != nil {
		return false, err
	}
	return false, w.seenAgain(tx, known)
}

// fromTheFuture says whether a stored time was written while the clock was ahead. It makes no content newer than what is read now; but
// the times of one record never go back.
func (w *writer) fromTheFuture(at string) bool {
	return w.now != nil && at > sqlitefile.FormatTime(w.now().Add(clockTolerance))
}

// seenAgain lifts the tombstone of a record that is there after all.
func (w *writer) seenAgain(tx *store.Tx, known store.Stored) error {
	if !known.Deleted {
		return nil
	}
	return tx.Undelete(w.stream.Root, known.Key)
}

// reject keeps a record that cannot be loaded; added is false when it was kept before.
func (w *writer) reject(tx *store.Tx, source string, raw []byte, cause error, counts *store.Counts) (added bool, err error) {
	var r *flatten.Reject
	if !errors.As(cause, &r) {
		return false, cause
	}
	counts.Rejected++
	return tx.Reject(store.Reject{Stream: w.stream.Name, Source: source, Reason: r.Reason, Pointer: r.Pointer, Raw: raw, RunID: w.runID})
}

func driftList(seen map[flatten.Drift]flatten.Seen) []store.Drift {
	list := make([]store.Drift, 0, len(seen))
	for d, s := range seen {
		list = append(list, store.Drift{Path: d.Path, Kind: d.Kind, Example: s.Example, Occurrences: s.Occurrences})
	}
	return list
}
