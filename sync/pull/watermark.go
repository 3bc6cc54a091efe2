package pull

import (
	"context"
	"time"

	"solarmirror/store"
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

// CompleteThrough returns the moment up to which the mirror holds everything of a stream, and when everything of it was last read: of its passes,
// the earlier each. Zero means never.
func CompleteThrough(ctx context.Context, mirror *store.Mirror, s *Stream) (complete, full time.Time, err error) {
	for i, pass := range s.passes {
		w, _, err := mirror.Watermark(ctx, s.Name(), pass)
		if err != nil {
			return time.Time{}, time.Time{}, err
		}
		if i == 0 || w.CompleteThrough.Before(complete) {
			complete = w.CompleteThrough
		}
		if i == 0 || w.LastFullScanAt.Before(full) {
			full = w.LastFullScanAt
		}
	}
	return complete, full, nil
}
