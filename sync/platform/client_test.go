package platform

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestListReturnsPageWithItsProvenance(t *testing.T) {
	t.Parallel()
	const date = "Tue, 03 Mar 2026 12:00:00 GMT"
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", date)
		w.Write([]byte(`{"error":null,"data":{"items":[ {"id":"a"} , {"id":"b"}],"totalItems":"12"}}`))
	})
	now := time.Date(2026, 3, 3, 9, 0, 1, 0, time.FixedZone("-03", -3*3600))
	cfg := testConfig(server.URL)
	cfg.Now = func() time.Time { return now }
	page, err := newClient(t, cfg).List(t.Context(), budgets, Filter{From: "2026-03-01", Removed: true}, 2, 50)
	if err != nil {
		t.Fatal(err)
	}
	want := &Page{
		Records: [][]byte{[]byte(`{"id":"a"}`), []byte(`{"id":"b"}`)}, Total: 12, HasTotal: true, Envelope: EnvelopeItems,
		Source:     "/api/v2/requests/budget/2/50?lastUpdateAfter=2026-03-01&removed=true",
		FetchedAt:  now.UTC(),
		ServerDate: time.Date(2026, 3, 3, 12, 0, 0, 0, time.UTC),
		Attempts:   1, Bytes: 76,
	}
	if diff := cmp.Diff(want, page, cmpopts.IgnoreUnexported(Page{})); diff != "" {
		t.Error(diff)
	}
	request := server.seen()[0]
	if got := request.RequestURI; got != want.Source {
		t.Errorf("asked for %s, want %s", got, want.Source)
	}
	if got := request.Header.Get("Authorization"); got != "Bearer "+testToken {
		t.Errorf("Authorization is %q", got)
	}
	if got := request.Header.Get("Accept-Encoding"); got != "gzip" {
		t.Errorf("Accept-Encoding is %q, want gzip", got)
	}
}

func TestServerDateUnreadableIsZero(t *testing.T) {
	t.Parallel()
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", "yesterday")
		w.Write([]byte(twoRows))
	})
	page, err := listOrders(t, newClient(t, testConfig(server.URL)))
	if err != nil {
		t.Fatal(err)
	}
	if !page.ServerDate.IsZero() {
		t.Errorf("ServerDate is %v, want zero", page.ServerDate)
	}
}

func TestListPaths(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		resource Resource
		filter   Filter
		page     int
		limit    int
		want     string // "" for an error
	}{
		{orders, Filter{}, 0, 1, "/api/v2/requests/order/0/1"},
		{budgets, Filter{From: "2026-01-02", To: "2026-02-03"}, 3, 500, "/api/v2/requests/budget/3/500?lastUpdateAfter=2026-01-02&lastUpdateBefore=2026-02-03"},
		{equipments, Filter{From: "2026-01-02", To: "2026-02-03"}, 1, 50, "/api/v2/equipments/1/50?createdAfter=2026-01-02&createdBefore=2026-02-03"},
		{equipments, Filter{Removed: true}, 1, 50, ""},
		{Resource{Name: "undated", Path: "/undated"}, Filter{To: "2026-01-02"}, 1, 50, ""},
		{orders, Filter{From: "02/01/2026"}, 1, 50, ""},
		{orders, Filter{}, -1, 50, ""},
		{orders, Filter{}, 1, 0, ""},
	} {
		got, err := listPath(test.resource, test.filter, test.page, test.limit)
		if got != test.want || (err != nil) != (test.want == "") {
			t.Errorf("%s %+v %d/%d: got %q, %v; want %q", test.resource.Name, test.filter, test.page, test.limit, got, err, test.want)
		}
	}
}

func TestBaseURLHasOneForm(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"https://Platform.Example.COM":                "https://platform.example.com",
		" https://platform.example.com/\n":            "https://platform.example.com",
		"https://platform.example.com:443/api/v2":     "https://platform.example.com",
		"HTTPS://platform.example.com/api/v2/":        "https://platform.example.com",
		"http://platform.example.com:80":              "http://platform.example.com",
		"http://platform.example.com:443":             "http://platform.example.com:443",
		"https://platform.example.com/Tenant/api/v2/": "https://platform.example.com/Tenant",
		"http://[::1]:8900":                           "http://[::1]:8900",
		"http://[::1]:80/":                            "http://[::1]",
		"":                                            "",
		"platform.example.com":                        "",
		"ftp://platform.example.com":                  "",
		"https://":                                    "",
		"https://user:hunter2@platform.example.com":   "",
		"https://user:hunter2@platform.example.com:x": "",
		"https://platform.example.com?tenant=1":       "",
		"https://platform.example.com/#x":             "",
	} {
		cfg := testConfig(raw)
		c, err := New(cfg)
		switch {
		case want == "" && err == nil:
			t.Errorf("%q was accepted", raw)
		case want == "" && strings.Contains(err.Error(), "hunter2"):
			t.Errorf("the error for %q shows the password: %v", raw, err)
		case want != "" && err != nil:
			t.Errorf("%q: %v", raw, err)
		case want != "" && c.BaseURL() != want:
			t.Errorf("%q became %q, want %q", raw, c.BaseURL(), want)
		}
	}
}

