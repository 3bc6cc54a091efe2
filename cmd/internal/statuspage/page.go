package statuspage

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"solarmirror/cmd/internal/charts"
	"solarmirror/cmd/internal/words"
	"solarmirror/store"
	"solarmirror/store/outbox"
	"solarmirror/store/sqlitefile"
	"solarmirror/sync/schedule"
)

//go:embed page.html
var pageHTML string

func (s *site) page(w http.ResponseWriter, r *http.Request) {
	snap := s.at(r.Context())
	jobs := s.Jobs()
	v := &view{snapshot: snap, Options: s.Options, W: textsFor(r), Jobs: jobs, troubles: s.Requests.lasting(jobs, s.Now())}
	var page bytes.Buffer
	if err := v.template().Execute(&page, v); err != nil {
		s.Log.Error().Err(err).Msg("the status page could not be made")
		http.Error(w, "The status page could not be made; the log says why. \"solarmirror status\" shows the same.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Vary", "Accept-Language")
	_, _ = w.Write(page.Bytes()) // the reader may have gone
}

// view is what the template shows: a snapshot, in words.
type view struct {
	*snapshot
	Options
	W        *texts
	Jobs     []schedule.Status
	troubles map[string]trouble // that last, by list
}

// parsed knows the names of the functions; each view brings its own, which know its moment and zone.
var parsed = template.Must(template.New("page").Funcs((&view{W: english}).functions()).Parse(pageHTML))

func (v *view) template() *template.Template {
	return template.Must(parsed.Clone()).Funcs(v.functions())
}

func (v *view) functions() template.FuncMap {
	return template.FuncMap{
		"moment":  v.moment,
		"ago":     v.ago,
		"number":  v.number,
		"bytes":   v.bytes,
		"took":    v.age,
		"tone":    tone,
		"span":    span,
		"stream":  v.streamName,
		"job":     v.jobName,
		"outcome": func(o any) string { return named(v.W.Outcomes, fmt.Sprint(o)) },
		"state":   func(s outbox.State) string { return named(v.W.States, string(s)) },
		"kind":    func(k string) string { return named(v.W.Kinds, k) },
	}
}

func (v *view) streamName(name string) string { return named(v.W.StreamNames, name) }
func (v *view) jobName(name string) string    { return named(v.W.JobNames, name) }
func (v *view) number(n int64) string         { return v.W.Language.Number(float64(n), 0) }
func (v *view) age(d time.Duration) string    { return words.AgeIn(d, v.W.Under, v.W.Days) }

func (v *view) bytes(n int64) string {
	text := humanize.IBytes(uint64(max(n, 0)))
	if v.W.Language == charts.Portuguese {
		return strings.Replace(text, ".", ",", 1)
	}
	return text
}

func (v *view) BaseURL() string  { return v.baseURL }
func (v *view) Taken() time.Time { return v.taken }

// Unreadable is why there is nothing to show of the mirror; "" when there is.
func (v *view) Unreadable() string {
	if v.err == nil {
		return ""
	}
	return v.err.Error()
}

// moment is a time to the minute in the page's zone, as an element that also says it exactly.
func (v *view) moment(t time.Time) template.HTML {
	if t.IsZero() {
		return template.HTML(v.W.Never)
	}
	return template.HTML(fmt.Sprintf(`<time datetime="%s">%s</time>`, t.UTC().Format(time.RFC3339), t.In(v.Zone).Format(v.W.Moment)))
}

// ago says how long before the page was made, or after it, as exactly as matters.
func (v *view) ago(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	if d := t.Sub(v.taken); d > 0 {
		return fmt.Sprintf(v.W.In, v.age(d))
	}
	return fmt.Sprintf(v.W.Ago, v.age(v.taken.Sub(t)))
}

func span(from, to time.Time) time.Duration { return to.Sub(from) }

// tone is the class an outcome or a state is shown in.
func tone(state any) string {
	switch fmt.Sprint(state) {
	case "ok", "done", "complete":
		return "good"
	case "partial", "interrupted", "skipped", "rejected":
		return "warning"
	case "failed", "panicked", "ambiguous":
		return "bad"
	}
	return "muted"
}

// streamView is a stream in words.
type streamView struct {
	store.Freshness
	Share   float64 // percent of the first load; 0 when that is over or not known
	Loading string  // the same in words
	Next    string  // when it is read next; "" where there is no worker
	Tone    string  // of its card
}

func (v *view) Streams() []streamView {
	list := make([]streamView, len(v.streams))
	for i, s := range v.streams {
		list[i] = streamView{
			Freshness: s, Next: v.nextRun(s.Stream.Name), Tone: v.streamTone(s),
		}
		if !math.IsNaN(s.Loaded) {
			list[i].Share = s.Loaded
			list[i].Loading = v.W.Language.Number(s.Loaded, 1)
		}
	}
	return list
}

// streamTone colours a card by the worst that is known of the stream.
func (v *view) streamTone(s store.Freshness) string {
	_, fails := v.troubles[s.Stream.Name]
	switch last := tone(s.LastOutcome); {
	case v.isStale(s), last == "bad":
		return "bad"
	case fails, last == "warning":
		return "warning"
	case s.CompleteThrough.IsZero():
		return "muted"
	}
	return "good"
}

// nextRun says when the first of the jobs that read a stream does so next.
func (v *view) nextRun(stream string) string {
	var next time.Time
	for _, j := range v.Jobs {
		switch {
		case !slices.Contains(v.Readers[stream], j.Name):
		case j.Running:
			return v.W.Now
		case !j.Next.IsZero() && (next.IsZero() || j.Next.Before(next)):
			next = j.Next
		}
	}
	switch {
	case len(v.Jobs) == 0:
		return ""
	case next.IsZero():
		return v.W.NotScheduled
	}
	return v.ago(next)
}

func (v *view) isStale(s store.Freshness) bool {
	return !s.CompleteThrough.IsZero() && s.Age(v.taken) > v.StaleAfter
}

// runView is a run in words.
type runView struct {
	store.Entry
	Error string // without other people's words
}

// shownRuns is how many of the last runs are listed.
const shownRuns = 10

func (v *view) Runs() []runView {
	list := make([]runView, 0, shownRuns)
	for _, e := range v.entries[:min(len(v.entries), shownRuns)] {
		list = append(list, runView{Entry: e, Error: words.WithoutQuotes(e.Error)})
	}
	return list
}

// stateCount is how many companies stand in a state.
type stateCount struct {
	State outbox.State
	Count int64
}

func (v *view) Outbox() []stateCount {
	var list []stateCount
	for _, state := range outbox.States() {
		list = append(list, stateCount{state, v.outbox.Counts[state]})
	}
	return list
}

func (v *view) Doubts() []outbox.Doubt { return v.outbox.Doubts }

func (v *view) OutboxError() string {
	if v.outboxErr == nil {
		return ""
	}
	return v.outboxErr.Error()
}

// shownDrift is how many differences are listed; the rest is counted.
const shownDrift = 12

func (v *view) Drift() []store.DriftRecord { return v.drift[:min(len(v.drift), shownDrift)] }
func (v *view) MoreDrift() int             { return max(0, len(v.drift)-shownDrift) }

func (v *view) Files() sqlitefile.FileState { return v.files }
