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
