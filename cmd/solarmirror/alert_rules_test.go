package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"solarmirror/cmd/internal/setup"
	"solarmirror/cmd/internal/testtools"
	"solarmirror/sync/platform/platformtest"
	"solarmirror/sync/schedule"
)

// scrapeEvery is how often a worker is scraped; Prometheus takes a series for ended after five minutes.
const scrapeEvery = 2 * time.Minute

// scrapes are the series of a worker as Prometheus would have them.
type scrapes struct {
	names  *regexp.Regexp // of the metrics that are kept
	start  time.Time
	taken  int
	values map[string][]string // by series; shorter than taken where a series ended
}

// target is what Prometheus adds to the labels; it renames a label "job" of the worker's own.
const target = `instance="127.0.0.1:8480",job="solarmirror"`

var sample = regexp.MustCompile(`(?m)^([a-z_]+)(?:\{(.*)\})? (\S+)$`)

func (s *scrapes) add(t *testing.T, now time.Time, metrics string) {
	t.Helper()
	if want := s.start.Add(time.Duration(s.taken) * scrapeEvery); now.Sub(want) < 0 || now.Sub(want) >= scrapeEvery {
		t.Errorf("scrape %d is at %s, not %s", s.taken, now, want)
	}
	for _, m := range append(sample.FindAllStringSubmatch(metrics, -1), []string{"", "up", "", "1"}) {
		if !s.names.MatchString(m[1]) {
			continue
		}
		value, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			t.Error(err)
		}
		if strings.HasSuffix(m[1], "_timestamp_seconds") { // promtool's time begins at 0
			value -= float64(s.start.Unix())
		}
		series := m[1] + "{" + target + strings.ReplaceAll(","+m[2], ",job=", ",exported_job=") + "}"
		for len(s.values[series]) < s.taken {
			s.values[series] = append(s.values[series], "stale")
		}
		s.values[series] = append(s.values[series], strconv.FormatFloat(value, 'f', -1, 64))
	}
	s.taken++
}

// minutes is when the next scrape is due, in minutes after the first.
func (s *scrapes) minutes() int { return int(time.Duration(s.taken) * scrapeEvery / time.Minute) }

// input is what a test of promtool takes.
func (s *scrapes) input() (list []map[string]string) {
	for series, values := range s.values {
		if len(values) < s.taken {
			values = append(slices.Clone(values), "stale")
		}
		list = append(list, map[string]string{"series": series, "values": strings.Join(values, " ")})
	}
	return list
}

// rulesFile is the alert rules as they are shipped.
const rulesFile = "deploy/alerts.yaml"

// firing is a test of promtool: exactly these alerts fire at a minute, each given by its labels.
func firing(minute int, alerts ...string) map[string]any {
	samples := []map[string]any{}
	for _, labels := range alerts {
		samples = append(samples, map[string]any{"labels": `ALERTS{alertstate="firing",` + labels + "}", "value": 1})
	}
	return map[string]any{"expr": `ALERTS{alertstate="firing"}`, "eval_time": fmt.Sprintf("%dm", minute), "exp_samples": samples}
}

func jobFailing(job string) string {
	return fmt.Sprintf(`alertname="SolarmirrorJobFailing",exported_job=%q,severity="critical",`, job) + target
}

func streamStale(stream string) string {
	return fmt.Sprintf(`alertname="SolarmirrorStreamStale",stream=%q,severity="critical",`, stream) + target
}

