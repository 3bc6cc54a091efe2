package outbox

import (
	"errors"
	"maps"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadStats(t *testing.T) {
	t.Parallel()
	path := outboxPath(t)
	stats, err := ReadStats(t.Context(), path)
	if err != nil || len(stats.Counts) != 0 {
		t.Errorf("where there is no outbox: %+v, %v", stats, err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("reading the stats created the file")
	}
	o := openOutbox(t, path, nil)
	for i := range 3 {
		addOne(t, o, i+1)
	}
	_, err = o.Recover(t.Context())
	must(t, err)
	must(t, claimAndSettle(o, 2, Settlement{State: StateAmbiguous, Outcome: "ambiguous"}))
	stats, err = ReadStats(t.Context(), path)
	must(t, err)
	if want := map[State]int64{StatePending: 2, StateAmbiguous: 1}; !maps.Equal(stats.Counts, want) {
		t.Errorf("counts %v, want %v", stats.Counts, want)
	}
	if d := cmp.Diff([]Doubt{{ID: 2, Since: start}}, stats.Doubts); d != "" {
		t.Errorf("doubts: %s", d)
	}
	other := mirrorPath(t)
	openMirror(t, other)
	if stats, err := ReadStats(t.Context(), other); err != nil || len(stats.Counts) != 0 {
		t.Errorf("of a file without the table: %+v, %v", stats, err)
	}
	must(t, os.WriteFile(other+".txt", []byte("this is no database, though it is longer than a header of one hundred bytes, which SQLite reads first of all"), 0o600))
	if _, err := ReadStats(t.Context(), other+".txt"); !errors.Is(err, ErrNotOutbox) {
		t.Errorf("of no database: %v", err)
	}
}
