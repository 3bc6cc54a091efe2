// Package words writes numbers and times for people, in one way for every command and the status
// page.
package words

import (
	"fmt"
	"time"
)

// Age writes d in the largest unit of which it has at least two, cut off: "under 1 s", "119 s",
// "2 min", "47 h", "2 days". A negative d, which comes from clocks that differ, is under a second.
func Age(d time.Duration) string {
	switch {
	case d < time.Second:
		return "under 1 s"
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// Bytes writes a size: "512 bytes", "1.5 MiB", "2.0 GiB".
func Bytes(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d bytes", n)
}

// Minute writes a time to the minute, in UTC.
func Minute(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }

// MinuteOrNil is Minute as a table cell: nil, an empty cell, for nil.
func MinuteOrNil(t *time.Time) any {
	if t == nil {
		return nil
	}
	return Minute(*t)
}

// Known is nil, a JSON null, for the zero time.
func Known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
