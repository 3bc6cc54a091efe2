package sqlitefile

import (
	"database/sql"
	"time"
)

// TimeLayout is the text form of every TIMESTAMP: UTC, with milliseconds.
const TimeLayout = "2006-01-02 15:04:05.000"

// FormatTime returns t in [TimeLayout]. It truncates t to milliseconds.
func FormatTime(t time.Time) string { return t.UTC().Format(TimeLayout) }

// ParseTime parses the output of [FormatTime].
func ParseTime(s string) (time.Time, error) { return time.ParseInLocation(TimeLayout, s, time.UTC) }

// NullableTime returns t as text, or NULL for the zero time.
func NullableTime(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return FormatTime(t)
}

// FromNull returns the zero time for NULL, else t in UTC. The driver has parsed the text already,
// by the column's declared type.
func FromNull(t sql.NullTime) time.Time {
	if !t.Valid {
		return time.Time{}
	}
	return t.Time.UTC()
}

// NullableText returns s, or NULL for the empty string.
func NullableText(s string) any {
	if s == "" {
		return nil
	}
	return s
}
