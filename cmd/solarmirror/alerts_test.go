package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"solarmirror/cmd/internal/setup"
	"solarmirror/sync/platform/platformtest"
	"solarmirror/sync/pull"
	"solarmirror/sync/schedule"
)

const (
	hookSecret   = "canary-hook-5ec4e7"
	personSecret = "canary.person@example.com"
)

// told is a web hook and an address to ping, and what came there.
type told struct {
	mu       sync.Mutex
	messages []string // their first lines
	all      string
	pings    []string
	hook     string
	ping     string
}

func newTold(t *testing.T) *told {
	t.Helper()
	w := &told{}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.mu.Lock()
		defer w.mu.Unlock()
		path := strings.ReplaceAll(r.URL.Path, hookSecret, "…")
		w.all += string(body) + "\n"
		if strings.HasPrefix(path, "/ping/") {
			w.pings = append(w.pings, path)
			return
		}
		line, _, _ := strings.Cut(string(body), "\n")
		w.messages = append(w.messages, line)
	}))
	t.Cleanup(server.Close)
	w.hook = strings.Replace(server.URL, "http://", "generic+http://ops:"+hookSecret+"@", 1) + "/" + hookSecret
	w.ping = server.URL + "/ping/" + hookSecret + "/{job}"
	return w
}

// take returns what came, and forgets it.
func (w *told) take() (messages, pings []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	messages, pings = w.messages, w.pings
	w.messages, w.pings = nil, nil
	return messages, pings
}

// A platform goes down for an hour and a quarter and comes back while the schedule goes on: two
// messages, and the metric of open incidents in between.
func TestOutageIsTold(t *testing.T) {
	t.Parallel()
	to := newTold(t)
	s := newScene(t, small(t), "SOLARMIRROR_ALERTS_URLS="+to.hook, "SOLARMIRROR_ALERTS_LANG=en")
	s.alerts = setup.Worker(s.config, s.worker.log, s.clock.Now, s.jobs(nil))
	from := s.clock.Now().Truncate(time.Hour).Add(time.Hour + 5*time.Minute)
	until := from.Add(75 * time.Minute)
	open := 0
	weather := schedule.Job{Name: "weather", Spec: mustSpec(t, "* * * * *"), Line: "weather", Last: s.clock.Now(), Run: func(context.Context) (schedule.Outcome, error) {
		now := s.clock.Now()
		s.down.Store(!now.Before(from) && now.Before(until))
		if now.Sub(from).Truncate(time.Minute) == 40*time.Minute { // two syncs have failed
			for end := time.Now().Add(time.Minute); open == 0 && time.Now().Before(end); time.Sleep(time.Millisecond) {
				open = s.incidents()["platform"]
			}
		}
		return schedule.OK, nil
	}}
	s.live(t, until.Add(2*time.Hour), weather)
	s.alerts.Stop(time.Minute)
	messages, _ := to.take()
	if diff := cmp.Diff([]string{"The platform does not answer", "Over: the platform does not answer"}, messages); diff != "" {
		t.Errorf("messages (-want +got):\n%s\n%s", diff, to.all)
	}
	if open != 1 || s.incidents()["platform"] != 0 {
		t.Errorf("%d incidents were open, and %d are in the end", open, s.incidents()["platform"])
	}
}

