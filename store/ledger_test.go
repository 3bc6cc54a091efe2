package store

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"solarmirror/schema"
	"solarmirror/store/sqlitefile"
)

func TestBind(t *testing.T) {
	t.Parallel()
	path := mirrorPath(t)
	m := openMirror(t, path)
	must(t, m.Bind(t.Context(), "https://one.example"))
	must(t, m.Bind(t.Context(), "https://one.example"))
	err := m.Bind(t.Context(), "https://two.example")
	var other *OtherPlatformError
	if !errors.As(err, &other) || other.Have != "https://one.example" || other.Want != "https://two.example" || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}
	meta, err := openReader(t, path).Meta(t.Context())
	must(t, err)
	if meta.BaseURL != "https://one.example" {
		t.Errorf("base URL %q", meta.BaseURL)
	}
}

func TestRuns(t *testing.T) {
	t.Parallel()
	m := openMirror(t, mirrorPath(t))
	cut, err := m.StartRun(t.Context(), "sync", "manual")
	must(t, err)
	run, err := m.StartRun(t.Context(), "sync", "schedule")
	must(t, err)
	counts := Counts{Pages: 1, Records: 2, Inserted: 3, Changed: 4, Unchanged: 5, Deleted: 6, Rejected: 7}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	must(t, m.FinishRun(ended, run.ID, Ending{Outcome: Partial, Counts: counts, Error: "budgets: 503"}))
	if err := m.FinishRun(ended, 99, Ending{Outcome: OK}); err == nil {
		t.Error("finished a run that does not exist")
	}
	if err := m.FinishRun(ended, run.ID, Ending{Outcome: "splendid"}); err == nil {
		t.Error("an unknown outcome was stored")
	}
	last, err := m.StartRun(t.Context(), "backfill", "manual")
	must(t, err)

	runs, err := m.Runs(t.Context(), 10)
	must(t, err)
	want := []Run{
		{ID: last.ID, Command: "backfill", Trigger: "manual", StartedAt: start, Outcome: Running},
		{ID: run.ID, Command: "sync", Trigger: "schedule", StartedAt: start, FinishedAt: start, Outcome: Partial, Counts: counts, Error: "budgets: 503"},
		{ID: cut.ID, Command: "sync", Trigger: "manual", StartedAt: start, FinishedAt: start, Outcome: Interrupted, Error: "it ended without a word; found by the next run"},
	}
	if diff := cmp.Diff(want, runs); diff != "" {
		t.Error(diff)
	}
	one, err := m.Runs(t.Context(), 1)
	must(t, err)
	if len(one) != 1 || one[0].ID != last.ID {
		t.Errorf("the last run: %+v", one)
	}
}

func TestWatermarks(t *testing.T) {
	t.Parallel()
	m := openMirror(t, mirrorPath(t))
	if _, ok, err := m.Watermark(t.Context(), "orders", "live"); ok || err != nil {
		t.Errorf("before the first: %v, %v", ok, err)
	}
	full := Watermark{Stream: "orders", Pass: "live", Watermark: "2026-03-04", CompleteThrough: start, LastFullScanAt: start.Add(-time.Hour)}
	bare := Watermark{Stream: "orders", Pass: "removed"}
	must(t, m.Update(t.Context(), func(tx *Tx) error {
		return errors.Join(tx.SetWatermark(Watermark{Stream: "orders", Pass: "live", Watermark: "2026-01-01"}), tx.SetWatermark(full), tx.SetWatermark(bare))
	}))
	undone, err := m.Begin(t.Context())
	must(t, err)
	must(t, undone.SetWatermark(Watermark{Stream: "orders", Pass: "live", Watermark: "2030-01-01"}))
	got, ok, err := m.Watermark(t.Context(), "orders", "live") // inside nobody's transaction: what is committed
	if err != nil || !ok || got != full {
		t.Errorf("got %+v, %v, %v", got, ok, err)
	}
	must(t, undone.Rollback())
	list, err := readWatermarks(t.Context(), m.read, watermarkSQL+" ORDER BY pass")
	must(t, err)
	if diff := cmp.Diff([]Watermark{full, bare}, list); diff != "" {
		t.Error(diff)
	}
}

