package platform

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const okHead = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"

// faults are the transient failures, each with the type it ends as when it does not go away.
var faults = []struct {
	name string
	step http.HandlerFunc
	want any // a pointer to the type
	says string
}{
	{"429", status(429), new(*StatusError), "requests_per_second"},
	{"408", status(408), new(*StatusError), "408 Request Timeout"},
	{"500", status(500), new(*StatusError), "500 Internal Server Error"},
	{"502", status(502), new(*StatusError), "again later"},
	{"503 with garbage Retry-After", status(503, "Retry-After", "soon"), new(*StatusError), "503"},
	{"503 with past Retry-After", status(503, "Retry-After", "Mon, 02 Jan 2006 15:04:05 GMT"), new(*StatusError), "503"},
	{"429 with negative Retry-After", status(429, "Retry-After", "-3600"), new(*StatusError), "429"},
	{"reset", wire("", true), new(*TransportError), "check the network"},
	{"closed without an answer", wire("", false), new(*TransportError), "EOF"},
	{"no HTTP", wire("hello\r\n\r\n", false), new(*TransportError), "malformed HTTP"},
	{"cut by Content-Length", wire(okHead+"Content-Length: 100\r\n\r\n"+twoRows, false), new(*BodyError), "cut off after 23 bytes"},
	{"cut in a chunk", wire(okHead+"Transfer-Encoding: chunked\r\n\r\n17\r\n"+twoRows[:9], false), new(*BodyError), "cut off"},
	{"cut when close-delimited", wire(okHead+"Connection: close\r\n\r\n"+twoRows[:17], false), new(*BodyError), "cut off after 17 bytes"},
	{"reset in the body", wire(okHead+"Content-Length: 100\r\n\r\n"+twoRows, true), nil, "order/1/50"},
	{"empty", body(""), new(*BodyError), "empty"},
	{"204", status(204), new(*BodyError), "empty"},
	{"null", body(" null "), new(*BodyError), "null"},
	{"data null", body(`{"error":null,"data":null}`), new(*BodyError), `"data" is null`},
	{"HTML", body("<!doctype html><title>Wartung</title>"), new(*BodyError), "HTML"},
	{"no JSON", body("[{'id':1}]"), new(*BodyError), "no object key at byte 2"},
	{"trailing bytes", body(twoRows + "x"), new(*BodyError), "after the end"},
	{"two documents", body(twoRows + twoRows), new(*BodyError), "after the end"},
	{"duplicate envelope key", body(`{"data":[],"data":[{"id":"a"}]}`), new(*BodyError), "twice"},
	{"error with 200", body(`{"error":"limit too large","data":[]}`), new(*RefusedError), "limit too large"},
	{"gzip bomb", bomb, new(*BodyError), "longer than 1048576 bytes"},
	{"too long", body("[" + strings.Repeat(" ", 1<<20) + "]"), new(*BodyError), "max_body"},
	{"broken gzip", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		io.WriteString(w, "this is not gzip")
	}, new(*BodyError), "decompressed"},
}

// bomb is small on the wire and 64 MiB of white space when decompressed.
func bomb(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Encoding", "gzip")
	z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
	blank := []byte(strings.Repeat(" ", 1<<20))
	for range 64 {
		if _, err := z.Write(blank); err != nil {
			return // the client has hung up
		}
	}
	z.Close()
}

func faultConfig(baseURL string) Config {
	cfg := testConfig(baseURL)
	cfg.MaxBody = 1 << 20
	return cfg
}

func TestTransientFaultsAreRiddenOut(t *testing.T) {
	t.Parallel()
	for _, fault := range faults {
		t.Run(fault.name, func(t *testing.T) {
			t.Parallel()
			server := serve(t, fault.step, fault.step, body(twoRows))
			page, err := listOrders(t, newClient(t, faultConfig(server.URL)))
			if err != nil {
				t.Fatal(err)
			}
			if page.Attempts != 3 || len(page.Records) != 2 {
				t.Errorf("%d records after %d attempts, want 2 after 3", len(page.Records), page.Attempts)
			}
		})
	}
}

func TestLastingFaultsEndAsTheirType(t *testing.T) {
	t.Parallel()
	for _, fault := range faults {
		t.Run(fault.name, func(t *testing.T) {
			t.Parallel()
			server := serve(t, fault.step)
			page, err := listOrders(t, newClient(t, faultConfig(server.URL)))
			if err == nil {
				t.Fatalf("got a page: %+v", page)
			}
			if fault.want != nil && !errors.As(err, fault.want) {
				t.Errorf("got a %T (%v), want a %T", err, err, fault.want)
			}
			for _, part := range []string{fault.says, "GET /api/v2/requests/order/1/50: ", "3 attempts"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q is missing in %q", part, err)
				}
			}
			if n := len(server.seen()); n != 3 {
				t.Errorf("%d requests, want 3", n)
			}
		})
	}
}