// A command of cron tells what its last run has not told, pings, and shows no secret. A first
// failure tells at once: nobody knows how often it comes.
func TestCommandsTell(t *testing.T) {
	t.Parallel()
	to := newTold(t)
	var down, refused atomic.Bool
	simulated := platformtest.New(platformtest.Options{Seed: 2, Requests: 30, Equipments: smallCatalogue(), Token: simulationToken})
	p := newProgram(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case down.Load():
			http.Error(w, "gone with "+personSecret+" and "+simulationToken, http.StatusNotFound)
		case refused.Load():
			http.Error(w, personSecret, http.StatusUnauthorized)
		default:
			simulated.ServeHTTP(w, r)
		}
	}))
	urls := filepath.Join(p.dir, "urls")
	if err := os.WriteFile(urls, []byte("# ours\n"+to.hook+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.env = append(p.env, "SOLARMIRROR_ALERTS_URLS_FILE="+urls, "SOLARMIRROR_ALERTS_PING_URL="+to.ping, "SOLARMIRROR_ALERTS_LANG=en")
	for i, step := range []struct {
		down, refused bool
		args          string
		exit          int
		messages      []string
		pings         []string
	}{
		{true, false, "sync", exitFailed, []string{"A job fails"}, []string{"/ping/…/sync/start", "/ping/…/sync/fail"}},
		{true, false, "sync", exitFailed, nil, []string{"/ping/…/sync/start", "/ping/…/sync/fail"}},
		{true, false, "sync --dry-run", exitFailed, nil, nil},
		{false, true, "sync --full", exitAuth, []string{"The platform does not accept the token, or there is none"},
			[]string{"/ping/…/full_equipments/start", "/ping/…/full_requests/start", "/ping/…/full_equipments/fail", "/ping/…/full_requests/fail"}},
		{false, false, "sync", exitOK, []string{"Over: a job fails", "Over: the platform does not accept the token, or there is none"}, []string{"/ping/…/sync/start", "/ping/…/sync"}},
		{false, false, "push", exitOK, nil, []string{"/ping/…/push/start", "/ping/…/push"}},
		{false, false, "verify", exitOK, nil, []string{"/ping/…/verify/start", "/ping/…/verify"}},
		{false, false, "backfill --from 2026-01-01 --to 2026-01-02", exitOK, nil, []string{"/ping/…/backfill/start", "/ping/…/backfill"}},
	} {
		down.Store(step.down)
		refused.Store(step.refused)
		code, said := p.underOf(t, nil, "", strings.Fields(step.args)...)
		messages, pings := to.take()
		if code != step.exit || !cmp.Equal(step.messages, messages) || !cmp.Equal(step.pings, pings) {
			t.Errorf("%d, %s: exit code %d\n%s\n%s\n%s", i, step.args, code, cmp.Diff(step.messages, messages), cmp.Diff(step.pings, pings), said)
		}
		if strings.Contains(said, hookSecret) {
			t.Errorf("%s shows the address:\n%s", step.args, said)
		}
	}
	state, err := os.ReadFile(p.file(".alerts"))
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{"the messages": to.all, "the state": string(state)} {
		for _, secret := range []string{hookSecret, personSecret, simulationToken} {
			if strings.Contains(text, secret) {
				t.Errorf("%s hold %s:\n%s", what, secret, text)
			}
		}
	}
}

// A worker that cannot begin says so too, before it ends.
func TestWorkerThatCannotBeginTells(t *testing.T) {
	t.Parallel()
	to := newTold(t)
	s := newScene(t, small(t), "SOLARMIRROR_ALERTS_URLS="+to.hook, "SOLARMIRROR_ALERTS_LANG=en")
	if err := os.WriteFile(s.config.Mirror.Path, []byte(strings.Repeat("no database ", 500)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.run(t.Context(), false); err == nil {
		t.Fatal("a worker runs without a mirror")
	}
	if messages, pings := to.take(); !cmp.Equal(messages, []string{"A job fails"}) || pings != nil {
		t.Errorf("%v, %v", messages, pings)
	}
}

// A worker says at its start what is wrong with the files that it reads only when it needs them.
func TestStartWarnsOfSecretFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0") // the worker ends there
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, tc := range []struct {
		urls, ping, token string
		want              []string
	}{
		{dir + "/none", dir, file("empty", "\n"), []string{"alerts.urls_file: open " + dir + "/none", "alerts.ping_url_file: ", "empty is empty; write the token"}},
		{file("urls", "ntfy://ntfy.sh/a\n"+hookSecret), file("ping", hookSecret), dir, []string{"line 2 of ", "what is in " + dir + "/ping", "platform.token_file: "}},
		{file("good", "ntfy://ntfy.sh/a"), file("goodping", "https://example.com/x"), file("token", simulationToken), nil},
	} {
		s := newScene(t, small(t), "SOLARMIRROR_ALERTS_URLS_FILE="+tc.urls, "SOLARMIRROR_ALERTS_PING_URL_FILE="+tc.ping,
			"SOLARMIRROR_PLATFORM_TOKEN_FILE="+tc.token, "SOLARMIRROR_HTTP_LISTEN="+taken.Addr().String())
		if err := s.run(t.Context(), false); err == nil {
			t.Error("a worker runs on a port in use")
		}
		said := s.log.String()
		for _, want := range tc.want {
			if !strings.Contains(said, want) {
				t.Errorf("%q is not in the log:\n%s", want, said)
			}
		}
		if n := strings.Count(said, `"level":"warn"`); n != len(tc.want) || strings.Contains(said, hookSecret) {
			t.Errorf("%d warnings, want %d:\n%s", n, len(tc.want), said)
		}
	}
}

// A job that panics is told of, and goes on panicking.
func TestPanicIsTold(t *testing.T) {
	t.Parallel()
	to := newTold(t)
	s := newScene(t, small(t), "SOLARMIRROR_ALERTS_URLS="+to.hook, "SOLARMIRROR_ALERTS_LANG=en")
	s.alerts = setup.Worker(s.config, s.worker.log, s.clock.Now, nil)
	func() {
		defer func() { _ = recover() }()
		_, _ = s.worker.job("publish", func(context.Context, *account) error { panic(personSecret) })(t.Context())
		t.Error("the panic is gone")
	}()
	s.alerts.Stop(time.Minute)
	if !regexp.MustCompile(`A job fails\n(.*\n)*Cause: the job ended by a defect`).MatchString(to.all) || strings.Contains(to.all, personSecret) {
		t.Errorf("came %q", to.all)
	}
}

func TestJobsOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "[sync]", "orders": "[sync orders]", "--full": "[full_equipments full_requests]", "--full equipments": "[full_equipments]",
		"--full orders equipments": "[full_equipments]", "--full orders": "[sync orders --full]",
	} {
		names, full := strings.CutPrefix(text, "--full")
		streams, err := pull.ParseStreams(strings.Fields(names))
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(jobsOf(pull.Options{Full: full, Streams: streams})); got != want {
			t.Errorf("sync %s: %s, want %s", text, got, want)
		}
	}
}
