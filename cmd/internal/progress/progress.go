// Package progress shows the progress of a run of package pull.
//
// [Show] is for commands: it draws a bar on a terminal and writes a line every few seconds
// elsewhere. [Every] is for a caller that writes the line itself, for example to a log. A run reads
// several streams at the same time; both show the sum of all passes. A pass that begins late adds to
// what is left. The share shown never falls: it is left out until it has caught up, and where all
// that is known of has been read, since a pass may still begin.
package progress

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"solarmirror/cmd/internal/terminal"
	"solarmirror/sync/pull"
)

const lineInterval = 5 * time.Second // of Show, where w is not a terminal

// Show returns a function that shows progress on w, nil when quiet, and a function that removes the
// bar.
func Show(w io.Writer, quiet bool) (show func(pull.Progress), done func()) {
	switch {
	case quiet:
		return nil, func() {}
	case terminal.Is(w):
		return drawBar(w), func() { fmt.Fprint(w, terminal.EraseLine) }
	}
	return Every(lineInterval, time.Now, func(line string) { fmt.Fprintln(w, line) }), func() {}
}

// drawBar draws how much is done of what is known to be left, with the same words as the lines but
// for the share, which is the bar's; a spinner until there is one.
func drawBar(w io.Writer) func(pull.Progress) {
	all := passes{bar: true}
	began := time.Now()
	var bar *progressbar.ProgressBar
	return func(at pull.Progress) {
		records, total := all.add(at)
		if bar == nil {
			bar = progressbar.NewOptions64(100,
				progressbar.OptionSetWriter(w), progressbar.OptionSetElapsedTime(false), progressbar.OptionSetPredictTime(false),
				progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionFullWidth(),
				progressbar.OptionEnableColorCodes(terminal.Colour(w)),
			)
		}
		line := all.describe(records, total, time.Since(began))
		if all.shown == 0 {
			bar.ChangeMax64(-1)
		} else {
			bar.ChangeMax64(100)
			_ = bar.Set64(all.shown) // failing to draw it must not stop the run
		}
		bar.Describe(line)
	}
}

// Every returns a function that calls write with one line of text, at most once per interval. The
// first call comes after the first interval.
func Every(interval time.Duration, now func() time.Time, write func(line string)) func(pull.Progress) {
	var all passes
	var began, last time.Time
	return func(at pull.Progress) {
		records, total := all.add(at)
		t := now()
		if began.IsZero() {
			began, last = t, t
		}
		if t.Sub(last) < interval {
			return
		}
		last = t
		write(all.describe(records, total, t.Sub(began)))
	}
}

// passes holds the progress of each pass of a run, by stream and pass.
type passes struct {
	at    map[string]pull.Progress
	shown int64 // percent; the greatest share that was described, less than 100
	bar   bool  // which shows the share
}

// add saves the progress of one pass and returns the sum over all passes: records read, which never
// fall, and records in total, which is -1 when the total of some pass is not known. A pass that is
// read again from its start keeps the records that it had.
func (p *passes) add(at pull.Progress) (records, total int64) {
	if p.at == nil {
		p.at = map[string]pull.Progress{}
	}
	key := at.Stream + " " + at.Pass
	at.Records = max(at.Records, p.at[key].Records)
	if at.Finished {
		at.Total = at.Records
	}
	p.at[key] = at
	for _, pass := range p.at {
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

// describe leaves the share out while it is smaller than one that was shown before.
func (p *passes) describe(records, total int64, took time.Duration) string {
	rate := PerSecond(records, took)
	if records >= total || rate == 0 || 100*records/total < p.shown {
		return fmt.Sprintf("%d records, %.0f/s", records, rate)
	}
	p.shown = 100 * records / total
	left := time.Duration(float64(total-records)/rate) * time.Second
	share := ""
	if !p.bar {
		share = fmt.Sprintf(" (%d %%)", p.shown)
	}
	return fmt.Sprintf("%d of %d records%s, %.0f/s, about %s left", records, total, share, rate, left)
}

// PerSecond returns the rate n / took; 0 when took is not positive.
func PerSecond(n int64, took time.Duration) float64 {
	if took <= 0 {
		return 0
	}
	return float64(n) / took.Seconds()
}
