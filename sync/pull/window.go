package pull

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"solarmirror/store"
	"solarmirror/store/sqlitefile"
	"solarmirror/sync/scan"
)

// bitmap is a set of surrogate keys. They are dense, so a million take an eighth of a megabyte.
type bitmap []uint64

func (b *bitmap) add(key int64) {
	word := int(key / 64)
	for len(*b) <= word {
		*b = append(*b, 0)
	}
	(*b)[word] |= 1 << (key % 64)
}

func (b bitmap) has(key int64) bool {
	word := int(key / 64)
	return word < len(b) && b[word]&(1<<(key%64)) != 0
}

func (b bitmap) bytes() []byte {
	out := make([]byte, 0, 8*len(b))
	for _, word := range b {
		out = binary.LittleEndian.AppendUint64(out, word)
	}
	return out
}

func parseBitmap(raw []byte) bitmap {
	b := make(bitmap, len(raw)/8)
	for i := range b {
		b[i] = binary.LittleEndian.Uint64(raw[8*i:])
	}
	return b
}

// window is a stretch of a stream that is read whole, and what the ledger knows of it.
type window struct {
	store.Window
	seen    bitmap
	unsaved int // slices noted since the ledger was told
}

// saveEvery is how many slices pass between two notes in the ledger of how far a window has come. What was read since
// the last is read again after a kill.
const saveEvery = 20

// openWindow returns the window of a reading: as far as it was read, or new. A repair reads
// what an interrupted run has read already, since that run compared no rows.
func (e *Engine) openWindow(ctx context.Context, j *job, r *reading) (*window, error) {
	w, known, err := e.Mirror.Window(ctx, r.stream.Name, r.pass, r.from, r.to)
	if err != nil {
		return nil, err
	}
	if !known || !w.CompletedAt.IsZero() || j.options.Repair {
		w = store.Window{ID: w.ID, Stream: r.stream.Name, Pass: r.pass, From: r.from, To: r.to}
	}
	w.RunID = j.runID
	return &window{Window: w, seen: parseBitmap(w.Seen)}, nil
}

// interrupted says whether the window was begun before and not ended.
func (w *window) interrupted() bool { return !w.StartedAt.IsZero() }

// resumption is what the scan must know to go on: which rows were read, and as what. Rows whose content has changed since the window was
// begun are left out. Another run may have read them, where they stand now; they no longer vouch for the rows before them.
func (e *Engine) resumption(ctx context.Context, r *reading) (*scan.Resumption, error) {
	w, known := r.window, map[uint64]uint64{}
	for p, err := range e.Mirror.Present(ctx, r.stream.Root, r.stream.Partition) {
		if err != nil {
			return nil, err
		}
		if w.seen.has(p.Key) && p.RevisedAt < sqlitefile.FormatTime(w.StartedAt) {
			known[keyID(p.Natural)] = p.Hash.Raw
		}
	}
	return &scan.Resumption{Cursor: int(w.Cursor), Known: known}, nil
}

// begin notes when the window was begun, if it was not before.
func (w *window) begin(at time.Time) {
	if w.StartedAt.IsZero() {
		w.StartedAt = at
	}
}

// add notes a slice.
func (w *window) add(keys []int64, counts store.Counts, sl scan.Slice) {
	for _, key := range keys {
		w.seen.add(key)
	}
	w.Pages += counts.Pages
	w.Records += counts.Records
	w.Cursor, w.Anchor, w.Expected = int64(sl.Cursor), anchorOf(sl), -1
	if sl.Page.HasTotal {
		w.Expected = int64(sl.Page.Total)
	}
	w.unsaved++
}

// anchorOf names the last record of a slice, for people who look at the ledger.
func anchorOf(sl scan.Slice) string {
	if len(sl.Records) == 0 {
		return ""
	}
	key := sl.Records[len(sl.Records)-1].Key
	return fmt.Sprintf("%s/%s", key[0], key[1])
}

// save tells the ledger, in the transaction of the last slice noted.
func (w *window) save(tx *store.Tx) error {
	w.unsaved = 0
	w.Seen = w.seen.bytes()
	return tx.SaveWindow(&w.Window)
}
