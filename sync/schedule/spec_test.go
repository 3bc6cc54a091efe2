package schedule

import (
	"strings"
	"testing"
	"time"
)

func TestParseSpecRefuses(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"* * * *":                        "expected exactly 5 fields",
		"61 * * * *":                     "above maximum",
		"*/0 * * * *":                    "should be a positive number",
		"soon":                           "expected exactly 5 fields",
		"@reboot":                        "unrecognized descriptor",
		"@every 5m":                      "five fields",
		"TZ=":                            "schedule.time_zone", // cron panics
		"TZ=UTC":                         "schedule.time_zone", // and here
		"CRON_TZ=Asia/Tokyo 0 5 * * *":   "schedule.time_zone",
		"0 0 30 2 *":                     "never comes to pass", // cron says nothing
		"0 0 31 4,6,9,11 *":              "never comes to pass",
		"0 0 0 * *":                      "below minimum",
		"\"*/15 * * * *\"":               "failed to parse",
		"0 3 * * MONDAY":                 "failed to parse",
		"0 */15 * * * *":                 "expected exactly 5 fields",
		strings.Repeat("* ", 4) + "7":    "above maximum",
		strings.Repeat("1-9999999 ", 5):  "above maximum",
		"1-99999999999999999999 * * * *": "failed to parse",
	} {
		if got, err := ParseSpec(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: got %v, %v; want an error that says %q", text, got, err, says)
		}
	}
}

func TestNext(t *testing.T) {
	t.Parallel()
	brazil := zone(t, "America/Sao_Paulo")
	for _, c := range []struct{ spec, after, want string }{
		{"", "2026-03-10T12:00:00-03:00", ""},
		{" off ", "2026-03-10T12:00:00-03:00", ""},
		{"*/15 * * * *", "2026-03-10T12:00:00-03:00", "2026-03-10T12:15:00-03:00"},
		{"*/15 * * * *", "2026-03-10T12:14:59.999-03:00", "2026-03-10T12:15:00-03:00"},
		{"0 3 * * 0", "2026-03-10T15:00:00Z", "2026-03-15T03:00:00-03:00"}, // in the zone, not in UTC
		{"@daily", "2026-03-10T12:00:00-03:00", "2026-03-11T00:00:00-03:00"},
		{"0 0 29 2 *", "2026-03-10T12:00:00-03:00", "2028-02-29T00:00:00-03:00"},
		{"0 0 * * *", "2018-11-03T12:00:00-03:00", "2018-11-05T00:00:00-02:00"}, // the 4th had no midnight
		{"0 * * * *", "2018-11-03T23:30:00-03:00", "2018-11-04T01:00:00-02:00"}, // but an hour after 23
	} {
		spec := mustSpec(c.spec)
		got := spec.Next(instant(c.after).In(brazil))
		if c.want == "" && got.IsZero() {
			continue
		}
		if c.want == "" || !got.Equal(instant(c.want)) {
			t.Errorf("%q after %s: got %s, want %q", c.spec, c.after, got.Format(time.RFC3339), c.want)
		}
	}
}

func TestLongest(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"off": 0, "*/15 * * * *": 15 * time.Minute, "0 * * * *": time.Hour, "0 3 * * 0": 7 * 24 * time.Hour,
		"*/30 9-17 * * 1-5": 63*time.Hour + 30*time.Minute, "0 0 1 * *": 30 * 24 * time.Hour,
	} {
		spec, err := ParseSpec(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := spec.Longest(instant("2026-03-03T10:00:00Z")); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func instant(text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return at
}

func mustSpec(text string) Spec {
	s, err := ParseSpec(text)
	if err != nil {
		panic(err)
	}
	return s
}
