package pull

import (
	"context"
	"errors"
	"fmt"
	"time"

	"solarmirror/sync/scan"
)

// Chunk is how long the windows of a backfill are.
type Chunk string

// Chunks that can be asked for.
const (
	Month Chunk = "month"
	Week  Chunk = "week"
	Day   Chunk = "day"
)

// BackfillOptions say what a backfill reads.
type BackfillOptions struct {
	Options
	From, To time.Time // days of update (equipment: of creation); To is never after today
	Chunk    Chunk
	Restart  bool // read finished windows again
}

// Stretch is one window of a backfill: two days, both included.
type Stretch struct{ From, To string }

// Stretches cuts the days from one to another into windows. Neighbours share a day, since a platform may take the last
// day of a filter for excluded.
func (o BackfillOptions) Stretches() []Stretch {
	var list []Stretch
	for from := o.From; !from.After(o.To); {
		next := o.Chunk.after(from)
		to := next
		if to.After(o.To) {
			to = o.To
		}
		list = append(list, Stretch{from.Format(time.DateOnly), to.Format(time.DateOnly)})
		if !next.Before(o.To) {
			break
		}
		from = next
	}
	return list
}

// after is the first day of the next chunk. Months and weeks begin where the calendar has them begin, so that the
// windows of overlapping backfills are the same ones.
func (c Chunk) after(day time.Time) time.Time {
	switch c {
	case Month:
		return time.Date(day.Year(), day.Month()+1, 1, 0, 0, 0, 0, time.UTC)
	case Week:
		untilMonday := (8 - int(day.Weekday())) % 7
		if untilMonday == 0 {
			untilMonday = 7
		}
		return day.AddDate(0, 0, untilMonday)
	}
	return day.AddDate(0, 0, 1)
}

// PendingStretches returns the windows that have something left to read, and how many there are in all.
func (e *Engine) PendingStretches(ctx context.Context, o BackfillOptions) (pending []Stretch, all int, err error) {
	stretches := o.Stretches()
	for _, at := range stretches {
		left := false
		for _, s := range o.Streams {
			done, err := e.finishedWindow(ctx, s, at, o.Restart)
			if err != nil {
				return nil, 0, err
			}
			left = left || !done
		}
		if left {
			pending = append(pending, at)
		}
	}
	return pending, len(stretches), nil
}

// finishedWindow says whether all passes of a stream have read a window to its end; none has when it is to be read again.
func (e *Engine) finishedWindow(ctx context.Context, s *Stream, at Stretch, restart bool) (bool, error) {
	for _, pass := range s.Passes {
		if done, err := e.finishedPass(ctx, s, pass, at, restart); err != nil || !done {
			return false, err
		}
	}
	return true, nil
}

func (e *Engine) finishedPass(ctx context.Context, s *Stream, pass string, at Stretch, restart bool) (bool, error) {
	w, found, err := e.Mirror.Window(ctx, s.Name, pass, at.From, at.To)
	return err == nil && !restart && found && !w.CompletedAt.IsZero(), err
}

// BackfillWindow reads one window of all the streams; those that have finished it before are passed by.
func (e *Engine) BackfillWindow(ctx context.Context, o BackfillOptions, at Stretch) (*Report, error) {
	return e.run(ctx, "backfill", o.Options, func(ctx context.Context, j *job) error {
		return e.backfillStream(ctx, j, at, o.Restart)
	})
}

func (e *Engine) backfillStream(ctx context.Context, j *job, at Stretch, restart bool) error {
	if done, err := e.finishedWindow(ctx, j.stream, at, restart); done || err != nil {
		return err
	}
	traits, err := e.meet(ctx, j.stream, true)
	if err != nil {
		return err
	}
	if traits.IgnoresDates {
		return &fetchError{&DatesIgnoredError{Stream: j.stream.Name}}
	}
	var readings []*reading
	for _, pass := range j.stream.Passes {
		known, found, err := e.Mirror.Window(ctx, j.stream.Name, pass, at.From, at.To)
		if err != nil {
			return err
		}
		if found && !known.CompletedAt.IsZero() && !restart {
			continue
		}
		r := &reading{stream: j.stream, pass: pass, from: at.From, to: at.To}
		if r.window, err = e.openWindow(ctx, j, r); err != nil {
			return err
		}
		if restart {
			r.window.restart()
		}
		readings = append(readings, r)
	}
	return e.readPasses(ctx, j, readings)
}

// restart forgets how far the window was read.
func (w *window) restart() {
	w.seen, w.StartedAt, w.CompletedAt = nil, time.Time{}, time.Time{}
	w.Cursor, w.Pages, w.Records, w.Anchor = 0, 0, 0, ""
}

