package store

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestRunTally compares a tally that is kept with one that reads everything anew, while runs start, end in any order and are cut off.
func TestRunTally(t *testing.T) {
	t.Parallel()
	now := start
	m, err := Open(t.Context(), mirrorPath(t), Options{Now: func() time.Time { return now }})
	must(t, err)
	defer func() { must(t, m.Close()) }()
	rapid.Check(t, func(r *rapid.T) { // each goes on with the ledger that the one before it left
		var kept RunTally
		var running []int64
		r.Repeat(map[string]func(*rapid.T){
			"start": func(r *rapid.T) {
				now = now.Add(time.Minute)
				run, err := m.StartRun(t.Context(), rapid.SampledFrom([]string{"sync", "verify"}).Draw(r, "command"),
					rapid.SampledFrom([]string{TriggerManual, TriggerSchedule}).Draw(r, "trigger"))
				must(t, err)
				running = []int64{run.ID} // it marked the others as interrupted
			},
			"finish": func(r *rapid.T) {
				if len(running) == 0 {
					return
				}
				outcome := rapid.SampledFrom([]Outcome{OK, Partial, Failed}).Draw(r, "outcome")
				must(t, m.FinishRun(t.Context(), running[0], Ending{Outcome: outcome, Counts: Counts{Pages: 1, Records: 7, Changed: 2}}))
				running = nil
			},
			"add up": func(r *rapid.T) {
				got, err := kept.Totals(t.Context(), m)
				must(t, err)
				want, err := new(RunTally).Totals(t.Context(), m)
				must(t, err)
				if d := cmp.Diff(want, got); d != "" {
					r.Fatal(d)
				}
			},
		})
	})
}

func TestRunTallyOfAnotherFile(t *testing.T) {
	t.Parallel()
	var kept RunTally
	for i, outcome := range []Outcome{OK, Failed} {
		path := mirrorPath(t)
		began := start.Add(time.Duration(i) * time.Hour)
		now := began
		m, err := Open(t.Context(), path, Options{Now: func() time.Time { return now }})
		must(t, err)
		for _, trigger := range []string{TriggerSchedule, TriggerManual} {
			run, err := m.StartRun(t.Context(), "sync", trigger)
			must(t, err)
			must(t, m.FinishRun(t.Context(), run.ID, Ending{Outcome: outcome, Counts: Counts{Pages: 1, Records: 7, Changed: 2}}))
			now = now.Add(time.Minute)
		}
		got, err := kept.Totals(t.Context(), m)
		must(t, err)
		if d := cmp.Diff([]RunTotal{{Command: "sync", Outcome: outcome, Runs: 2, Counts: Counts{Pages: 2, Records: 14, Changed: 4}, LastOnSchedule: began}}, got); d != "" {
			t.Error(d)
		}
		must(t, m.Close())
	}
}