// TestAlertsOfAWorker feeds the alert rules with the series of a worker that is scraped:
// of half a good hour, of an outage of the platform for three hours and a half, and of a company in doubt.
// The worker is restarted between them.
func TestAlertsOfAWorker(t *testing.T) {
	t.Parallel()
	promtool := testtools.Program(t, "promtool", "prometheus")
	var inDoubt atomic.Bool
	s := newScene(t, platformtest.Options{
		Seed: 9, Requests: 30, Equipments: smallCatalogue(),
		CompanyOutcome: func(*platformtest.CompanyCall) platformtest.CompanyOutcome {
			inDoubt.Store(true)
			return platformtest.CompanyBadGateway
		},
	}, "SOLARMIRROR_SCHEDULE_PUSH=*/5 * * * *")
	rules, err := os.ReadFile(rulesFile)
	if err != nil {
		t.Fatal(err)
	}
	all := &scrapes{
		names: regexp.MustCompile("^(up|" + strings.Join(metricNames(string(rules)), "|") + ")$"),
		start: s.clock.Now().Truncate(scrapeEvery).Add(scrapeEvery), values: map[string][]string{},
	}
	page := s.pageHandler(func() []schedule.Status { return s.jobsNow() })
	live := func(minutes int) {
		t.Helper()
		s.live(t, s.clock.Now().Add(time.Duration(minutes)*time.Minute), schedule.Job{
			Name: "scrape", Spec: mustSpec(t, "*/2 * * * *"), Line: mirrorLine, Last: s.clock.Now(),
			Run: func(context.Context) (schedule.Outcome, error) {
				answer := httptest.NewRecorder()
				page.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
				all.add(t, s.clock.Now(), answer.Body.String())
				return schedule.OK, nil
			},
		})
	}
	live(30)
	s.down.Store(true)
	live(210)
	s.down.Store(false)
	live(80)
	sound := all.minutes()
	if err := s.queue(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	live(20)
	if !inDoubt.Load() {
		t.Fatal("no company was sent")
	}
	box, err := setup.Outbox(t.Context(), s.config, s.worker.log, s.clock.Now)
	if err != nil {
		t.Fatal(err)
	}
	_, err = box.Resolve(t.Context(), 1, true)
	if err := errors.Join(err, box.Close()); err != nil {
		t.Fatal(err)
	}
	live(20)

	doubt := `alertname="SolarmirrorCompanyInDoubt",severity="warning",state="ambiguous",` + target
	tests := []map[string]any{
		firing(25),
		firing(55), // the sync of minute 43 failed; one failure is nothing yet
		firing(110, jobFailing("sync"), jobFailing("full_equipments")),
		firing(220, jobFailing("sync"), jobFailing("full_equipments"), streamStale("orders"), streamStale("budgets"), streamStale("equipments")),
		firing(sound - 2),
		firing(sound+18, doubt),
		firing(all.minutes() - 2),
	}
	runPromtool(t, promtool, map[string]any{
		"interval": scrapeEvery.String(), "input_series": all.input(), "promql_expr_test": tests,
		"alert_rule_test": []any{map[string]any{
			"alertname": "SolarmirrorJobFailing", "eval_time": "110m", "exp_alerts": []any{
				expectedFailure("full_equipments"), expectedFailure("sync"),
			},
		}},
	})
}

// expectedFailure has the texts of an alert as an operator gets them.
func expectedFailure(job string) map[string]any {
	return map[string]any{
		"exp_labels": map[string]string{"exported_job": job, "severity": "critical", "instance": "127.0.0.1:8480", "job": "solarmirror"},
		"exp_annotations": map[string]string{
			"summary":     "The job " + job + " fails.",
			"description": "The job " + job + " failed, wholly or in part, and did not succeed since. It runs again at its next time.",
			"command":     "solarmirror runs list",
		},
	}
}

// runPromtool has promtool test the rules.
func runPromtool(t *testing.T, promtool string, test map[string]any) {
	t.Helper()
	rules, err := filepath.Abs(rulesFile)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "test.yaml") // JSON is YAML
	text, err := json.Marshal(map[string]any{"rule_files": []string{rules}, "evaluation_interval": "1m", "tests": []any{test}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(promtool, "test", "rules", file).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestAlertsOfSeries feeds each of the other rules with handwritten series that cross its limit.
func TestAlertsOfSeries(t *testing.T) {
	t.Parallel()
	promtool := testtools.Program(t, "promtool", "prometheus")
	series := map[string]string{ // for two hours
		`up{` + target + `}`:                          "1x60 0x60",
		`solarmirror_mirror_readable{` + target + `}`: "1x60 0x60",
		`solarmirror_job_next_run_timestamp_seconds{exported_job="sync",` + target + `}`: "7200x30 4000x90",
		`solarmirror_stream_rejects{stream="orders",` + target + `}`:                     "7x60 8x60",
		`solarmirror_open_incidents{cause="breaker",` + target + `}`:                     "0x60 1x60",
		`solarmirror_open_incidents{cause="platform",` + target + `}`:                    "1x120",
		`solarmirror_disk_free_bytes{` + target + `}`:                                    "9000000000x60 3000000000x60",
		`solarmirror_database_size_bytes{` + target + `}`:                                "2000000000x120",
		`solarmirror_database_wal_size_bytes{` + target + `}`:                            "0x30 300000000x90",
	}
	var input []map[string]string
	for name, values := range series {
		input = append(input, map[string]string{"series": name, "values": values})
	}
	alert := func(name, severity, labels string) string {
		return fmt.Sprintf("alertname=%q,severity=%q,%s", "Solarmirror"+name, severity, labels) + target
	}
	runPromtool(t, promtool, map[string]any{
		"interval": "1m", "input_series": input, "promql_expr_test": []map[string]any{
			firing(59),
			firing(110, alert("Down", "critical", ""), alert("MirrorUnreadable", "critical", ""), alert("ScheduleNotKept", "critical", `exported_job="sync",`),
				alert("IncidentOpen", "critical", `cause="breaker",`),
				alert("NewRejects", "warning", `stream="orders",`), alert("DiskLow", "warning", ""), alert("WALLarge", "warning", "")),
		},
	})
	runPromtool(t, promtool, map[string]any{ // nothing is scraped under that name
		"interval": "1m", "input_series": []map[string]string{{"series": `up{job="node"}`, "values": "1x60"}},
		"promql_expr_test": []map[string]any{firing(30, `alertname="SolarmirrorDown",severity="critical",job="solarmirror"`)},
	})

	rules, err := os.ReadFile(rulesFile)
	if err != nil {
		t.Fatal(err)
	}
	tested := []string{
		"SolarmirrorCompanyInDoubt", "SolarmirrorDiskLow", "SolarmirrorDown", "SolarmirrorIncidentOpen", "SolarmirrorJobFailing", "SolarmirrorMirrorUnreadable",
		"SolarmirrorNewRejects", "SolarmirrorScheduleNotKept", "SolarmirrorStreamStale", "SolarmirrorWALLarge",
	}
	shipped := map[string]bool{}
	for _, m := range regexp.MustCompile(`- alert: (\w+)`).FindAllStringSubmatch(string(rules), -1) {
		shipped[m[1]] = true
	}
	if diff := cmp.Diff(tested, slices.Sorted(maps.Keys(shipped))); diff != "" {
		t.Errorf("rules without a test here (-tested +shipped):\n%s", diff)
	}
}