// BackfillTail reads what was updated since the backfill began, day by day as far as the windows reach: records that changed
// while they were read have left them for a day that no window covers.
func (e *Engine) BackfillTail(ctx context.Context, o BackfillOptions) (*Report, error) {
	report, err := e.run(ctx, "backfill", o.Options, func(ctx context.Context, j *job) error {
		if _, err := e.meet(ctx, j.stream, false); err != nil {
			return err
		}
		since, err := e.backfillBegan(ctx, j.stream, o.Stretches())
		if err != nil {
			return err
		}
		var readings []*reading
		for _, pass := range j.stream.Passes {
			readings = append(readings, &reading{stream: j.stream, pass: pass, from: lookback(watermarkDate(since, e.Zone), e.OverlapDays)})
		}
		return e.readPasses(ctx, j, readings)
	})
	e.makeIndices(ctx, report)
	return report, err
}

// backfillBegan is when the first of the windows was begun.
func (e *Engine) backfillBegan(ctx context.Context, s *Stream, windows []Stretch) (time.Time, error) {
	began := e.Now()
	for _, at := range windows {
		for _, pass := range s.Passes {
			w, found, err := e.Mirror.Window(ctx, s.Name, pass, at.From, at.To)
			if err != nil {
				return time.Time{}, err
			}
			if found && w.StartedAt.Before(began) {
				began = w.StartedAt
			}
		}
	}
	return began, nil
}

// WindowPlan is what one window of a stream's pass will take.
type WindowPlan struct {
	Stream, Pass string
	Stretch      Stretch
	Done         bool
	Records      int // by the platform's count; -1 when it gives none
	Pages        int // that hold the records; 0 when Records is not known
	Requests     int // that it takes to read them, pages overlapping; 0 when Records is not known
}

// meetRequests is about how many requests it takes to find out how the platform lists a stream.
const meetRequests = 5

// PlanRequests is about how many requests PlanBackfill makes: one for each pass of a window, and some to find out how
// the platform lists each stream, if that is not known.
func (e *Engine) PlanRequests(ctx context.Context, o BackfillOptions) (n int, err error) {
	for _, s := range o.Streams {
		n += meetRequests
		for _, at := range o.Stretches() {
			for _, pass := range s.Passes {
				done, err := e.finishedPass(ctx, s, pass, at, o.Restart)
				if err != nil {
					return 0, err
				}
				if !done {
					n++
				}
			}
		}
	}
	return n, nil
}

// PlanBackfill asks the platform how many records each window holds and changes nothing.
func (e *Engine) PlanBackfill(ctx context.Context, o BackfillOptions) ([]WindowPlan, error) {
	if err := e.startReading(ctx); err != nil {
		return nil, err
	}
	var plan []WindowPlan
	for _, s := range o.Streams {
		if _, err := e.ensureDialect(ctx, s, false); err != nil {
			return nil, err
		}
		for _, at := range o.Stretches() {
			for _, pass := range s.Passes {
				p, err := e.planWindow(ctx, s, pass, at, o.Restart)
				if err != nil {
					return nil, err
				}
				plan = append(plan, p)
			}
		}
	}
	return plan, nil
}

func (e *Engine) planWindow(ctx context.Context, s *Stream, pass string, at Stretch, restart bool) (WindowPlan, error) {
	p := WindowPlan{Stream: s.Name, Pass: pass, Stretch: at, Records: -1}
	var err error
	if p.Done, err = e.finishedPass(ctx, s, pass, at, restart); err != nil || p.Done {
		return p, err
	}
	traits := e.traits(s)
	page, err := e.Client.List(ctx, s.Resource, filterOf(pass, at.From, at.To), traits.First, 1)
	if err != nil {
		return p, err
	}
	if page.HasTotal {
		p.Records, p.Requests = page.Total, scan.PlannedRequests(page.Total, traits.Limit)
		p.Pages = (page.Total + traits.Limit - 1) / traits.Limit
	}
	return p, nil
}

// DatesIgnoredError is a platform that does not look at the dates it is asked for, so that windows make no sense.
type DatesIgnoredError struct{ Stream string }

func (e *DatesIgnoredError) Error() string {
	return fmt.Sprintf("the platform ignores the date filters of %s, so there are no windows to read; run \"solarmirror sync %[1]s --full\"", e.Stream)
}

// ErrEmptyRange is a backfill that ends before it begins.
var ErrEmptyRange = errors.New("the first day is after the last")

// Check says what is wrong with the options, if something is.
func (o BackfillOptions) Check() error {
	if o.From.After(o.To) {
		return fmt.Errorf("%s to %s: %w", o.From.Format(time.DateOnly), o.To.Format(time.DateOnly), ErrEmptyRange)
	}
	switch o.Chunk {
	case Month, Week, Day:
		return nil
	}
	return fmt.Errorf("chunk %q; it must be %s, %s or %s", o.Chunk, Month, Week, Day)
}