func TestNewRefusesBadConfig(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*Config){
		"no token source":        func(c *Config) { c.Token = nil },
		"too many requests":      func(c *Config) { c.RequestsPerSecond = 10_001 },
		"negative requests":      func(c *Config) { c.RequestsPerSecond = -1 },
		"unknown envelope":       func(c *Config) { c.Envelope = "xml" },
		"negative in flight":     func(c *Config) { c.MaxInFlight = -1 },
		"negative timeout":       func(c *Config) { c.Timeout = -1 },
		"negative retry wait":    func(c *Config) { c.MaxRetryWait = -1 },
		"negative body":          func(c *Config) { c.MaxBody = -1 },
		"negative retry attempt": func(c *Config) { c.Retry.Attempts = -1 },
	} {
		cfg := testConfig("http://127.0.0.1")
		spoil(&cfg)
		if _, err := New(cfg); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	if _, err := New(Config{BaseURL: "http://127.0.0.1", Token: fixedToken}); err != nil {
		t.Errorf("the defaults were refused: %v", err)
	}
}

func TestRequestsInFlightAreBounded(t *testing.T) {
	t.Parallel()
	const bound = 3
	var inFlight, most atomic.Int32
	full, free := make(chan struct{}), make(chan struct{})
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		n := inFlight.Add(1)
		defer inFlight.Add(-1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		if n == bound {
			close(full) // a fourth at the same time would close it twice or raise most
		}
		<-free
		w.Write([]byte(twoRows))
	})
	cfg := testConfig(server.URL)
	cfg.MaxInFlight = bound
	c := newClient(t, cfg)
	var group sync.WaitGroup
	for range bound {
		group.Go(func() {
			if _, err := listOrders(t, c); err != nil {
				t.Error(err)
			}
		})
	}
	<-full
	waiting, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := c.List(waiting, equipments, Filter{}, 1, 50); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a request over the bound got %v, want its own deadline", err)
	}
	close(free)
	group.Wait()
	if most.Load() != bound || len(server.seen()) != bound {
		t.Errorf("%d at once and %d in all, want %d and %d", most.Load(), len(server.seen()), bound, bound)
	}
}

func TestRateLimiterIsSharedAndHonoursContext(t *testing.T) {
	t.Parallel()
	server := serve(t, body(twoRows))
	cfg := testConfig(server.URL)
	cfg.RequestsPerSecond = 0.001
	c := newClient(t, cfg)
	if _, err := listOrders(t, c); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err := c.List(short, equipments, Filter{}, 1, 50)
	if !errors.Is(err, context.DeadlineExceeded) || len(server.seen()) != 1 {
		t.Errorf("got %v after %d requests, want DeadlineExceeded at once after 1", err, len(server.seen()))
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := c.List(ended, orders, Filter{}, 1, 50); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want Canceled", err)
	}
}

func TestBurstReachesTenThousandASecond(t *testing.T) {
	t.Parallel()
	for perSecond, want := range map[float64]int{0.1: 1, 5: 1, 199: 1, 1000: 10, 10_000: 100} {
		if got := burst(perSecond); got != want {
			t.Errorf("burst(%v) is %d, want %d", perSecond, got, want)
		}
	}
}

func TestCancellationInTheMiddle(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]http.HandlerFunc{"before the answer": stall, "in the body": drip} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			server := serve(t, func(w http.ResponseWriter, r *http.Request) {
				cancel()
				step(w, r)
			})
			_, err := newClient(t, testConfig(server.URL)).List(ctx, orders, Filter{}, 1, 50)
			var transport *TransportError
			if !errors.Is(err, context.Canceled) || errors.As(err, &transport) {
				t.Errorf("got %#v, want Canceled and no typed failure", err)
			}
			if n := len(server.seen()); n != 1 {
				t.Errorf("%d requests, want 1", n)
			}
		})
	}
}

func TestCancellationWhileWaitingToRetry(t *testing.T) {
	t.Parallel()
	server := serve(t, status(502))
	ctx, cancel := context.WithCancel(t.Context())
	log := newLogs()
	cfg := testConfig(server.URL)
	cfg.Log = log.logger()
	cfg.Retry = RetryPolicy{Initial: time.Hour, Max: time.Hour}
	go func() {
		for line := range log.lines {
			if strings.Contains(line, "trying again") {
				cancel()
				return
			}
		}
	}()
	_, err := newClient(t, cfg).List(ctx, orders, Filter{}, 1, 50)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "/api/v2/requests/order/1/50") {
		t.Errorf("got %v, want Canceled with the path", err)
	}
}

func TestHTTP2AndCertificates(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			w.WriteHeader(http.StatusHTTPVersionNotSupported)
			return
		}
		w.Write([]byte(twoRows))
	}))
	server.EnableHTTP2 = true
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // the refused handshake is meant
	server.StartTLS()
	defer server.Close()

	c := newClient(t, testConfig(server.URL))
	_, err := listOrders(t, c)
	var transport *TransportError
	if !errors.As(err, &transport) || transport.Attempts != 1 || !strings.Contains(err.Error(), "certificate authority") {
		t.Errorf("an unknown certificate gave %v, want a TransportError after 1 attempt", err)
	}

	trusting := newClient(t, testConfig(server.URL))
	trusting.transport.TLSClientConfig.RootCAs = x509.NewCertPool()
	trusting.transport.TLSClientConfig.RootCAs.AddCert(server.Certificate())
	if _, err := listOrders(t, trusting); err != nil {
		t.Errorf("over HTTP/2: %v", err)
	}
}
