package statuspage

import (
	"context"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"solarmirror/store"
	"solarmirror/store/outbox"
	"solarmirror/sync/platform"
	"solarmirror/sync/schedule"
)

// Requests counts what is sent to the platform. Give Observe to the client ([platform.Config]) and the whole to [Options].
type Requests struct {
	took    *prometheus.HistogramVec
	retries *prometheus.CounterVec
	now     func() time.Time

	mu       sync.Mutex
	troubles map[string]*trouble // by list
}

// NewRequests returns counts that stand at nothing. now is the clock.
func NewRequests(now func() time.Time) *Requests {
	return &Requests{
		now: now, troubles: map[string]*trouble{},
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "solarmirror_platform_request_duration_seconds", Help: "How long requests to the platform took, by method and status of the answer (0: none came).",
			Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
		}, []string{"method", "code"}),
		retries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "solarmirror_platform_retries_total", Help: "Requests to the platform that repeated one that had failed.",
		}, []string{"method"}),
	}
}

// Observe counts one request.
func (r *Requests) Observe(e platform.Exchange) {
	r.watch(e)
	r.took.WithLabelValues(e.Method, strconv.Itoa(e.Status)).Observe(e.Took.Seconds())
	retries := r.retries.WithLabelValues(e.Method)
	if e.Attempt > 1 {
		retries.Inc()
	}
}

func (r *Requests) all() []prometheus.Collector { return []prometheus.Collector{r.took, r.retries} }

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("solarmirror_"+name, help, labels, nil)
}

var (
	buildInfo = describe("build_info", "Always 1; the labels say what runs.", "version", "revision", "goversion")
	readable  = describe("mirror_readable", "1 when the mirror could be read, else 0; most metrics are left out then.")

	freshness = describe("stream_freshness_seconds", "Time since the moment up to which the mirror holds everything of a stream. Left out before the first complete load.", "stream")
	complete  = describe("stream_complete_through_timestamp_seconds", "That moment.", "stream")
	readAt    = describe("stream_last_success_timestamp_seconds", "When a run that read a stream without a fault last ended. Left out when none did.", "stream")
	rejects   = describe("stream_rejects", "Records of a stream that could not be loaded and wait to be replayed.", "stream")
	drift     = describe("stream_drift_fields", "Fields of a stream that differ from the documentation, by kind.", "stream", "kind")

	runs    = describe("runs_total", "Runs that have ended, by command and outcome.", "command", "outcome")
	pages   = describe("pages_read_total", "Pages read from the platform, by command.", "command")
	records = describe("records_read_total", "Records read from the platform, by command.", "command")
	changes = describe("records_written_total", "Records written to the mirror, by command and what happened to them: inserted, changed, deleted.", "command", "change")

	outboxCompanies = describe("outbox_companies", "Companies in the outbox, by state.", "state")

	databaseBytes = describe("database_size_bytes", "Size of the mirror's file.")
	walBytes      = describe("database_wal_size_bytes", "Size of the write-ahead log beside it.")
	freeBytes     = describe("disk_free_bytes", "What may still be written on the disk of the mirror.")

	jobNext    = describe("job_next_run_timestamp_seconds", "When a job of the schedule is due next.", "job")
	jobSuccess = describe("job_last_success_timestamp_seconds", "When a run of a job on schedule last ended well. Left out when none did; a push with nothing to send is forgotten at a restart.", "job")
	jobFailure = describe("job_last_failure_timestamp_seconds", "When a run of a job on schedule last ended as failed, partial or panicked. Left out when none did.", "job")
	jobRuns    = describe("job_runs_total", "Runs of a job on schedule since the worker started, by outcome.", "job", "outcome")
	jobRunning = describe("job_running", "1 while a job runs, else 0.", "job")
	jobSkips   = describe("job_skips_total", "Times a job was due while it was still running or waiting.", "job")
	jobPanics  = describe("job_panics_total", "Times a job ended by a defect of the program.", "job")

	incidents = describe("open_incidents", "Incidents that are open, as the alerts tell of them, by cause.", "cause")
)