func TestFinalFailuresAreNotRepeated(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		step http.HandlerFunc
		want any
		says string
	}{
		{"400", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(400)
			io.WriteString(w, `{"error":"pageLimit must be at most 50"}`)
		}, new(*StatusError), `400 Bad Request, saying "pageLimit must be at most 50"`},
		{"404", status(404), new(*StatusError), "check platform.base_url"},
		{"302", status(302, "Location", "https://elsewhere.example/api?x=1"), new(*StatusError), "points to https://elsewhere.example/api and"},
		{"307 relative", status(307, "Location", "/login"), new(*StatusError), "points to /login and"},
		{"308 without target", status(308), new(*StatusError), "308 Permanent Redirect"},
		{"301 with a broken target", status(301, "Location", "http://%zz"), new(*StatusError), "301 Moved Permanently"},
		{"401", status(401), new(*AuthError), "platform.token_file"},
		{"403", status(403), new(*AuthError), "administrator"},
		{"unknown envelope", body(`{"results":[],"count":0}`), new(*EnvelopeError), `"results", "count"`},
		{"a billion seconds", status(429, "Retry-After", "1000000000"), new(*RetryAfterError), "max_retry_wait"},
		{"more than fits", status(503, "Retry-After", strings.Repeat("9", 30)), new(*RetryAfterError), "max_retry_wait"},
		{"a date far off", status(503, "Date", "Tue, 03 Mar 2026 12:00:00 GMT", "Retry-After", "Tue, 03 Mar 2026 13:00:00 GMT"), new(*RetryAfterError), "1h0m0s"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := serve(t, test.step)
			_, err := listOrders(t, newClient(t, testConfig(server.URL)))
			if err == nil || !errors.As(err, test.want) {
				t.Fatalf("got %T (%v), want a %T", err, err, test.want)
			}
			for _, part := range []string{test.says, "GET /api/v2/requests/order/1/50: ", "(1 attempt)"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q is missing in %q", part, err)
				}
			}
			if n := len(server.seen()); n != 1 {
				t.Errorf("%d requests, want 1", n)
			}
		})
	}
}

func TestRedirectNeverCarriesTheTokenAway(t *testing.T) {
	t.Parallel()
	elsewhere := serve(t, body(twoRows))
	for _, code := range []int{301, 302, 303, 307, 308} {
		server := serve(t, status(code, "Location", elsewhere.URL))
		if _, err := listOrders(t, newClient(t, testConfig(server.URL))); err == nil {
			t.Errorf("%d was followed", code)
		}
	}
	if n := len(elsewhere.seen()); n != 0 {
		t.Errorf("%d requests went elsewhere", n)
	}
}

func TestAttemptHasOneDeadline(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]http.HandlerFunc{"no answer": stall, "a dripping body": drip} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := serve(t, step, step, body(twoRows))
			cfg := testConfig(server.URL)
			cfg.Timeout = 100 * time.Millisecond
			cfg.Retry.Attempts = 50 // a slow machine may need more than one for the good answer
			page, err := listOrders(t, newClient(t, cfg))
			if err != nil {
				t.Fatal(err)
			}
			if page.Attempts < 3 {
				t.Errorf("%d attempts, want at least 3", page.Attempts)
			}

			lasting := serve(t, step)
			cfg.BaseURL, cfg.Timeout, cfg.Retry.Attempts = lasting.URL, 20*time.Millisecond, 3
			_, err = listOrders(t, newClient(t, cfg))
			var transport *TransportError
			if !errors.As(err, &transport) || transport.Timeout != cfg.Timeout || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %#v, want a TransportError with the time-out", err)
			}
			if err != nil && !strings.Contains(err.Error(), "platform.timeout") {
				t.Errorf("%q names no remedy", err)
			}
		})
	}
}

func TestConnectionRefused(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	_, err = listOrders(t, newClient(t, testConfig("http://"+address)))
	var transport *TransportError
	if !errors.As(err, &transport) || transport.Attempts != 3 {
		t.Errorf("got %v, want a TransportError after 3 attempts", err)
	}
}

func TestCompressedPage(t *testing.T) {
	t.Parallel()
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		io.WriteString(z, twoRows)
		z.Close()
	})
	cfg := testConfig(server.URL)
	cfg.MaxBody = int64(len(twoRows)) // the cap counts what comes out, and allows exactly this much
	page, err := listOrders(t, newClient(t, cfg))
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Records) != 2 || page.Bytes != len(twoRows) {
		t.Errorf("%d records in %d bytes", len(page.Records), page.Bytes)
	}
}

