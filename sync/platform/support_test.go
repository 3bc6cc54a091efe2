package platform

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	testToken = "s3cr3t-canary-token"
	twoRows   = `[{"id":"a"},{"id":"b"}]`
)

// Collections of the interface.
var (
	orders     = Resource{Name: "orders", Path: "/requests/order", From: "lastUpdateAfter", To: "lastUpdateBefore", Removed: true}
	budgets    = Resource{Name: "budgets", Path: "/requests/budget", From: "lastUpdateAfter", To: "lastUpdateBefore", Removed: true}
	equipments = Resource{Name: "equipments", Path: "/equipments", From: "createdAfter", To: "createdBefore"}
)

// fake is a server that answers the first request with the first of its steps, and so on; the last step stays.
type fake struct {
	*httptest.Server
	mu       sync.Mutex
	requests []*http.Request
}

func serve(t *testing.T, steps ...http.HandlerFunc) *fake {
	t.Helper()
	f := &fake{}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		step := steps[min(len(f.requests), len(steps)-1)]
		f.requests = append(f.requests, r)
		f.mu.Unlock()
		step(w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

func (f *fake) seen() []*http.Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.requests
}

// Steps.

func body(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
}

func status(code int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
	}
}

// wire writes raw bytes in place of an answer and closes the connection; with reset it sends RST.
func wire(text string, reset bool) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		fmt.Fprint(conn, text)
		if reset {
			conn.(*net.TCPConn).SetLinger(0)
		}
		conn.Close()
	}
}

// stall answers nothing until the client gives up.
func stall(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// drip sends a byte of a never-ending body now and then, until the client gives up.
func drip(w http.ResponseWriter, r *http.Request) {
	for r.Context().Err() == nil {
		fmt.Fprint(w, " ")
		http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func fixedToken(context.Context) (string, error) { return testToken, nil }

func testConfig(baseURL string) Config {
	return Config{
		BaseURL: baseURL, Token: fixedToken, RequestsPerSecond: maxRequestsPerSecond,
		Retry: RetryPolicy{Initial: time.Millisecond, Max: 2 * time.Millisecond, Attempts: 3},
	}
}

func newClient(t *testing.T, cfg Config) *Client {
	t.Helper()
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func listOrders(t *testing.T, c *Client) (*Page, error) {
	t.Helper()
	return c.List(t.Context(), orders, Filter{}, 1, 50)
}

// logs is a log that can be read while it is written, and tells of every line.
type logs struct {
	mu    sync.Mutex
	text  bytes.Buffer
	lines chan string
}

func newLogs() *logs { return &logs{lines: make(chan string, 1000)} }

func (l *logs) logger() zerolog.Logger { return zerolog.New(l) }

func (l *logs) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines <- string(line)
	return l.text.Write(line)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
