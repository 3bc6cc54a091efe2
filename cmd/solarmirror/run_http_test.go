package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"solarmirror/sync/schedule"
)

// A run serves its page for as long as it lasts, its jobs on it, and not without saying so where the address is taken.
func TestRunServesItsPage(t *testing.T) {
	t.Parallel()
	s := newScene(t, small(t))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.config.HTTP.Listen = listener.Addr().String()
	s.worker.clock = schedule.SystemClock{}
	port := listener.Addr().(*net.TCPAddr).Port
	want := fmt.Sprintf("another program uses port %d", port)
	next := fmt.Sprintf("SOLARMIRROR_HTTP_LISTEN=127.0.0.1:%d solarmirror run", port%65535+1)
	if err := s.run(t.Context(), false); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), next) {
		t.Errorf("with the address taken: %v", err)
	}
	if _, err := os.Stat(s.config.Mirror.Path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("with the address taken, the mirror was made: %v", err)
	}
	s.config.HTTP.Listen = "192.0.2.1:8480"
	if err := s.run(t.Context(), false); err == nil || !strings.Contains(err.Error(), "correct [http] listen") {
		t.Errorf("with an address that this machine does not have: %v", err)
	}
	s.config.HTTP.Listen = listener.Addr().String()
	s.mirror.env = []string{"SOLARMIRROR_HTTP_LISTEN=" + s.config.HTTP.Listen}
	other := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "I answer anything") })}
	go func() { _ = other.Serve(listener) }()
	if code := s.mirror.runSignalled(t, s.mirror.command(t, "healthcheck")); code != exitFailed {
		t.Errorf("healthcheck of another program exits with %d, want %d", code, exitFailed)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}

	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- s.run(ctx, false) }()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	get := func(path string) (status int, body string) {
		response, err := client.Get("http://" + s.config.HTTP.Listen + path)
		if err != nil {
			return 0, err.Error()
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Error(err)
		}
		return response.StatusCode, string(text)
	}
	for status, _ := get("/readyz"); status != http.StatusOK && ctx.Err() == nil; status, _ = get("/readyz") {
		time.Sleep(50 * time.Millisecond)
	}
	if _, body := get("/"); !strings.Contains(body, "Full read of equipment") || strings.Count(body, "<dt>Next run</dt>") != 3 || strings.Contains(body, "not on schedule") {
		t.Errorf("the page does not name the jobs, and which reads each stream next:\n%.2000s\n%s", body, s.log)
	}
	if code := s.mirror.runSignalled(t, s.mirror.command(t, "healthcheck")); code != exitOK {
		t.Errorf("healthcheck exits with %d", code)
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("the run ended with %v", err)
	}
	if status, _ := get("/healthz"); status != 0 {
		t.Errorf("after the run the page answers %d", status)
	}
	if code := s.mirror.runSignalled(t, s.mirror.command(t, "healthcheck")); code != exitFailed {
		t.Errorf("after the run healthcheck exits with %d, want %d", code, exitFailed)
	}
}

func TestStaleAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for spec, want := range map[string]time.Duration{"* * * * *": time.Hour, "*/30 * * * *": 90 * time.Minute, "0 3 * * *": 72 * time.Hour, "": 0} {
		if got := staleAfter(mustSpec(t, spec), now); got != want {
			t.Errorf("staleAfter(%q) = %v, want %v", spec, got, want)
		}
	}
}

// A flood of connections, idle or in the middle of a request, leaves the server with at most
// maxConns, and a health check still gets its answer at once.
func TestPageUnderAFlood(t *testing.T) {
	t.Parallel()
	s := newScene(t, small(t))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.config.HTTP.Listen = listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	end, err := s.servePage(func() []schedule.Status { return nil })
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	const flood = 400
	var closed atomic.Int64
	for i := range flood {
		conn, err := net.Dial("tcp", s.config.HTTP.Listen)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		// Nothing, the start of a request, or a whole one, after which the connection is kept.
		if _, err := io.WriteString(conn, []string{"", "GET /heal", "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"}[i%3]); err != nil {
			closed.Add(1)
			continue
		}
		go func() {
			_, _ = io.Copy(io.Discard, conn)
			closed.Add(1)
		}()
	}
	for deadline := time.Now().Add(3 * time.Second); closed.Load() < flood-maxConns; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d connections are held", flood-closed.Load(), flood)
		}
	}
	began := time.Now()
	s.mirror.env = []string{"SOLARMIRROR_HTTP_LISTEN=" + s.config.HTTP.Listen}
	if code := s.mirror.runSignalled(t, s.mirror.command(t, "healthcheck")); code != exitOK {
		t.Errorf("healthcheck exits with %d", code)
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("healthcheck took %s", took)
	}
}
