// Package words formats durations, sizes, times, paths and the causes of errors for people. Every command, the
// status page and the alerts use it, so that they all show the same format.
package words

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Age formats d in the largest unit that gives at least 2, rounded down: "under 1 s", "119 s",
// "2 min", "47 h", "2 days". A negative d, from clocks that differ, is "under 1 s".
func Age(d time.Duration) string { return AgeIn(d, "under 1 s", "days") }

// AgeIn is Age with the words of another language.
func AgeIn(d time.Duration, under, days string) string {
	switch {
	case d < time.Second:
		return under
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d %s", int(d.Hours()/24), days)
}

// Bytes formats a size: "512 bytes", "1.5 MiB", "2.0 GiB".
func Bytes(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d bytes", n)
}

// ShellWord quotes a path as one word of a command to paste into a shell.
func ShellWord(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }

// Minute formats a time to the minute, in UTC.
func Minute(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }

// MinuteOrNil returns a table cell: Minute, or nil for nil, an empty cell.
func MinuteOrNil(t *time.Time) any {
	if t == nil {
		return nil
	}
	return Minute(*t)
}

// Known returns t, or nil, a JSON null, for the zero time.
func Known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// quoted is what stands in quotation marks, where our errors repeat other people's words.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*(?:"|\\?$)`)

// WithoutQuotes leaves other people's words out of the text of an error.
func WithoutQuotes(text string) string { return quoted.ReplaceAllString(text, `"…"`) }

// request is how an error names a request, what came of it, and how often it was tried.
var request = regexp.MustCompile(`(?:GET|POST) \S+: (.*?) \(\d+ attempts?\)`)

// CauseOf is the cause in the text of an error, without other people's words: what came of its
// request, or all of its first line.
func CauseOf(text string) string {
	text = WithoutQuotes(text)
	if found := request.FindStringSubmatch(text); found != nil {
		return found[1]
	}
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// Shorten keeps at most the first runes of a text, and marks what was cut.
func Shorten(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
