// Package statuspage serves what "solarmirror run" says of itself over HTTP: a page for people, and three addresses for machines.
//
//	/           the status page
//	/healthz    200 while the process is alive
//	/readyz     200 when the mirror can be read and the schedule is kept; else 503 with the reasons
//	/metrics    the same and more for Prometheus
//
// # Model
//
// Everything shown comes from a snapshot: what the ledger in the mirror, the outbox and the files say at one moment. It is read on
// demand, at most every few seconds however many ask, from a mirror opened read-only for this and closed again: the file may have been
// replaced meanwhile. So the numbers hold after a restart, and are those of other commands' runs too. What the process alone
// knows (jobs, requests to the platform) is asked of it. A mirror that is missing, damaged or of another version is a
// snapshot as well, and the page says so.
//
// Old data does not make a worker unready: whoever takes it out of service for that takes away the page that says why. Freshness is a metric,
// and "solarmirror status --max-age" is a check.
//
// The page is in Portuguese or English, as the browser prefers, and loads itself again every half minute without a script. What one
// cause does in many places, such as an outage of the platform, is one problem on it: see faults. It shows while the jobs still try.
//
// # What it must not do
//
// Nothing here writes: there are GET and HEAD, and no operation behind them. No personal data is shown: companies are counted, or
// named by their number in the outbox; of the errors of runs, what stands in quotation marks is left out, since there our errors repeat what
// the platform said; examples of drift and reasons of rejects are left to the command line. Every answer forbids the browser everything but the style sheet, to
// be framed, to be cached. A page on loopback answers only to loopback names, or any web site could read it by
// pointing its own name there (DNS rebinding).
package statuspage

import (
	_ "embed"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/rs/zerolog"

	"solarmirror/cmd/internal/charts"
	"solarmirror/sync/schedule"
)

// Options are what the page needs from around it. Mirror, Outbox and Listen are required.
type Options struct {
	Mirror string // path of the mirror
	Outbox string // path of the outbox
	Listen string // the address it is served at; on loopback only loopback names are answered

	Jobs       func() []schedule.Status // how the jobs stand; nil: there is no worker
	Readers    map[string][]string      // the names of the jobs that read each stream
	Requests   *Requests                // the requests to the platform; nil: none are counted
	Incidents  func() map[string]int    // how many are open, by cause; nil: nobody watches
	StaleAfter time.Duration            // age of a stream that the page warns of; 0: 2 hours
	Zone       *time.Location           // of the times and days on the page; nil: UTC
	Version    string                   // of this program
	Revision   string                   // it was built from; "" when not known
	Now        func() time.Time         // the clock; nil: time.Now
	Log        zerolog.Logger
}

// Alive is the whole answer of /healthz.
const Alive = "alive\n"

const defaultStaleAfter = 2 * time.Hour

// New returns the handler of everything.
func New(o Options) http.Handler {
	if o.StaleAfter == 0 {
		o.StaleAfter = defaultStaleAfter
	}
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Jobs == nil {
		o.Jobs = func() []schedule.Status { return nil }
	}
	s := &site{Options: o, snapshots: &snapshots{options: o}}
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", s.page)
	mux.HandleFunc("/style.css", fixed("text/css; charset=utf-8", pageCSS+charts.CSS))
	mux.HandleFunc("/icon.svg", fixed("image/svg+xml", icon))
	mux.HandleFunc("/healthz", fixed("text/plain; charset=utf-8", Alive))
	mux.HandleFunc("/readyz", s.ready)
	mux.Handle("/metrics", s.metrics())
	return guarded(o.Listen, mux)
}

type site struct {
	Options
	*snapshots
}

//go:embed page.css
var pageCSS string

//go:embed icon.svg
var icon string

// fixed answers the same to everyone.
func fixed(contentType, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		fmt.Fprint(w, text)
	}
}

// guarded refuses what is no reading and what came under a foreign name, and sets the headers of every answer.
func guarded(listen string, next http.Handler) http.Handler {
	onLoopback := isLoopback(hostOf(listen))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		switch {
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "This page can only be read.", http.StatusMethodNotAllowed)
		case onLoopback && !isLoopback(hostOf(r.Host)):
			http.Error(w, "This page answers to localhost, 127.0.0.1 and [::1] only; to reach it by another name, give [http] listen an address that is not loopback.", http.StatusMisdirectedRequest)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// hostOf is an address without its port.
func hostOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

func (s *site) ready(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	var reasons []string
	if err := s.at(r.Context()).err; err != nil {
		reasons = append(reasons, err.Error())
	}
	for _, j := range lateJobs(s.Jobs(), s.Now()) {
		reasons = append(reasons, fmt.Sprintf("the schedule is not kept: %s was due at %s", j.Name, j.Next.UTC().Format(time.RFC3339)))
	}
	if len(reasons) == 0 {
		fmt.Fprintln(w, "ready")
		return
	}
	w.WriteHeader(http.StatusServiceUnavailable)
	fmt.Fprintln(w, strings.Join(reasons, "\n"))
}

// lateness is by how much a job may miss its time before the schedule counts as not kept. A job that waits for its turn, or is still
// running, misses nothing.
const lateness = 2 * time.Minute

func lateJobs(jobs []schedule.Status, now time.Time) (late []schedule.Status) {
	for _, j := range jobs {
		if !j.Next.IsZero() && !j.Running && !j.Waiting && now.Sub(j.Next) > lateness {
			late = append(late, j)
		}
	}
	return late
}

// metrics is a registry of its own: what other packages put into the global one is none of ours.
func (s *site) metrics() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), collector{s})
	if s.Requests != nil {
		registry.MustRegister(s.Requests.all()...)
	}
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorLog: promLog{s.Log}})
}

// promLog passes on what goes wrong with a scrape.
type promLog struct{ log zerolog.Logger }

func (l promLog) Println(v ...any) {
	l.log.Warn().Str("cause", fmt.Sprint(v...)).Msg("metrics could not be served")
}
