package store

import (
	"database/sql"
	"time"
)

// timeLayout is the one form of a TIMESTAMP in the mirror.
const timeLayout = "2006-01-02 15:04:05.000"

// FormatTime returns t as the mirror stores it: UTC, with milliseconds. Finer parts are cut off.
func FormatTime(t time.Time) string { return t.UTC().Format(timeLayout) }

// ParseTime reads what FormatTime wrote.
func ParseTime(s string) (time.Time, error) { return time.ParseInLocation(timeLayout, s, time.UTC) }

// nullableTime is t for a column where the zero time stands as NULL.
func nullableTime(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return FormatTime(t)
}

// fromNull is the other way round. The driver has parsed the text already, from the column's declared type.
func fromNull(t sql.NullTime) time.Time {
	if !t.Valid {
		return time.Time{}
	}
	return t.Time.UTC()
}

// nullableText is s for a column where the empty string stands as NULL.
func nullableText(s string) any {
	if s == "" {
		return nil
	}
	return s
}
