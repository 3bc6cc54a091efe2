package statuspage

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"solarmirror/cmd/internal/testtools"
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
		`solarmirror_open_incidents{cause="platform"} 1`, `solarmirror_open_incidents{cause="disk"} 0`, `go_goroutines`, `process_resident_memory_bytes`,
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("no %s", want)
		}
	}
	for _, refused := range []string{`stream_freshness_seconds{stream="equipments"`, `outcome="running"`, `job_next_run_timestamp_seconds{job="verify"`} {
		if strings.Contains(metrics, refused) {
			t.Errorf("%s is there", refused)
		}
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
