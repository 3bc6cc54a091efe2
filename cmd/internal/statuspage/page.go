package statuspage

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"net/http"
	"regexp"
	"slices"
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
	v := &view{snapshot: snap, Options: s.Options, Jobs: s.Jobs()}
	var page bytes.Buffer
	if err := v.template().Execute(&page, v); err != nil {
		s.Log.Error().Err(err).Msg("the status page could not be made")
		http.Error(w, "The status page could not be made; the log says why. \"solarmirror status\" shows the same.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(page.Bytes()) // the reader may have gone
}

// view is what the template shows: a snapshot, in words.
type view struct {
	*snapshot
	Options
	Jobs []schedule.Status
}

// parsed knows the names of the functions; each view brings its own, which know its moment and zone.
var parsed = template.Must(template.New("page").Funcs((&view{}).functions()).Parse(pageHTML))

func (v *view) template() *template.Template {
	return template.Must(parsed.Clone()).Funcs(v.functions())
}

func (v *view) functions() template.FuncMap {
	return template.FuncMap{
		"moment": v.moment,
		"ago":    v.ago,
		"number": func(n int64) string { return charts.English.Number(float64(n), 0) },
		"bytes":  func(n int64) string { return humanize.IBytes(uint64(max(n, 0))) },
		"took":   words.Age,
		"tone":   tone,
		"span":   span,
	}
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
		return "never"
	}
	return template.HTML(fmt.Sprintf(`<time datetime="%s">%s</time>`, t.UTC().Format(time.RFC3339), t.In(v.Zone).Format("2 Jan 15:04")))
}

// ago says how long before the page was made, or after it, as exactly as matters.
func (v *view) ago(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	if d := t.Sub(v.taken); d > 0 {
		return "in " + words.Age(d)
	}
	return words.Age(v.taken.Sub(t)) + " ago"
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

// quoted is what stands in quotation marks, where our errors repeat other people's words.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*(?:"|\\?$)`)

// withoutQuotes leaves other people's words out.
func withoutQuotes(text string) string { return quoted.ReplaceAllString(text, `"…"`) }

// streamView is a stream in words.
type streamView struct {
	store.Freshness
	Loading string // how much of the first load is done; "" when that is over or not known
	Next    string // when it is read next; "" where there is no worker
	Stale   bool
}

func (v *view) Streams() []streamView {
	list := make([]streamView, len(v.streams))
	for i, s := range v.streams {
		list[i] = streamView{
			Freshness: s, Next: v.nextRun(s.Stream.Name), Stale: v.isStale(s),
		}
		if !math.IsNaN(s.Loaded) {
			list[i].Loading = charts.English.Number(s.Loaded, 1)
		}
	}
	return list
}

// nextRun says when the first of the jobs that read a stream does so next.
func (v *view) nextRun(stream string) string {
	var next time.Time
	for _, j := range v.Jobs {
		switch {
		case !slices.Contains(v.Readers[stream], j.Name):
		case j.Running:
			return "now"
		case !j.Next.IsZero() && (next.IsZero() || j.Next.Before(next)):
			next = j.Next
		}
	}
	switch {
	case len(v.Jobs) == 0:
		return ""
	case next.IsZero():
		return "not on schedule"
	}
	return v.ago(next)
}

func (v *view) isStale(s store.Freshness) bool {
	return !s.CompleteThrough.IsZero() && s.Age(v.taken) > v.StaleAfter
}

// runView is a run in words.
type runView struct {
	store.Run
	Error string // without other people's words
}

// shownRuns is how many of the last runs are listed.
const shownRuns = 10

func (v *view) Runs() []runView {
	list := make([]runView, 0, shownRuns)
	for _, r := range v.runs[:min(len(v.runs), shownRuns)] {
		list = append(list, runView{Run: r, Error: withoutQuotes(r.Error)})
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
