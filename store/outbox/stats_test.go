package outbox

import (
	"errors"
	"maps"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGlanceAtOutbox(t *testing.T) {
	t.Parallel()
	path := outboxPath(t)
	glance, err := ReadStats(t.Context(), path)
	if err != nil || len(glance.Counts) != 0 {
		t.Errorf("where there is no outbox: %+v, %v", glance, err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a glance made the file")
	}
	o := openOutbox(t, path, nil)
	for i := range 3 {
		addOne(t, o, i+1)
	}
	_, err = o.Recover(t.Context())
	must(t, err)
	must(t, claimAndSettle(o, 2, Settlement{State: StateAmbiguous, Outcome: "ambiguous"}))
	glance, err = ReadStats(t.Context(), path)
	must(t, err)
	if want := map[State]int64{StatePending: 2, StateAmbiguous: 1}; !maps.Equal(glance.Counts, want) {
		t.Errorf("counts %v, want %v", glance.Counts, want)
	}
	if d := cmp.Diff([]Doubt{{ID: 2, Since: start}}, glance.Doubts); d != "" {
		t.Errorf("doubts: %s", d)
	}
	other := mirrorPath(t)
	openMirror(t, other)
	if glance, err := ReadStats(t.Context(), other); err != nil || len(glance.Counts) != 0 {
		t.Errorf("of a file without the table: %+v, %v", glance, err)
	}
	must(t, os.WriteFile(other+".txt", []byte("this is no database, though it is longer than a header of one hundred bytes, which SQLite reads first of all"), 0o600))
	if _, err := ReadStats(t.Context(), other+".txt"); !errors.Is(err, ErrNotOutbox) {
		t.Errorf("of no database: %v", err)
	}
}
