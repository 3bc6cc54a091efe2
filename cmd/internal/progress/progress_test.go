package progress

import (
	"bytes"
	"strings"
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

// A pass that has been read whole is not all, and a bar shows the share itself.
func TestShareBeforeTheEnd(t *testing.T) {
	t.Parallel()
	for _, all := range []passes{{}, {bar: true}} {
		sum, total := all.add(pull.Progress{Stream: "orders", Pass: "live", Records: 48, Total: 48})
		if got := all.describe(sum, total, time.Second); got != "48 records, 48/s" || all.shown != 0 {
			t.Errorf("%q at %d %%", got, all.shown)
		}
	}
	all := passes{bar: true}
	sum, total := all.add(pull.Progress{Stream: "orders", Pass: "live", Records: 24, Total: 48})
	if got := all.describe(sum, total, time.Second); got != "24 of 48 records, 24/s, about 1s left" || all.shown != 50 {
		t.Errorf("%q at %d %%", got, all.shown)
	}
}

// TestBar: a spinner while no total is known, then a bar, and one share at most in each drawing.
func TestBar(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	show := drawBar(&out)
	draw := func(at pull.Progress) string {
		time.Sleep(150 * time.Millisecond) // longer than a drawing is put off
		out.Reset()
		show(at)
		return out.String()
	}
	for range 2 {
		if got := draw(pull.Progress{Stream: "orders", Pass: "live", Records: 5, Total: -1}); strings.Contains(got, "%") {
			t.Errorf("%q", got)
		}
	}
	for range 2 {
		got := draw(pull.Progress{Stream: "orders", Pass: "live", Records: 50, Total: 100})
		for line := range strings.SplitSeq(got, "\r") {
			if strings.Count(line, "%") > 1 || strings.Contains(line, "100%") {
				t.Errorf("%q", got)
			}
		}
	}
	if !strings.Contains(out.String(), "50%") || !strings.Contains(out.String(), "50 of 100 records") {
		t.Errorf("%q", out.String())
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
