package statuspage

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"solarmirror/cmd/internal/charts"
	"solarmirror/cmd/internal/words"
	"solarmirror/store"
	"solarmirror/store/outbox"
)

// problem is something an operator should look at.
type problem struct {
	Tone    string // bad: act now; warning: look at it today
	Text    string
	Command string // what to type next; "" where the text says all
}

const (
	// leastFree is the free disk, in bytes, that is enough however small the mirror is.
	leastFree = 1 << 30
	// largeWAL is the size of a write-ahead log, in bytes, that some reader keeps from being emptied.
	largeWAL = 256 << 20
)

// Problems lists what is wrong, the worst first; nothing means that all is well.
func (v *view) Problems() []problem {
	var bad, warnings []problem
	report := func(to *[]problem, command, format string, args ...any) {
		p := problem{Tone: "warning", Text: fmt.Sprintf(format, args...), Command: command}
		if to == &bad {
			p.Tone = "bad"
		}
		*to = append(*to, p)
	}
	if n := v.outbox.Counts[outbox.StateAmbiguous]; n > 0 {
		report(&bad, "solarmirror outbox list ambiguous", "Companies in doubt: %s. Nobody knows whether the platform has them, and they are not sent again by themselves.", charts.English.Number(float64(n), 0))
	}
	for _, late := range lateJobs(v.Jobs, v.taken) {
		report(&bad, "", "%s.", capital(late))
	}
	for _, r := range v.lastOfEach() {
		switch r.Outcome {
		case store.Failed:
			report(&bad, "solarmirror status", "The last %s failed %s.", r.Command, v.ago(r.FinishedAt))
		case store.Partial:
			report(&warnings, "solarmirror status", "The last %s did only a part %s.", r.Command, v.ago(r.FinishedAt))
		}
	}
	for _, s := range v.streams {
		switch {
		case s.CompleteThrough.IsZero():
			report(&warnings, "", "%s have not been read to their end yet.", capital(s.Stream.Name))
		case v.isStale(s):
			report(&bad, "solarmirror sync", "%s are %s old.", capital(s.Stream.Name), words.Age(s.Age(v.taken)))
		}
		if s.Promise != "" {
			report(&warnings, "solarmirror verify", "%s, %s.", capital(s.Stream.Name), s.Promise)
		}
		if s.Rejects > 0 {
			report(&warnings, "solarmirror rejects list", "Records of %s that could not be loaded and are kept as they came: %s.", s.Stream.Name, charts.English.Number(float64(s.Rejects), 0))
		}
	}
	if n := v.outbox.Counts[outbox.StateRejected]; n > 0 {
		report(&warnings, "solarmirror outbox list rejected", "Rejected companies that wait to be corrected or cancelled: %s.", charts.English.Number(float64(n), 0))
	}
	if v.outboxErr != nil {
		report(&bad, "solarmirror doctor", "The outbox cannot be read.")
	}
	if f := v.files; v.filesErr == nil && f.FreeKnown && f.Free < max(2*f.Size, leastFree) {
		report(&warnings, "solarmirror doctor", "Only %s are free on the disk of the mirror.", humanize.IBytes(uint64(f.Free)))
	}
	if v.files.WAL > largeWAL {
		report(&warnings, "solarmirror doctor", "The write-ahead log has %s: some program keeps reading an old state of the mirror.", humanize.IBytes(uint64(v.files.WAL)))
	}
	return append(bad, warnings...)
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// lastOfEach is the last run of each command that has ended, of the days shown.
func (v *view) lastOfEach() []store.Run {
	var list []store.Run
	seen := map[string]bool{}
	for _, r := range v.runs {
		if r.Outcome != store.Running && !seen[r.Command] {
			seen[r.Command] = true
			list = append(list, r)
		}
	}
	return list
}
