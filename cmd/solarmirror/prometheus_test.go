package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"solarmirror/cmd/internal/testtools"
	"solarmirror/sync/platform/platformtest"
)

// TestPrometheus has a real Prometheus, with the configuration and the rules that are shipped, scrape a
// real worker, of which one job fails. Each query of the dashboard must find something, each rule must be
// evaluated, and the alert of that job must be on its way.
func TestPrometheus(t *testing.T) {
	t.Parallel()
	program := testtools.Program(t, "prometheus", "prometheus")
	server := startPrometheus(t, program, startWorker(t))

	for _, v := range readDashboard(t).Templating.List {
		if v.Type == "query" {
			m := regexp.MustCompile(`^label_values\((\w+), (\w+)\)$`).FindStringSubmatch(v.Definition)
			if m == nil {
				t.Fatalf("variable %s: %s", v.Name, v.Definition)
			}
			await(t, server, "/api/v1/label/"+m[2]+"/values?match[]="+m[1], func(values []string) bool { return len(values) > 0 })
		}
	}
	queries := 0
	variables := strings.NewReplacer("$instance", ".*", "$__rate_interval", "1m")
	for _, panel := range readDashboard(t).Panels {
		for _, target := range panel.Targets {
			queries++
			expr := variables.Replace(target.Expr)
			t.Logf("%s: %s", panel.Title, expr)
			labels := regexp.MustCompile(`\{\{(\w+)\}\}`).FindAllStringSubmatch(target.LegendFormat, -1)
			await(t, server, "/api/v1/query?query="+url.QueryEscape(expr), func(found struct {
				Result []struct{ Metric map[string]string }
			}) bool {
				for _, series := range found.Result {
					for _, label := range labels {
						if series.Metric[label[1]] == "" {
							t.Errorf("%s: the legend wants %s, of %v", panel.Title, label[1], series.Metric)
						}
					}
				}
				return len(found.Result) > 0
			})
		}
	}
	if queries < 30 {
		t.Errorf("the dashboard has only %d queries", queries)
	}
	type rules struct {
		Groups []struct {
			Rules []struct {
				Name, Health, LastError string
				LastEvaluation          time.Time
				Alerts                  []struct{ Labels, Annotations map[string]string }
			}
		}
	}
	await(t, server, "/api/v1/rules", func(found rules) bool {
		onItsWay := false
		for _, rule := range found.Groups[0].Rules {
			if rule.LastError != "" {
				t.Errorf("%s: %s", rule.Name, rule.LastError)
			}
			if rule.Health != "ok" {
				return false
			}
			for _, alert := range rule.Alerts {
				onItsWay = onItsWay || rule.Name == "SolarmirrorJobFailing" && alert.Labels["exported_job"] == "publish" &&
					alert.Annotations["summary"] == "The job publish fails."
			}
		}
		return onItsWay
	})
}

// startWorker runs "solarmirror run" for a platform some of whose records are rejected, and returns the
// address of its metrics.
func startWorker(t *testing.T) (listen string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listen = listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	p := newProgram(t, platformtest.New(platformtest.Options{
		Seed: 9, Requests: 30, Equipments: smallCatalogue(), Token: simulationToken,
		Dialect: platformtest.Dialect{Drift: platformtest.DriftAll | platformtest.DriftBad},
	}))
	p.env = []string{"SOLARMIRROR_HTTP_LISTEN=" + listen, "SOLARMIRROR_PUBLISH_PATH=/dev/null/published.db", "SOLARMIRROR_OUTBOX_PATH=private/outbox.db"}
	worker := p.command(t, "run")
	log := &strings.Builder{}
	worker.Stderr = log
	runUntilTheEnd(t, worker, func() string { return log.String() })
	return listen
}

// runUntilTheEnd starts a program, which is stopped when the test ends; one that fails shows what it says.
func runUntilTheEnd(t *testing.T, cmd *exec.Cmd, says func() string) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil && t.Failed() {
			t.Logf("%s: %v\n%s", cmd.Path, err, says())
		}
	})
}

// prometheus is a running one, by its address.
type prometheus string

// startPrometheus runs it with the shipped configuration, but with another target and quicker.
func startPrometheus(t *testing.T, program, target string) prometheus {
	t.Helper()
	shipped, err := os.ReadFile("deploy/prometheus.yaml")
	if err != nil {
		t.Fatal(err)
	}
	rules, err := filepath.Abs(rulesFile)
	if err != nil {
		t.Fatal(err)
	}
	text := string(shipped)
	for shipped, here := range map[string]string{
		"127.0.0.1:8480": target, "[alerts.yaml]": "[" + rules + "]", "scrape_interval: 30s": "scrape_interval: 250ms", "evaluation_interval: 30s": "evaluation_interval: 250ms",
	} {
		if !strings.Contains(text, shipped) {
			t.Fatalf("deploy/prometheus.yaml has no %s", shipped)
		}
		text = strings.ReplaceAll(text, shipped, here)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "prometheus.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address=127.0.0.1:0")
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	said := &strings.Builder{}
	runUntilTheEnd(t, cmd, said.String)
	listening, address := regexp.MustCompile(`msg="Listening on" address=(\S+)`), ""
	for lines := bufio.NewScanner(io.TeeReader(log, said)); lines.Scan(); {
		if m := listening.FindStringSubmatch(lines.Text()); m != nil {
			address = m[1]
		}
		if strings.Contains(lines.Text(), "Server is ready") && address != "" {
			go func() { _, _ = io.Copy(io.Discard, log) }()
			return prometheus(address)
		}
	}
	t.Fatalf("Prometheus does not begin:\n%s", said)
	return ""
}

// await asks until the answer is what is wanted, which takes some scrapes.
func await[T any](t *testing.T, p prometheus, path string, wanted func(T) bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		response, err := http.Get("http://" + string(p) + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		var answer struct {
			Error string
			Data  T
		}
		if err == nil {
			err = json.Unmarshal(body, &answer)
		}
		if err != nil || answer.Error != "" {
			t.Fatalf("%s: %s, %v\n%s", path, response.Status, err, answer.Error)
		}
		if wanted(answer.Data) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s finds only\n%s", path, body)
		}
	}
}
