package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"solarmirror/cmd/internal/alerts"
	"solarmirror/cmd/internal/buildinfo"
	"solarmirror/cmd/internal/statuspage"
	"solarmirror/sync/schedule"
)

// The page answers small requests of few people; whoever takes longer is cut off.
const (
	headerTime   = 5 * time.Second
	answerTime   = 30 * time.Second
	idleTime     = time.Minute
	maxHeader    = 16 << 10
	maxConns     = 64
	shutdownTime = 300 * time.Millisecond // beside stopGrace
)

// servePage serves the status page from now on, where it is not off. What it shows of the jobs is what jobs returns. The function
// returned ends it.
func (w *worker) servePage(jobs func() []schedule.Status) (end func(), err error) {
	c := w.config
	if c.HTTP.Listen == "" {
		return func() {}, nil
	}
	listener, err := net.Listen("tcp", c.HTTP.Listen)
	if err != nil {
		return nil, cannotListen(c.HTTP.Listen, err)
	}
	server := &http.Server{
		Handler:           w.pageHandler(jobs),
		ReadHeaderTimeout: headerTime, ReadTimeout: headerTime, WriteTimeout: answerTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		ErrorLog: log.New(debugLines{w.log}, "", 0), ConnState: (&connections{}).watch,
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			w.log.Error().Err(err).Msg("the status page is no longer served")
		}
	}()
	w.log.Info().Str("url", "http://"+listener.Addr().String()).Msg("status page")
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			_ = server.Close() // whoever still reads is cut off
		}
		<-served
	}, nil
}

func (w *worker) pageHandler(jobs func() []schedule.Status) http.Handler {
	c, version := w.config, buildinfo.Read()
	return statuspage.New(statuspage.Options{
		Mirror: c.Mirror.Path, Outbox: c.Outbox.Path, Listen: c.HTTP.Listen, Jobs: jobs, Readers: streamReaders(), Requests: w.requests, Incidents: w.incidents,
		StaleAfter: staleAfter(c.Schedule.Sync, w.clock.Now()), Zone: c.ScheduleZone(), Version: version.Version, Revision: version.Revision, Now: w.clock.Now, Log: w.log,
	})
}

// cannotListen says why the page cannot be served at an address, and what to type next.
func cannotListen(listen string, cause error) error {
	const windowsInUse = syscall.Errno(10048) // WSAEADDRINUSE, which syscall does not take for EADDRINUSE
	host, port, _ := net.SplitHostPort(listen)
	number, err := strconv.Atoi(port)
	if err != nil || !errors.Is(cause, syscall.EADDRINUSE) && !errors.Is(cause, windowsInUse) {
		return fmt.Errorf(`the status page cannot be served: %w; correct [http] listen, or set it to "off" for no page`, cause)
	}
	return fmt.Errorf(`the status page cannot be served: another program uses port %d (%w); see which one with "ss -ltnp 'sport = :%d'", `+
		"or give [http] listen another port: SOLARMIRROR_HTTP_LISTEN=%s solarmirror run",
		number, cause, number, net.JoinHostPort(host, strconv.Itoa(number%65535+1)))
}

// connections limits the file descriptors of the status page. A new connection beyond maxConns
// closes the oldest one: refusing or queueing the new one would let a flood lock out the health
// check.
type connections struct {
	mu   sync.Mutex
	open []net.Conn // the oldest first
}

func (c *connections) watch(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateNew:
		if c.open = append(c.open, conn); len(c.open) > maxConns {
			_ = c.open[0].Close()
			c.open = slices.Delete(c.open, 0, 1)
		}
	case http.StateClosed:
		c.open = slices.DeleteFunc(c.open, func(open net.Conn) bool { return open == conn })
	}
}

// staleAfter is the age at which a stream is late: when three syncs should have been, and an hour has passed. Without a sync on schedule the page
// has its own idea.
func staleAfter(sync schedule.Spec, now time.Time) time.Duration {
	first := sync.Next(now)
	if first.IsZero() {
		return 0
	}
	return max(3*sync.Next(first).Sub(first), time.Hour)
}

// incidents counts the open incidents, also by the causes that have none.
func (w *worker) incidents() map[string]int {
	counts, open := map[string]int{}, w.alerts.Open()
	for _, cause := range alerts.Causes() {
		counts[string(cause)] = open[cause]
	}
	return counts
}

// debugLines logs what the HTTP server says of its clients, which is no fault of ours.
type debugLines struct{ log zerolog.Logger }

func (d debugLines) Write(line []byte) (int, error) {
	d.log.Debug().Str("says", string(line)).Msg("status page")
	return len(line), nil
}
