package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Spec is when a job is due. The zero Spec is never: the job is off.
type Spec struct {
	text  string
	times cron.Schedule // nil: never
}

var parser = cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)

// aLeapYear is from when a spec is tried out: within five years of it every date there is comes to
// pass.
var aLeapYear = time.Date(2024, time.January, 1, 0, 0, 0, 0, time.UTC)

// ParseSpec reads the five fields of cron (minute, hour, day of month, month, day of week), or
// @hourly, @daily, @weekly, @monthly or @yearly. The empty text and "off" are the zero Spec. A spec
// that never fires is an error.
func ParseSpec(text string) (Spec, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "", text == "off":
		return Spec{}, nil
	case strings.Contains(text, "="):
		return Spec{}, errors.New("holds a time zone, which is given once for all jobs (schedule.time_zone)")
	case strings.HasPrefix(text, "@every"):
		return Spec{}, errors.New(`counts from when the program started; write it as five fields, such as "*/15 * * * *"`)
	}
	times, err := parser.Parse(text)
	if err != nil {
		return Spec{}, fmt.Errorf(`%w; want minute, hour, day of month, month and day of week, such as "*/15 * * * *", or nothing for never`, err)
	}
	if times.Next(aLeapYear).IsZero() {
		return Spec{}, fmt.Errorf("%q never comes to pass: there is no such date", text)
	}
	return Spec{text: text, times: times}, nil
}

// String returns the spec as it was written; "" for never.
func (s Spec) String() string { return s.text }

// Next returns when the spec fires next after t, in t's own zone, which is also the one its fields
// are read in. It is the zero time for never.
func (s Spec) Next(t time.Time) time.Time {
	if s.times == nil {
		return time.Time{}
	}
	return s.times.Next(t)
}

// Longest returns the longest time between two firings in a row, of those in the eight days after t, and of
// the first two at least. It is 0 for never.
func (s Spec) Longest(t time.Time) time.Duration {
	at, until := s.Next(t), t.AddDate(0, 0, 8)
	longest := time.Duration(0)
	for !at.IsZero() && (at.Before(until) || longest == 0) {
		next := s.Next(at)
		if next.IsZero() {
			break
		}
		longest = max(longest, next.Sub(at))
		at = next
	}
	return longest
}
