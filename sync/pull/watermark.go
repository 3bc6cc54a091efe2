package pull

import (
	"context"
	"time"

	"solarmirror/store"
	"solarmirror/sync/platform"
)

// watermarkDate is the watermark after a clean scan: the date in the platform's zone at the scan's start.
func watermarkDate(start time.Time, zone *time.Location) string {
	return start.In(zone).Format(time.DateOnly)
}

// lookback is the date an incremental scan asks from: the watermark less the overlap. An unreadable watermark reads
// everything.
func lookback(watermark string, overlapDays int) string {
	day, err := time.Parse(time.DateOnly, watermark)
	if err != nil {
		return ""
	}
	return day.AddDate(0, 0, -overlapDays).Format(time.DateOnly)
}

// scanStart is when a scan began, by the server's clock or by ours, whichever is earlier; server is zero when it sent no date.
func scanStart(ours, server time.Time) time.Time {
	if !server.IsZero() && server.Before(ours) {
		return server
	}
	return ours
}

// clockTolerance is by how much clocks may differ before one of them counts as wrong.
const clockTolerance = time.Minute

// pageTime is when a page was read: by our clock, unless that is far ahead of the server's. The history cannot be read again, so
// that an hour with a wrong clock must not stand in it for ever.
func pageTime(page *platform.Page) time.Time {
	if at := scanStart(page.FetchedAt, page.ServerDate); page.FetchedAt.Sub(at) > clockTolerance {
		return at
	}
	return page.FetchedAt
}

// sinceWatermarks returns a reading of each pass of a job's stream: from the watermark on, or whole
// where there is none.
func (e *Engine) sinceWatermarks(ctx context.Context, j *job) ([]*reading, error) {
	var readings []*reading
	for _, pass := range j.stream.Passes {
		mark, known, err := e.watermark(ctx, j.stream, pass)
		if err != nil {
			return nil, err
		}
		r := &reading{stream: j.stream, pass: pass, mark: &mark}
		if known && !j.options.Full {
			r.from = lookback(mark.Watermark, e.OverlapDays)
		}
		readings = append(readings, r)
	}
	return readings, nil
}

// watermark returns that of one pass of a stream. One from the future was set while the clock was ahead, and may lie behind what nobody has
// read: it counts as none.
func (e *Engine) watermark(ctx context.Context, s *Stream, pass string) (mark store.Watermark, known bool, err error) {
	mark, known, err = e.Mirror.Watermark(ctx, s.Name, pass)
	if mark.CompleteThrough.After(e.Now().Add(clockTolerance)) {
		e.Log.Warn().Str("stream", s.Name).Str("pass", pass).Time("complete_through", mark.CompleteThrough).
			Msg("the watermark lies in the future, as the clock must have been ahead; everything is read again")
		mark, known = store.Watermark{}, false
	}
	mark.Stream, mark.Pass = s.Name, pass
	return mark, known, err
}