func TestRetryAfterHoldsEveryStream(t *testing.T) {
	t.Parallel()
	for _, code := range []int{429, 503} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			t.Parallel()
			server := serve(t, status(code, "Retry-After", "3600"), body(twoRows))
			log := newLogs()
			cfg := testConfig(server.URL)
			cfg.Log = log.logger()
			cfg.MaxRetryWait = 2 * time.Hour
			c := newClient(t, cfg)
			first, cancelFirst := context.WithCancel(t.Context())
			failed := make(chan error)
			go func() {
				_, err := c.List(first, orders, Filter{}, 1, 50)
				failed <- err
			}()
			for line := range log.lines {
				if strings.Contains(line, "trying again") {
					break
				}
			}
			other, cancelOther := context.WithTimeout(t.Context(), 30*time.Millisecond)
			defer cancelOther()
			if _, err := c.List(other, equipments, Filter{}, 1, 50); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the other stream got %v, want to be held until its deadline", err)
			}
			cancelFirst()
			if err := <-failed; !errors.Is(err, context.Canceled) {
				t.Errorf("the first stream got %v, want Canceled", err)
			}
			if n := len(server.seen()); n != 1 {
				t.Errorf("%d requests, want 1", n)
			}
		})
	}
}

func TestRetryAfterIsRiddenOut(t *testing.T) {
	t.Parallel()
	server := serve(t, status(429, "Retry-After", "1"), body(twoRows))
	page, err := listOrders(t, newClient(t, testConfig(server.URL)))
	if err != nil {
		t.Fatal(err)
	}
	if page.Attempts != 2 {
		t.Errorf("%d attempts, want 2", page.Attempts)
	}
}

func TestRetryAfterHeader(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 3, 12, 0, 0, 0, time.UTC)
	ahead := now.Add(time.Hour) // a server whose clock is ahead of ours
	for _, test := range []struct {
		header string
		server time.Time
		want   time.Duration
	}{
		{"", now, 0},
		{"0", now, 0},
		{" 7 ", now, 7 * time.Second},
		{"007", now, 7 * time.Second},
		{"1000000000", now, 1e9 * time.Second},
		{"9223372036854775807", now, math.MaxInt64},
		{"99999999999999999999", now, math.MaxInt64},
		{"-7", now, 0},
		{"1.5", now, 0},
		{"soon", now, 0},
		{"Tue, 03 Mar 2026 12:00:30 GMT", time.Time{}, 30 * time.Second},
		{"Tue, 03 Mar 2026 13:00:30 GMT", ahead, 30 * time.Second},
		{"Tue, 03 Mar 2026 11:59:30 GMT", time.Time{}, 0},
		{"Tuesday, 03-Mar-26 12:00:30 GMT", now, 30 * time.Second},
	} {
		if got := retryAfter(test.header, test.server, now); got != test.want {
			t.Errorf("Retry-After %q is %v, want %v", test.header, got, test.want)
		}
	}
}

func TestHold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var h hold
		start := time.Now()
		if err := h.wait(t.Context()); err != nil || time.Since(start) != 0 {
			t.Errorf("without a hold: %v after %v", err, time.Since(start))
		}
		h.extend(10 * time.Second)
		h.extend(5 * time.Second) // never shortens
		go func() {
			time.Sleep(8 * time.Second)
			h.extend(10 * time.Second) // lengthens for those already waiting
		}()
		if err := h.wait(t.Context()); err != nil || time.Since(start) != 18*time.Second {
			t.Errorf("held for %v (%v), want 18s", time.Since(start), err)
		}
		h.extend(time.Hour)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := h.wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the context's error", err)
		}
	})
}

func TestHoldSetWhileTheLimiterWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig("http://127.0.0.1")
		cfg.RequestsPerSecond = 0.1
		c := newClient(t, cfg)
		if err := c.waitTurn(t.Context()); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		go func() {
			time.Sleep(5 * time.Second)
			c.hold.extend(20 * time.Second)
		}()
		if err := c.waitTurn(t.Context()); err != nil || time.Since(start) < 25*time.Second {
			t.Errorf("sent after %v (%v), want after the hold at 25s", time.Since(start), err)
		}
	})
}

func TestBackOffGrowsAndEnds(t *testing.T) {
	t.Parallel()
	policy := RetryPolicy{Initial: 100 * time.Millisecond, Max: time.Second, Attempts: 8}
	waits := policy.backOff(t.Context())
	for i, middle := range []float64{0.1, 0.2, 0.4, 0.8, 1, 1, 1} {
		if wait := waits.NextBackOff().Seconds(); wait < middle*0.5 || wait > middle*1.5 {
			t.Errorf("wait %d is %vs, want %vs within half", i, wait, middle)
		}
	}
	if wait := waits.NextBackOff(); wait >= 0 {
		t.Errorf("an eighth wait of %v, want the end", wait)
	}
}