// collector reads a snapshot at each scrape.
type collector struct{ site *site }

// Describe says nothing: which metrics there are depends on what can be read.
func (collector) Describe(chan<- *prometheus.Desc) {}

func (c collector) Collect(out chan<- prometheus.Metric) {
	s := c.site.at(context.Background())
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	gaugeAt := func(d *prometheus.Desc, at time.Time, label string) {
		if !at.IsZero() {
			gauge(d, unix(at), label)
		}
	}
	counter := func(d *prometheus.Desc, v int64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	gauge(buildInfo, 1, c.site.Version, c.site.Revision, runtime.Version())
	gauge(readable, oneIf(s.err == nil))
	for _, at := range s.streams {
		if !at.CompleteThrough.IsZero() {
			gauge(freshness, at.Age(s.taken).Seconds(), at.Stream.Name)
			gauge(complete, unix(at.CompleteThrough), at.Stream.Name)
		}
		gaugeAt(readAt, at.LastSuccessAt, at.Stream.Name)
		gauge(rejects, float64(at.Rejects), at.Stream.Name)
	}
	for key, n := range s.driftCounts() {
		gauge(drift, float64(n), key.stream, key.kind)
	}
	byCommand := map[string]store.Counts{}
	for _, t := range s.totals {
		counter(runs, t.Runs, t.Command, string(t.Outcome))
		sum := byCommand[t.Command]
		sum.Add(t.Counts)
		byCommand[t.Command] = sum
	}
	for command, n := range byCommand {
		counter(pages, n.Pages, command)
		counter(records, n.Records, command)
		counter(changes, n.Inserted, command, "inserted")
		counter(changes, n.Changed, command, "changed")
		counter(changes, n.Deleted, command, "deleted")
	}
	if s.outboxErr == nil {
		for _, state := range outbox.States() {
			gauge(outboxCompanies, float64(s.outbox.Counts[state]), string(state))
		}
	}
	if s.filesErr == nil {
		gauge(databaseBytes, float64(s.files.Size))
		gauge(walBytes, float64(s.files.WAL))
		if s.files.FreeKnown {
			gauge(freeBytes, float64(s.files.Free))
		}
	}
	if c.site.Incidents != nil {
		for cause, n := range c.site.Incidents() {
			gauge(incidents, float64(n), cause)
		}
	}
	for _, j := range c.site.Jobs() {
		gaugeAt(jobNext, j.Next, j.Name)
		gaugeAt(jobSuccess, s.lastEnd(j, schedule.OK), j.Name)
		gaugeAt(jobFailure, s.lastEnd(j, schedule.Failed, schedule.Partial, schedule.Panicked), j.Name)
		for _, outcome := range schedule.Outcomes() {
			counter(jobRuns, j.Ended[outcome].Runs, j.Name, string(outcome))
		}
		gauge(jobRunning, oneIf(j.Running), j.Name)
		counter(jobSkips, j.Skips, j.Name)
		counter(jobPanics, j.Ended[schedule.Panicked].Runs, j.Name)
	}
}

// lastEnd returns when a job on schedule last ended with one of the outcomes, zero for never. The
// ledger knows it of earlier processes; the schedule also knows runs that are not in the ledger.
func (s *snapshot) lastEnd(j schedule.Status, outcomes ...schedule.Outcome) (last time.Time) {
	later := func(at time.Time) {
		if at.After(last) {
			last = at
		}
	}
	for _, outcome := range outcomes {
		later(j.Ended[outcome].Last)
		for _, t := range s.totals {
			if t.Command == j.Name && string(t.Outcome) == string(outcome) {
				later(t.LastOnSchedule)
			}
		}
	}
	return last
}

// driftKey is what drift is counted by.
type driftKey struct{ stream, kind string }

func (s *snapshot) driftCounts() map[driftKey]int {
	counts := map[driftKey]int{}
	for _, d := range s.drift {
		counts[driftKey{d.Stream, d.Kind}]++
	}
	return counts
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func unix(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
