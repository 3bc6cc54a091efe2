package statuspage

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"solarmirror/cmd/internal/words"
	"solarmirror/store"
	"solarmirror/store/outbox"
)

// problem is something an operator should look at.
type problem struct {
	Tone    string // bad: act now; warning: look at it today
	Text    string
	Cause   string // in the program's own words; "" where there is none to tell
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
	var list []problem
	report := func(tone, command, format string, args ...any) {
		list = append(list, problem{Tone: tone, Text: fmt.Sprintf(format, args...), Command: command})
	}
	if n := v.outbox.Counts[outbox.StateAmbiguous]; n > 0 {
		report("bad", "solarmirror outbox list ambiguous", v.W.InDoubt, v.number(n))
	}
	for _, j := range lateJobs(v.Jobs, v.taken) {
		report("bad", "", v.W.Late, v.jobName(j.Name), v.ago(j.Next))
	}
	told := map[string]bool{} // the streams whose age a fault explains
	for _, f := range v.faults() {
		list = append(list, v.tell(f, told))
	}
	v.reportStreams(report, told)
	if n := v.outbox.Counts[outbox.StateRejected]; n > 0 {
		report("warning", "solarmirror outbox list rejected", v.W.RejectedCompanies, v.number(n))
	}
	if v.outboxErr != nil {
		report("bad", "solarmirror doctor", "%s", v.W.OutboxUnreadable)
	}
	if f := v.files; v.filesErr == nil && f.FreeKnown && f.Free < max(2*f.Size, leastFree) {
		report("warning", "solarmirror doctor", v.W.LittleSpace, v.bytes(f.Free))
	}
	if v.files.WAL > largeWAL {
		report("warning", "solarmirror doctor", v.W.LargeWAL, v.bytes(v.files.WAL))
	}
	slices.SortStableFunc(list, func(a, b problem) int { return cmp.Compare(a.Tone, b.Tone) }) // bad, warning
	return list
}

// reportStreams tells what is to be said of the streams but for those that were told of.
func (v *view) reportStreams(report func(tone, command, format string, args ...any), told map[string]bool) {
	var behind, loading, rejects []string
	promises := map[string][]string{}
	for _, s := range v.streams {
		name := v.streamName(s.Stream.Name)
		switch {
		case told[s.Stream.Name]:
		case s.CompleteThrough.IsZero():
			loading = append(loading, name)
		case v.isStale(s):
			behind = append(behind, fmt.Sprintf(v.W.BehindOne, name, v.age(s.Age(v.taken))))
		}
		if s.Promise != "" {
			promises[s.Promise] = append(promises[s.Promise], name)
		}
		if s.Rejects > 0 {
			rejects = append(rejects, name+" "+v.number(s.Rejects))
		}
	}
	if len(behind) > 0 {
		report("bad", "solarmirror sync", v.W.Behind, strings.Join(behind, ", "))
	}
	if len(loading) > 0 {
		report("warning", "", v.W.Loading, strings.Join(loading, ", "))
	}
	for promise, names := range promises {
		report("warning", "solarmirror verify", v.W.Promise, strings.Join(names, ", ")+"; "+promise)
	}
	if len(rejects) > 0 {
		report("warning", "solarmirror rejects list", v.W.Rejects, strings.Join(rejects, ", "))
	}
}

// fault is one cause and what it stops.
type fault struct {
	cause    string
	troubles []trouble
	runs     []store.Entry // the last of their commands, which failed or did only a part
}

// faults finds what one cause does in many places: an outage of the platform stops every job and every stream.
func (v *view) faults() []*fault {
	var list []*fault
	of := func(cause string) *fault {
		i := slices.IndexFunc(list, func(f *fault) bool { return f.cause == cause })
		if i < 0 {
			i, list = len(list), append(list, &fault{cause: cause})
		}
		return list[i]
	}
	for _, s := range v.streams {
		if t, lasts := v.troubles[s.Stream.Name]; lasts {
			f := of(words.WithoutQuotes(t.cause))
			f.troubles = append(f.troubles, t)
		}
	}
	for _, e := range v.lastOfEach() {
		if e.Outcome == store.Failed || e.Outcome == store.Partial {
			f := of(words.CauseOf(e.Error))
			f.runs = append(f.runs, e)
		}
	}
	return list
}

// tell makes one problem of a fault, and names the streams that are behind because of it.
func (v *view) tell(f *fault, told map[string]bool) problem {
	p := problem{Tone: "warning", Cause: f.cause, Command: "solarmirror doctor"}
	var text, failed, partly, behind, loading []string
	if len(f.troubles) > 0 {
		text = append(text, v.trying(f.troubles))
	} else {
		p.Command = fmt.Sprintf("solarmirror runs show %d", f.runs[0].ID)
	}
	for _, e := range f.runs {
		name := v.jobName(e.Command) + " " + v.ago(e.FinishedAt)
		if e.Outcome == store.Failed {
			failed, p.Tone = append(failed, name), "bad"
		} else {
			partly = append(partly, name)
		}
	}
	for _, s := range v.streams {
		switch name := v.streamName(s.Stream.Name); {
		case !f.stops(v, s):
		case s.CompleteThrough.IsZero():
			loading, told[s.Stream.Name] = append(loading, name), true
		case v.isStale(s):
			behind, told[s.Stream.Name] = append(behind, fmt.Sprintf(v.W.BehindOne, name, v.age(s.Age(v.taken)))), true
			p.Tone = "bad"
		}
	}
	for _, part := range []struct {
		format string
		names  []string
	}{{v.W.LastFailed, failed}, {v.W.LastPartly, partly}, {v.W.Behind, behind}, {v.W.Loading, loading}} {
		if len(part.names) > 0 {
			text = append(text, fmt.Sprintf(part.format, strings.Join(part.names, ", ")))
		}
	}
	p.Text = strings.Join(text, " ")
	return p
}

func (v *view) trying(list []trouble) string {
	var tries int64
	var names []string
	since := list[0].since
	for _, t := range list {
		tries += t.tries
		names = append(names, v.streamName(t.list))
		if t.since.Before(since) {
			since = t.since
		}
	}
	return fmt.Sprintf(v.W.Trying, v.number(tries), v.age(v.taken.Sub(since)), strings.Join(names, ", "))
}

// stops says whether the fault keeps a stream from being read.
func (f *fault) stops(v *view, s store.Freshness) bool {
	return slices.ContainsFunc(f.troubles, func(t trouble) bool { return t.list == s.Stream.Name }) ||
		s.LastOutcome != store.OK && slices.ContainsFunc(f.runs, func(e store.Entry) bool { return slices.Contains(v.Readers[s.Stream.Name], e.Command) })
}

// lastOfEach is the last entry of each command that has ended, of the days shown.
func (v *view) lastOfEach() []store.Entry {
	var list []store.Entry
	seen := map[string]bool{}
	for _, e := range v.entries {
		if e.Outcome != store.Running && !seen[e.Command] {
			seen[e.Command] = true
			list = append(list, e)
		}
	}
	return list
}
