package store

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRunsSince(t *testing.T) {
	t.Parallel()
	path, now := mirrorPath(t), start
	m, err := Open(t.Context(), path, Options{Now: func() time.Time { return now }})
	must(t, err)
	defer func() { must(t, m.Close()) }()
	for i, outcome := range []Outcome{OK, Failed, OK} {
		run, err := m.StartRun(t.Context(), "sync", TriggerManual)
		must(t, err)
		must(t, m.FinishRun(t.Context(), run.ID, Ending{Outcome: outcome, Counts: Counts{Pages: 1, Records: int64(10 * (i + 1)), Changed: 2}}))
		now = now.Add(time.Hour)
	}
	_, err = m.StartRun(t.Context(), "verify", TriggerSchedule)
	must(t, err)

	runs, err := m.RunsSince(t.Context(), start.Add(time.Hour))
	must(t, err)
	var got []Outcome
	for _, r := range runs {
		got = append(got, r.Outcome)
	}
	if d := cmp.Diff([]Outcome{Running, OK, Failed}, got); d != "" {
		t.Errorf("of the last hours: %s", d)
	}
}
