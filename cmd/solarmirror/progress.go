package main

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"solarmirror/sync/pull"
)

// newProgress returns what shows how far a run has come: a bar on a terminal, a line every few seconds elsewhere, nothing when
// quiet. Streams are read at the same time, so both show their sum. done takes the bar away.
func (a *app) newProgress() (show func(pull.Progress), done func()) {
	p := &progress{out: a.stderr, now: time.Now, passes: map[string]pull.Progress{}}
	switch {
	case a.flags.quiet:
		return nil, func() {}
	case terminal(a.stderr):
		return p.draw, func() { fmt.Fprint(a.stderr, eraseLine) }
	}
	return p.print, func() {}
}

// eraseLine empties the line a terminal's cursor is on.
const eraseLine = "\r\x1b[K"

// aboveBar writes to a terminal whose last line may be a bar: what is written takes its place, and the bar is drawn below it.
type aboveBar struct{ terminal io.Writer }

func (w aboveBar) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.terminal, eraseLine+string(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// progress adds up the passes of a run.
type progress struct {
	out    io.Writer
	now    func() time.Time
	passes map[string]pull.Progress
	began  time.Time
	last   time.Time // when something was printed
	bar    *progressbar.ProgressBar
}

// add takes in where a pass stands, and returns the sum of all: records read, and how many there are, -1 when some pass
// does not say.
func (p *progress) add(at pull.Progress) (records, total int64) {
	if p.began.IsZero() {
		p.began = p.now()
		p.last = p.began
	}
	if at.Finished {
		at.Total = at.Records
	}
	p.passes[at.Stream+" "+at.Pass] = at
	for _, pass := range p.passes {
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

// draw shows a bar.
func (p *progress) draw(at pull.Progress) {
	records, total := p.add(at)
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(p.out), progressbar.OptionShowCount(), progressbar.OptionShowIts(),
			progressbar.OptionSetItsString("records"), progressbar.OptionSetPredictTime(true),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionFullWidth(),
			progressbar.OptionEnableColorCodes(colour(p.out)),
		)
	}
	if total != p.bar.GetMax64() && total > 0 {
		p.bar.ChangeMax64(total)
	}
	p.bar.Describe(fmt.Sprintf("%-18s", at.Stream+" "+at.Pass))
	_ = p.bar.Set64(records) // what a bar cannot draw is no reason to stop a run
}

// progressEvery is how often a line is written where no bar can be drawn.
const progressEvery = 5 * time.Second

// print writes a line now and then.
func (p *progress) print(at pull.Progress) {
	records, total := p.add(at)
	now := p.now()
	if now.Sub(p.last) < progressEvery {
		return
	}
	p.last = now
	fmt.Fprintln(p.out, describeProgress(records, total, now.Sub(p.began)))
}

// describeProgress says how many of how many records were read, how fast, and how long the rest takes at that rate.
func describeProgress(records, total int64, took time.Duration) string {
	rate := perSecond(records, took)
	if total < records || total == 0 || rate == 0 {
		return fmt.Sprintf("%d records, %.0f/s", records, rate)
	}
	left := time.Duration(float64(total-records)/rate) * time.Second
	return fmt.Sprintf("%d of %d records (%d %%), %.0f/s, about %s left", records, total, 100*records/total, rate, left)
}

// perSecond is n spread over a time; 0 for no time at all.
func perSecond(n int64, took time.Duration) float64 {
	if took <= 0 {
		return 0
	}
	return float64(n) / took.Seconds()
}
