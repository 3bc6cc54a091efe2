package statuspage

import (
	"bytes"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"solarmirror/cmd/internal/testtools"
	"solarmirror/store"
	"solarmirror/sync/schedule"
)

// TestMetrics compares what is scraped with what the world was given.
func TestMetrics(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(t)
	o := w.options()
	o.Incidents = func() map[string]int { return map[string]int{"platform": 1, "disk": 0} }
	metrics := get(t, New(o), "/metrics").Body.String()
	for _, want := range []string{
		`solarmirror_build_info{goversion="go1.`, `revision="abcdef0",version="v1.2.3"} 1`, `solarmirror_mirror_readable 1`,
		`solarmirror_stream_freshness_seconds{stream="orders"} 240`, `solarmirror_stream_freshness_seconds{stream="budgets"} 18000`,
		`solarmirror_stream_rejects{stream="orders"} 3`, `solarmirror_stream_rejects{stream="budgets"} 0`, `solarmirror_stream_drift_fields{kind="unknown",stream="orders"} 5`,
		`solarmirror_outbox_companies{state="ambiguous"} 2`, `solarmirror_outbox_companies{state="cancelled"} 0`, `solarmirror_outbox_companies{state="pending"} 2`,
		`solarmirror_runs_total{command="sync",outcome="ok"}`, `solarmirror_runs_total{command="sync",outcome="failed"}`,
		`solarmirror_records_written_total{change="inserted",command="sync"}`, `solarmirror_pages_read_total{command="sync"}`, `solarmirror_records_read_total{command="sync"}`,
		`solarmirror_database_size_bytes`, `solarmirror_database_wal_size_bytes 0`, `solarmirror_disk_free_bytes`,
		`solarmirror_platform_request_duration_seconds_count{code="200",method="GET"} 40`, `solarmirror_platform_request_duration_seconds_bucket{code="200",method="GET",le="0.1"} 6`,
		`solarmirror_platform_retries_total{method="GET"} 1`, `solarmirror_platform_retries_total{method="POST"} 0`,
		`solarmirror_job_running{job="full_equipments"} 1`, `solarmirror_job_skips_total{job="full_equipments"} 2`, `solarmirror_job_panics_total{job="push"} 1`,
		`solarmirror_job_runs_total{job="sync",outcome="ok"} 9`, `solarmirror_job_runs_total{job="push",outcome="panicked"} 1`,
		`solarmirror_job_runs_total{job="verify",outcome="failed"} 0`, // so that the first failure is seen to add one
		`solarmirror_job_last_success_timestamp_seconds{job="sync"} ` + at(now.Add(-3*time.Minute)),
		`solarmirror_job_last_failure_timestamp_seconds{job="push"} ` + at(now.Add(-4*time.Second)),
		`solarmirror_stream_last_success_timestamp_seconds{stream="orders"} ` + at(now.Add(-199*time.Second)),
		`solarmirror_open_incidents{cause="platform"} 1`, `solarmirror_open_incidents{cause="disk"} 0`, `go_goroutines`, `process_resident_memory_bytes`,
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("no %s", want)
		}
	}
	for _, refused := range []string{`stream_freshness_seconds{stream="equipments"`, `job_last_success_timestamp_seconds{job="push"`, `outcome="running"`, `job_next_run_timestamp_seconds{job="verify"`} {
		if strings.Contains(metrics, refused) {
			t.Errorf("%s is there", refused)
		}
	}
}

// at is a moment as the metrics say it.
func at(t time.Time) string { return strconv.FormatFloat(unix(t), 'g', -1, 64) }

// After a restart the ledger says when a job on schedule last succeeded and failed. Runs that people
// started do not count.
func TestLastEndsAfterARestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.clock = now.Add(-time.Hour)
	mirror, err := store.Open(t.Context(), w.mirror(), store.Options{Now: w.now})
	must(t, err)
	for i, r := range []struct {
		trigger string
		outcome store.Outcome
	}{
		{store.TriggerSchedule, store.Failed}, {store.TriggerSchedule, store.OK}, {store.TriggerSchedule, store.Partial},
		{store.TriggerSchedule, store.Interrupted}, {store.TriggerManual, store.OK}, {store.TriggerManual, store.Failed},
	} {
		w.clock = now.Add(time.Duration(i-10) * time.Minute)
		run, err := mirror.StartRun(t.Context(), "sync", r.trigger)
		must(t, err)
		must(t, mirror.FinishRun(t.Context(), run.ID, store.Ending{Outcome: r.outcome}))
	}
	must(t, mirror.Close())
	o := w.options()
	o.Jobs = func() []schedule.Status { return []schedule.Status{{Name: "sync"}, {Name: "verify"}} }
	metrics := get(t, New(o), "/metrics").Body.String()
	for _, want := range []string{
		`solarmirror_job_last_success_timestamp_seconds{job="sync"} ` + at(now.Add(-9*time.Minute)),
		`solarmirror_job_last_failure_timestamp_seconds{job="sync"} ` + at(now.Add(-8*time.Minute)),
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("no %s", want)
		}
	}
	if refused := `timestamp_seconds{job="verify"`; strings.Contains(metrics, refused) {
		t.Errorf("%s is there", refused)
	}
}

// TestPromtool has Prometheus's own checker look at the names, types and words.
func TestPromtool(t *testing.T) {
	t.Parallel()
	promtool := testtools.Program(t, "promtool", "prometheus")
	full, empty := newWorld(t), newWorld(t)
	full.fill(t)
	for name, w := range map[string]*world{"full": full, "empty": empty} {
		check := exec.Command(promtool, "check", "metrics")
		check.Stdin = bytes.NewReader(get(t, New(w.options()), "/metrics").Body.Bytes())
		if out, err := check.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}
