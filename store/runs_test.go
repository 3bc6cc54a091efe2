package store

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestEntries: a backfill is one entry, whatever else had its turn between two windows; another backfill is another one.
func TestEntries(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 6, 12, 0, 0, 0, time.UTC)
	m, err := Open(t.Context(), filepath.Join(t.TempDir(), "m.db"), Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	pass := func(d time.Duration) { now = now.Add(d) }
	run := func(command string, took time.Duration, outcome Outcome, text string) {
		t.Helper()
		r, err := m.StartRun(t.Context(), command, TriggerManual)
		if err != nil {
			t.Fatal(err)
		}
		pass(took)
		if err := m.FinishRun(t.Context(), r.ID, Ending{Outcome: outcome, Counts: Counts{Records: 10}, Error: text}); err != nil {
			t.Fatal(err)
		}
	}
	run("backfill", time.Minute, OK, "") // 1: a whole one
	pass(time.Hour)
	run("backfill", time.Minute, Partial, "budgets: no") // 2
	pass(2 * time.Second)
	run("sync", 20*time.Minute, OK, "") // 3: has its turn
	run("push", time.Second, OK, "")    // 4
	pass(time.Second)
	run("backfill", time.Minute, OK, "") // 5
	run("backfill", time.Minute, OK, "") // 6
	pass(10 * time.Minute)
	run("sync", time.Minute, OK, "")           // 7
	run("backfill", time.Minute, OK, "")       // 8: begun after the sync, long after 6
	run("backfill", time.Minute, Failed, "no") // 9

	list, err := m.Entries(t.Context(), 9)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range list {
		got = append(got, fmt.Sprint(e.Command, e.IDs, e.Outcome, e.Records, e.FinishedAt.Sub(e.StartedAt), e.Error))
	}
	want := []string{
		"backfill[9 8]failed20 2m0sno", "sync[7]ok10 1m0s", "backfill[6 5 2]partial30 23m4sbudgets: no", "push[4]ok10 1s", "sync[3]ok10 20m0s", "backfill[1]ok10 1m0s",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if list, err = m.Entries(t.Context(), 3); err != nil || len(list) != 3 || len(list[2].IDs) != 3 {
		t.Errorf("the last 3: %v, %v", list, err)
	}
}