func TestRejects(t *testing.T) {
	t.Parallel()
	m := openMirror(t, mirrorPath(t))
	run, err := m.StartRun(t.Context(), "sync", "manual")
	must(t, err)
	first := Reject{Stream: "orders", Source: "/requests/order/1/50", Reason: "no id", Pointer: "/id", Raw: []byte(`{"id":null,"x":"\xff"}`), RunID: run.ID}
	other := Reject{Stream: "budgets", Source: "/requests/budget/1/50", Reason: "not an object", Raw: first.Raw}
	keep := func(r Reject, want bool) {
		t.Helper()
		must(t, m.Update(t.Context(), func(tx *Tx) error {
			added, err := tx.Reject(r)
			if added != want {
				t.Errorf("added %v, want %v", added, want)
			}
			return err
		}))
	}
	keep(first, true)
	keep(first, false)
	keep(other, true)
	keep(Reject{Stream: "orders", Source: "s", Reason: "nothing at all"}, true)

	rec, ok, err := m.Reject(t.Context(), 1)
	must(t, err)
	want := RejectRecord{ID: 1, Reject: first, Size: int64(len(first.Raw)), FirstSeenAt: start}
	if diff := cmp.Diff(want, rec); !ok || diff != "" {
		t.Error(ok, diff)
	}
	if _, ok, err := m.Reject(t.Context(), 99); ok || err != nil {
		t.Errorf("reject 99: %v, %v", ok, err)
	}

	_, err = m.conn.ExecContext(t.Context(), "UPDATE _rejects SET replayed_at = '2026-05-05 00:00:00.000' WHERE reject_id = 1")
	must(t, err)
	fresh, err := m.Freshness(t.Context())
	must(t, err)
	for i, want := range []int64{1, 1, 0} {
		if got := fresh[i].Rejects; got != want {
			t.Errorf("%d rejects of %s wait, want %d", got, fresh[i].Stream.Name, want)
		}
	}
	keep(first, true) // it came back after it had been replayed

	for name, tt := range map[string]struct {
		filter RejectFilter
		want   []int64
	}{
		"all that wait": {RejectFilter{}, []int64{4, 3, 2}},
		"of a stream":   {RejectFilter{Stream: "budgets"}, []int64{2}},
		"replayed too":  {RejectFilter{Stream: "orders", Replayed: true}, []int64{4, 3, 1}},
		"some":          {RejectFilter{Limit: 1}, []int64{4}},
	} {
		list, err := m.Rejects(t.Context(), tt.filter)
		must(t, err)
		var ids []int64
		for _, r := range list {
			ids = append(ids, r.ID)
			if r.Raw != nil || (r.ID == 1) == r.ReplayedAt.IsZero() {
				t.Errorf("%s: %+v", name, r)
			}
		}
		if diff := cmp.Diff(tt.want, ids); diff != "" {
			t.Error(name, diff)
		}
	}
}

func TestDrift(t *testing.T) {
	t.Parallel()
	now := start
	m, err := Open(t.Context(), mirrorPath(t), Options{Now: func() time.Time { return now }})
	must(t, err)
	t.Cleanup(func() { must(t, m.Close()) })
	note := func(list ...Drift) {
		t.Helper()
		must(t, m.Update(t.Context(), func(tx *Tx) error { return tx.Drift("orders", list) }))
	}
	note(Drift{"/profitMargin", "unknown", "0.18", 3}, Drift{"/discount", "type", "", 1})
	now = start.Add(time.Hour)
	note(Drift{"/profitMargin", "unknown", "0.20", 2}, Drift{"/discount", "type", `"12.50"`, 1}, Drift{"/profitMargin", "type", "x", 1})
	note(Drift{"/form/ana@example.com/x", "unknown", "1", 1}, Drift{"/form/529.982.247-25/x", "unknown", "1", 1})
	list, err := m.DriftList(t.Context())
	must(t, err)
	want := []DriftRecord{
		{"orders", Drift{"/discount", "type", `"12.50"`, 2}, start, now},
		{"orders", Drift{"/form/*/x", "unknown", "1", 2}, now, now},
		{"orders", Drift{"/profitMargin", "type", "x", 1}, now, now},
		{"orders", Drift{"/profitMargin", "unknown", "0.18", 5}, start, now},
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Error(diff)
	}
}

func TestRecordCounts(t *testing.T) {
	t.Parallel()
	m := openMirror(t, mirrorPath(t))
	_, err := writePage(t.Context(), m, sqlitefile.FormatTime(start), somePage(1, 7))
	must(t, err)
	_, err = m.conn.ExecContext(t.Context(), "UPDATE requests SET _deleted_at = _changed_at WHERE request_key < 3")
	must(t, err)
	counts, err := m.RecordCounts(t.Context())
	must(t, err)
	want := []RecordCount{{schema.Requests.Name, 5, 2, 7}, {schema.Equipments.Name, 0, 0, 0}}
	if diff := cmp.Diff(want, counts[:len(want)]); diff != "" {
		t.Error(diff)
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", -3*3600)
	if got := sqlitefile.FormatTime(time.Date(2026, 12, 31, 23, 0, 0, 1_999_999, zone)); got != "2027-01-01 02:00:00.001" {
		t.Errorf("got %s", got)
	}
	back, err := sqlitefile.ParseTime(sqlitefile.FormatTime(start))
	if err != nil || !back.Equal(start) || back.Location() != time.UTC {
		t.Errorf("got %v, %v", back, err)
	}
	if _, err := sqlitefile.ParseTime("2026-01-01T00:00:00Z"); err == nil {
		t.Error("another form was taken")
	}
}
