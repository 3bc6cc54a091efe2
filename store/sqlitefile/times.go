package sqlitefile

import (
	"database/sql"
	"time"
)

// TimeLayout is the one form of a TIMESTAMP in the mirror.
const TimeLayout = "2006-01-02 15:04:05.000"

// FormatTime returns t as the mirror stores it: UTC, with milliseconds. Finer parts are cut off.
func FormatTime(t time.Time) string { return t.UTC().Format(TimeLayout) }

// ParseTime reads what FormatTime wrote.
func ParseTime(s string) (time.Time, error) { return time.ParseInLocation(TimeLayout, s, time.UTC) }

// NullableTime is t for a column where the zero time stands as NULL.
func NullableTime(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return FormatTime(t)
}

// FromNull is the other way round. The driver has parsed the text already, from the column's
// declared type.
func FromNull(t sql.NullTime) time.Time {
	if !t.Valid {
		return time.Time{}
	}
	return t.Time.UTC()
}

// NullableText is s for a column where the empty string stands as NULL.
func NullableText(s string) any {
	if s == "" {
		return nil
	}
	return s
}
