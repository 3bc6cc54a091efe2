// Package progress shows how far a run of package pull has come.
//
// [Show] is for commands: a bar on a terminal, a line every few seconds elsewhere. [Every] is for a
// program that says it in its own way, such as in a log. Streams are read at the same time; both
// show the sum of all passes.
package progress

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"solarmirror/cmd/internal/terminal"
	"solarmirror/sync/pull"
)

// lineInterval is how often Show writes a line where no bar can be drawn.
const lineInterval = 5 * time.Second

// Show returns a function that shows progress on w, nil when quiet, and one that removes the bar.
func Show(w io.Writer, quiet bool) (show func(pull.Progress), done func()) {
	switch {
	case quiet:
		return nil, func() {}
	case terminal.Is(w):
		return drawBar(w), func() { fmt.Fprint(w, terminal.EraseLine) }
	}
	return Every(lineInterval, time.Now, func(line string) { fmt.Fprintln(w, line) }), func() {}
}

// drawBar returns a function that draws a bar.
func drawBar(w io.Writer) func(pull.Progress) {
	passes := sum{}
	var bar *progressbar.ProgressBar
	return func(at pull.Progress) {
		records, total := passes.add(at)
		if bar == nil {
			bar = progressbar.NewOptions64(total,
				progressbar.OptionSetWriter(w), progressbar.OptionShowCount(), progressbar.OptionShowIts(),
				progressbar.OptionSetItsString("records"), progressbar.OptionSetPredictTime(true),
				progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionFullWidth(),
				progressbar.OptionEnableColorCodes(terminal.Colour(w)),
			)
		}
		if total != bar.GetMax64() && total > 0 {
			bar.ChangeMax64(total)
		}
		bar.Describe(fmt.Sprintf("%-18s", at.Stream+" "+at.Pass))
		_ = bar.Set64(records) // a bar that cannot be drawn is no reason to stop a run
	}
}

// Every returns a function that calls say with one line of text, at most once per interval, and not
// before the first interval has passed.
func Every(interval time.Duration, now func() time.Time, say func(line string)) func(pull.Progress) {
	passes := sum{}
	var began, last time.Time
	return func(at pull.Progress) {
		records, total := passes.add(at)
		t := now()
		if began.IsZero() {
			began, last = t, t
		}
		if t.Sub(last) < interval {
			return
		}
		last = t
		say(describe(records, total, t.Sub(began)))
	}
}

// sum holds where each pass of a run stands.
type sum map[string]pull.Progress

// add records where a pass stands, and returns the sum of all: records read, and how many there
// are, -1 when some pass does not say.
func (s sum) add(at pull.Progress) (records, total int64) {
	if at.Finished {
		at.Total = at.Records
	}
	s[at.Stream+" "+at.Pass] = at
	for _, pass := range s {
		records += pass.Records
		switch {
		case pass.Total < pass.Records:
			total = -1
		case total >= 0:
			total += pass.Total
		}
	}
	return records, total
}

// describe says how many of how many records were read, how fast, and how long the rest takes at
// that rate.
func describe(records, total int64, took time.Duration) string {
	rate := PerSecond(records, took)
	if total < records || total == 0 || rate == 0 {
		return fmt.Sprintf("%d records, %.0f/s", records, rate)
	}
	left := time.Duration(float64(total-records)/rate) * time.Second
	return fmt.Sprintf("%d of %d records (%d %%), %.0f/s, about %s left", records, total, 100*records/total, rate, left)
}

// PerSecond is n spread over a time; 0 for no time at all.
func PerSecond(n int64, took time.Duration) float64 {
	if took <= 0 {
		return 0
	}
	return float64(n) / took.Seconds()
}
