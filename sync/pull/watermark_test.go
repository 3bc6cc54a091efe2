package pull

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sort"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"solarmirror/sync/platform/platformtest"
)

// datedList is a list of requests that filters by the local date of update, as the platform does.
type datedList struct {
	zone    *time.Location
	clock   *clock
	skew    time.Duration // of the server's clock against ours
	updated []time.Time   // by record
}

func (l *datedList) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	now := l.clock.now()
	w.Header().Set("Date", now.Add(l.skew).Format(http.TimeFormat))
	records := []json.RawMessage{}
	after := req.URL.Query().Get("lastUpdateAfter")
	for i, at := range l.updated {
		if !at.After(now) && at.Add(l.skew).In(l.zone).Format(time.DateOnly) >= after {
			records = append(records, json.RawMessage(fmt.Sprintf(`{"id":"r%d","name":%[2]q,"dealStatus":%[2]q}`, i, at.String())))
		}
	}
	if req.URL.Query().Get("removed") == "true" || pageOf(req).page != 0 {
		records = nil
	}
	page, _ := json.Marshal(append([]json.RawMessage{}, records...))
	w.Write(page)
}

// Whatever the zone, wherever midnight falls, and however the server's clock differs from ours: no update is lost between
// incremental syncs, even without an overlap.
func TestWatermarkLosesNoUpdate(t *testing.T) {
	zones := []string{"America/Sao_Paulo", "America/Noronha", "UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago", "Europe/Lisbon", "Asia/Kolkata", "America/New_York"}
	orders, err := ParseStreams([]string{"orders"})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		zone, err := time.LoadLocation(rapid.SampledFrom(zones).Draw(rt, "zone"))
		if err != nil {
			rt.Fatal(err)
		}
		list := &datedList{zone: zone, skew: time.Duration(rapid.IntRange(-3600, 3600).Draw(rt, "skew s")) * time.Second}
		r := newRigFor(t, list)
		list.clock = r.clock
		r.engine.Zone, r.engine.OverlapDays = zone, 0
		// A day on which Lisbon or New York changes its clocks, and times that crowd around local midnights.
		day := time.Date(2026, rapid.SampledFrom([]time.Month{3, 6, 10, 11}).Draw(rt, "month"), rapid.IntRange(1, 29).Draw(rt, "day"), 0, 0, 0, 0, zone)
		moment := rapid.Custom(func(rt *rapid.T) time.Time {
			midnight := day.AddDate(0, 0, rapid.IntRange(0, 3).Draw(rt, "days"))
			return midnight.Add(time.Duration(rapid.IntRange(-90, 90).Draw(rt, "minutes")) * time.Minute)
		})
		list.updated = rapid.SliceOfN(moment, 1, 12).Draw(rt, "updates")
		syncs := rapid.SliceOfN(moment, 1, 6).Draw(rt, "syncs")
		sort.Slice(syncs, func(i, j int) bool { return syncs[i].Before(syncs[j]) })
		for _, at := range append(syncs, day.AddDate(0, 0, 5)) {
			r.clock.ms.Store(at.UnixMilli())
			r.sync(Options{Streams: orders})
		}
		if n := r.value("SELECT count(*) FROM requests"); n != int64(len(list.updated)) {
			rt.Fatalf("%v of %d records arrived", n, len(list.updated))
		}
	})
}

func TestLookback(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		watermark string
		days      int
		want      string
	}{
		{"2026-03-01", 2, "2026-02-27"},
		{"2024-03-01", 1, "2024-02-29"},
		{"2026-01-01", 0, "2026-01-01"},
		{"", 2, ""},
		{"yesterday", 2, ""},
	} {
		if got := lookback(c.watermark, c.days); got != c.want {
			t.Errorf("lookback(%q, %d) = %q, want %q", c.watermark, c.days, got, c.want)
		}
	}
}

func TestScanStartIsTheEarlierClock(t *testing.T) {
	t.Parallel()
	ours := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct{ server, want time.Time }{
		{time.Time{}, ours},
		{ours.Add(time.Hour), ours},
		{ours.Add(-time.Hour), ours.Add(-time.Hour)},
	} {
		if got := scanStart(ours, c.server); !got.Equal(c.want) {
			t.Errorf("server at %v: %v, want %v", c.server, got, c.want)
		}
	}
}

// A pass that fails leaves its watermark where it was; the other streams move theirs.
func TestWatermarkHeldOnFailure(t *testing.T) {
	t.Parallel()
	p := platformtest.Options{Seed: 5, Requests: 150, Equipments: fewItems()}
	r := newRig(t, p)
	var broken atomic.Bool
	r.connect(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if broken.Load() && strings.HasPrefix(req.URL.Path, "/api/v2/requests/budget/") && pageOf(req).page > 0 {
			http.Error(w, "no", http.StatusInternalServerError)
			return
		}
		r.platform.ServeHTTP(w, req)
	}))
	r.sync(Options{})
	marks := "SELECT stream, pass, watermark, complete_through FROM _watermarks ORDER BY 1, 2"
	before := r.query(marks)

	broken.Store(true)
	r.clock.advance(60 * 24 * time.Hour)
	report, err := r.trySync(Options{Full: true})
	if err == nil {
		t.Fatal("a failing stream was not reported")
	}
	if report.Outcome != "partial" {
		t.Errorf("outcome %s, want partial", report.Outcome)
	}
	after := r.query(marks)
	for i, row := range after {
		held := diff(before[i], row) == ""
		if failed := row[0] == "budgets"; held != failed {
			t.Errorf("watermark %v: held %v, stream failed %v", row, held, failed)
		}
	}
}

// A pass over an empty list is a clean pass like any other: its watermark is the day on which it began.
func TestEmptyPassMovesWatermark(t *testing.T) {
	t.Parallel()
	r := newRigFor(t, &fixedList{})
	for _, full := range []bool{true, false} {
		r.sync(Options{Full: full})
		for _, row := range r.query("SELECT stream, pass, watermark, complete_through FROM _watermarks WHERE stream <> 'equipments'") {
			if row[2] != "2026-03-10" || row[3] == nil {
				t.Errorf("full %v: %v", full, row)
			}
		}
	}
}
