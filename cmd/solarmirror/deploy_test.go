package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"solarmirror/cmd/internal/testtools"
	"solarmirror/sync/platform/platformtest"
)

// metricNames are the metrics of a worker that a text names, each once.
func metricNames(text string) []string {
	names := regexp.MustCompile(`\bsolarmirror_[a-z_]+[a-z]\b|\b(?:go|process)_[a-z]+_[a-z_]+[a-z]\b|\bgo_goroutines\b`).FindAllString(text, -1)
	slices.Sort(names)
	return slices.Compact(names)
}

// TestMetricsThatAreNamed: each metric that a rule, the dashboard or a document names is one that a worker has.
func TestMetricsThatAreNamed(t *testing.T) {
	t.Parallel()
	s := newScene(t, platformtest.Options{
		Seed: 9, Requests: 30, Equipments: smallCatalogue(), Dialect: platformtest.Dialect{Drift: platformtest.DriftAll | platformtest.DriftBad},
	}, "SOLARMIRROR_PUBLISH_PATH=/dev/null/published.db") // which fails
	s.live(t, s.clock.Now().Add(2*time.Minute))
	answer := httptest.NewRecorder()
	s.pageHandler(s.jobsNow).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	have := map[string]bool{}
	for _, m := range sample.FindAllStringSubmatch(answer.Body.String(), -1) {
		have[m[1]] = true
	}
	named := 0
	for _, pattern := range []string{"deploy/*", "../../*.md", "../../*/README.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range metricNames(string(text)) {
				if named++; !have[name] {
					t.Errorf("%s names %s, which a worker does not have", file, name)
				}
			}
		}
	}
	if named < 30 {
		t.Errorf("only %d names were found", named)
	}
}

// TestCommandsOfAlerts: each command that an alert tells to type is one.
func TestCommandsOfAlerts(t *testing.T) {
	t.Parallel()
	rules, err := os.ReadFile(rulesFile)
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile(`command: solarmirror (.*)`).FindAllStringSubmatch(string(rules), -1)
	if alerts := strings.Count(string(rules), "- alert:"); len(commands) != alerts {
		t.Errorf("%d commands for %d alerts", len(commands), alerts)
	}
	for _, m := range commands {
		cmd, args, err := newRootCommand(&app{}).Find(strings.Fields(m[1]))
		if err != nil || !cmd.Runnable() || cmd.ValidateArgs(args) != nil {
			t.Errorf("%s is no command: %v", m[1], err)
		}
	}
}

// dashboard is what the tests look at of the dashboard.
type dashboard struct {
	Panels []struct {
		ID                       int
		Type, Title, Description string
		GridPos                  struct{ X, Y, W, H int }
		Targets                  []struct{ RefID, Expr, LegendFormat string }
	}
	Templating struct {
		List []struct{ Name, Type, Definition string }
	}
}

func readDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	text, err := os.ReadFile("deploy/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestDashboardLayout: rows in their order, and no panel without words, without a query, or over another.
func TestDashboardLayout(t *testing.T) {
	t.Parallel()
	d := readDashboard(t)
	var rows []string
	ids, taken := map[int]bool{}, map[[2]int]string{}
	for _, p := range d.Panels {
		if ids[p.ID] || p.Title == "" {
			t.Errorf("panel %d %q: the id is there twice, or there is no title", p.ID, p.Title)
		}
		ids[p.ID] = true
		if p.Type == "row" {
			rows = append(rows, p.Title)
		} else if len(p.Targets) == 0 || p.Description == "" {
			t.Errorf("panel %q has %d queries and is described as %q", p.Title, len(p.Targets), p.Description)
		}
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" || x >= 24 {
					t.Fatalf("panel %q covers %q, or leaves the grid", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
	}
	if want := []string{"Freshness", "Runs", "Rejects and doubt", "Platform requests", "Process"}; !slices.Equal(rows, want) {
		t.Errorf("rows %q, want %q", rows, want)
	}
}

// TestUnit has systemd's own checkers look at the unit.
func TestUnit(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("deploy/solarmirror.service")
	if err != nil {
		t.Fatal(err)
	}
	unit := string(text)
	if d := regexp.MustCompile(`TimeoutStopSec=(\S+)`).FindStringSubmatch(unit); d == nil {
		t.Error("no TimeoutStopSec")
	} else if stop, err := time.ParseDuration(d[1]); err != nil || stop <= stopGrace+shutdownTime {
		t.Errorf("TimeoutStopSec=%s, %v; the worker may take %s", d[1], err, stopGrace+shutdownTime)
	}
	start := regexp.MustCompile(`ExecStart=(\S+) (.*)`).FindStringSubmatch(unit)
	if start == nil {
		t.Fatal("no ExecStart")
	}
	if cmd, args, err := newRootCommand(&app{}).Find(strings.Fields(start[2])); err != nil || cmd.Name() != "run" || cmd.ParseFlags(args) != nil {
		t.Errorf("%s: %v", start[0], err)
	}
	for _, line := range []string{
		"LoadCredential=platform-token:/etc/solarmirror/platform-token", "Environment=SOLARMIRROR_PLATFORM_TOKEN_FILE=%d/platform-token",
		"StateDirectory=solarmirror", "WorkingDirectory=%S/solarmirror", "ProtectSystem=strict", "Restart=on-failure",
	} {
		if !slices.Contains(strings.Split(unit, "\n"), line) {
			t.Errorf("no %s", line)
		}
	}

	analyze := testtools.Program(t, "systemd-analyze", "systemd")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "solarmirror.service")
	if err := os.WriteFile(file, []byte(strings.Replace(unit, "ExecStart="+start[1], "ExecStart="+self, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"verify", file}, {"security", "--offline=true", "--threshold=15", "--no-pager", file}} {
		out, err := exec.Command(analyze, args...).CombinedOutput()
		if err != nil || args[0] == "verify" && len(out) > 0 {
			t.Errorf("systemd-analyze %s: %v\n%s", args[0], err, out)
		}
	}
}
