package store

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"solarmirror/schema"
)

// A stream is as fresh as the older of its passes, and not before the last of them was read to its
// end.
func TestFreshness(t *testing.T) {
	t.Parallel()
	older, newer, never := start.Add(-3*time.Hour), start.Add(-time.Hour), time.Time{}
	now := newer
	m, err := Open(t.Context(), mirrorPath(t), Options{Now: func() time.Time { return now }})
	must(t, err)
	defer func() { must(t, m.Close()) }()
	orders, budgets, equipments := schema.Streams[0], schema.Streams[1], schema.Streams[2]
	earlier, err := m.StartRun(t.Context(), "sync", TriggerManual)
	must(t, err)
	must(t, m.FinishRun(t.Context(), earlier.ID, Ending{Outcome: OK, Streams: map[string]Outcome{"orders": OK, "budgets": OK}}))
	now = start
	run, err := m.StartRun(t.Context(), "sync", TriggerManual)
	must(t, err)
	must(t, m.Update(t.Context(), func(tx *Tx) error {
		_, rejected := tx.Reject(Reject{Stream: "budgets", Source: "s", Reason: "nothing", RunID: run.ID})
		return errors.Join(rejected,
			tx.SetWatermark(Watermark{Stream: "orders", Pass: "live", CompleteThrough: newer, LastFullScanAt: older, Promise: "weak"}),
			tx.SetWatermark(Watermark{Stream: "orders", Pass: "removed", CompleteThrough: older, LastFullScanAt: newer}),
			tx.SetWatermark(Watermark{Stream: "budgets", Pass: "live", CompleteThrough: newer, LastFullScanAt: newer}),
			tx.SaveWindow(&Window{Stream: "orders", Pass: "live", StartedAt: older, Records: 1, Expected: 2}), // a first load is over
			tx.SaveWindow(&Window{Stream: "budgets", Pass: "live", StartedAt: older, CompletedAt: newer, Records: 290, Expected: 300}),
			tx.SaveWindow(&Window{Stream: "budgets", Pass: "removed", StartedAt: older, Records: 20, Expected: 100}),
			tx.SaveWindow(&Window{Stream: "budgets", Pass: "removed", From: "2026-01-01", StartedAt: older, Expected: 5}), // of a backfill
			tx.SaveWindow(&Window{Stream: "equipments", Pass: "live", StartedAt: older, Records: 20, Expected: -1}))
	}))
	must(t, m.FinishRun(t.Context(), run.ID, Ending{Outcome: Partial, Streams: map[string]Outcome{"orders": OK, "budgets": Failed}}))
	got, err := m.Freshness(t.Context())
	must(t, err)
	want := []Freshness{
		{Stream: orders, CompleteThrough: older, LastFullScanAt: older, Loaded: math.NaN(), LastRunAt: start, LastOutcome: OK, LastSuccessAt: start, Promise: "live: weak"},
		{Stream: budgets, CompleteThrough: never, LastFullScanAt: never, Loaded: 80, LastRunAt: start, LastOutcome: Failed, LastSuccessAt: newer, Rejects: 1},
		{Stream: equipments, Loaded: math.NaN()},
	}
	if d := cmp.Diff(want, got[:len(want)], cmpopts.EquateNaNs()); d != "" {
		t.Error(d)
	}
	var rows []string
	must(t, m.read.SelectContext(t.Context(), &rows, `SELECT concat_ws('|', stream, ifnull(age_hours, '-'), ifnull(initial_load_percent, '-'), ifnull(last_outcome, '-'), rejects)
		FROM bi_freshness WHERE stream IN ('orders', 'budgets', 'equipments') ORDER BY stream DESC`))
	if d := cmp.Diff([]string{"orders|3.0|-|ok|0", "equipments|-|-|-|0", "budgets|-|80.0|failed|1"}, rows); d != "" {
		t.Error(d)
	}
}
