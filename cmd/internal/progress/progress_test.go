package progress

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"solarmirror/sync/pull"
)

func TestEvery(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 6, 12, 0, 0, 0, time.UTC)
	var lines []string
	show := Every(5*time.Second, func() time.Time { return now }, func(line string) { lines = append(lines, line) })
	for _, at := range []pull.Progress{
		{Stream: "orders", Pass: "live", Records: 10, Total: 100},
		{Stream: "orders", Pass: "live", Records: 40, Total: 100},   // 4 s: not yet
		{Stream: "budgets", Pass: "live", Records: 40, Total: 200},  // 8 s: the sum of both
		{Stream: "orders", Pass: "live", Records: 50, Total: 100},   // 12 s: not yet again
		{Stream: "budgets", Pass: "removed", Records: 6, Total: -1}, // 16 s: how many is not known
	} {
		show(at)
		now = now.Add(4 * time.Second)
	}
	want := []string{"80 of 300 records (26 %), 10/s, about 22s left", "96 records, 6/s"}
	if d := cmp.Diff(want, lines); d != "" {
		t.Error(d)
	}
}

// TestNeverBackwards: a pass that begins late, is read again or gets a greater total takes back nothing that was shown.
func TestNeverBackwards(t *testing.T) {
	t.Parallel()
	var all passes
	var records, percent int64
	for i, tc := range []struct {
		at   pull.Progress
		want string
	}{
		{pull.Progress{Stream: "orders", Pass: "live", Records: 50, Total: 100}, "50 of 100 records (50 %), 5/s, about 10s left"},
		{pull.Progress{Stream: "orders", Pass: "live", Records: 0, Total: 100}, "50 of 100 records (50 %), 5/s, about 10s left"}, // anew
		{pull.Progress{Stream: "orders", Pass: "live", Records: 90, Total: 100}, "90 of 100 records (90 %), 9/s, about 1s left"},
		{pull.Progress{Stream: "orders", Pass: "removed", Records: 10, Total: 100}, "100 records, 10/s"}, // half of it
		{pull.Progress{Stream: "orders", Pass: "removed", Records: 95, Total: 100}, "185 of 200 records (92 %), 18/s, about 0s left"},
		{pull.Progress{Stream: "orders", Pass: "live", Records: 95, Total: -1}, "190 records, 19/s"},
		{pull.Progress{Stream: "orders", Pass: "live", Finished: true, Records: 95, Total: -1}, "190 of 195 records (97 %), 19/s, about 0s left"},
	} {
		sum, total := all.add(tc.at)
		if got := all.describe(sum, total, 10*time.Second); got != tc.want || sum < records || all.shown < percent {
			t.Errorf("%d: %q at %d %%, want %q", i, got, all.shown, tc.want)
		}
		records, percent = sum, all.shown
	}
}
