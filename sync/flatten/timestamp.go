package flatten

import (
	"strings"
	"time"
)

// TimestampLayout is how a TIMESTAMP is written, in UTC unless its column says otherwise.
const TimestampLayout = "2006-01-02 15:04:05.000"

// isoTime is an ISO 8601 time taken apart: 2006-01-02T15:04:05[.fraction][zone].
type isoTime struct {
	date, clock string
	millis      string // three digits
	exact       bool   // nothing but zeros follows the milliseconds
	zone        string // whatever follows
}

func splitTime(s string) (t isoTime, ok bool) {
	const seconds = len("2006-01-02T15:04:05")
	if len(s) < seconds || !validDateTime(s[:seconds]) {
		return t, false
	}
	t = isoTime{date: s[:10], clock: s[11:seconds], millis: "000", exact: true, zone: s[seconds:]}
	if t.zone == "" || t.zone[0] != '.' {
		return t, true
	}
	end := 1
	for end < len(t.zone) && isDigit(t.zone[end]) {
		end++
	}
	fraction := t.zone[1:end]
	t.zone = t.zone[end:]
	if len(fraction) < 3 {
		t.millis = (fraction + "000")[:3]
		return t, fraction != ""
	}
	t.millis = fraction[:3]
	t.exact = strings.Trim(fraction[3:], "0") == ""
	return t, true
}

func (t isoTime) text() string { return t.date + " " + t.clock + "." + t.millis }

func (t isoTime) fit() fit {
	if t.exact {
		return fits
	}
	return rounded
}

// toTimestamp converts an instant to UTC text of a fixed width, so that text order is time order.
func toTimestamp(s string) (any, fit) {
	t, ok := splitTime(s)
	if !ok {
		return nil, misfits
	}
	if t.zone == "Z" {
		return t.text(), t.fit()
	}
	offset, ok := parseOffset(t.zone)
	if !ok {
		return nil, misfits
	}
	local, err := time.Parse(TimestampLayout, t.text())
	if err != nil {
		return nil, misfits
	}
	utc := local.Add(-offset)
	if y := utc.Year(); y < 0 || y > 9999 {
		return nil, misfits // the offset carried it out of the years that can be written
	}
	return utc.Format(TimestampLayout), max(t.fit(), converted)
}

// toLocalTimestamp takes a time without a zone; the seconds may be missing.
func toLocalTimestamp(s string) (any, fit) {
	if len(s) == len("2006-01-02T15:04") {
		s += ":00"
	}
	t, ok := splitTime(s)
	if !ok || t.zone != "" {
		return nil, misfits
	}
	return t.text(), t.fit()
}

// parseOffset reads ±hh:mm.
func parseOffset(s string) (time.Duration, bool) {
	if len(s) != len("-03:00") || s[0] != '+' && s[0] != '-' || s[3] != ':' || !areDigits(s[1:3]) || !areDigits(s[4:]) {
		return 0, false
	}
	hours, minutes := number(s[1:3]), number(s[4:])
	d := time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute
	if s[0] == '-' {
		d = -d
	}
	return d, hours < 24 && minutes < 60
}

func toDate(s string) (any, fit) {
	if len(s) != len(time.DateOnly) || !validDate(s) {
		return nil, misfits
	}
	return s, fits
}

// validDate says whether s starts with a day of the calendar, YYYY-MM-DD.
func validDate(s string) bool {
	if s[4] != '-' || s[7] != '-' || !areDigits(s[:4]) || !areDigits(s[5:7]) || !areDigits(s[8:10]) {
		return false
	}
	year, month, day := number(s[:4]), number(s[5:7]), number(s[8:10])
	return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month)
}

// validDateTime says whether s is YYYY-MM-DDTHH:MM:SS.
func validDateTime(s string) bool {
	return validDate(s) && s[10] == 'T' && s[13] == ':' && s[16] == ':' &&
		areDigits(s[11:13]) && areDigits(s[14:16]) && areDigits(s[17:19]) &&
		s[11:13] < "24" && s[14:16] < "60" && s[17:19] < "60"
}

func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

func number(digits string) int {
	n := 0
	for i := range len(digits) {
		n = n*10 + int(digits[i]-'0')
	}
	return n
}

func areDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
