package main

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"solarmirror/store"
	"solarmirror/sync/pull"
	"solarmirror/sync/scan"
)

// answering is a platform that lists n records in a bare array, whatever it is asked.
func answering(n int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		records := make([]string, n)
		for i := range records {
			records[i] = fmt.Sprintf(`{"id":"%d"}`, i)
		}
		fmt.Fprintf(w, "[%s]", strings.Join(records, ","))
	}
}

func replying(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		fmt.Fprint(w, body)
	}
}

func headed(name, value string, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(name, value)
		next(w, r)
	}
}

func serving(t *testing.T, handler http.Handler) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

func TestDoctorReachability(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		handler http.HandlerFunc
		want    severity
		says    string
	}{
		{"lists", answering(1), fine, "envelope array"},
		{"token refused", replying(401, ""), unfit, "refuses the token with 401"},
		{"nothing there", replying(404, ""), unfit, "there is no /api/v2/requests/order/1/1"},
		{"failing", replying(400, ""), unfit, "400 Bad Request"},
		{"points elsewhere", headed("Location", "https://elsewhere.example/", replying(302, "")), unfit, "https://elsewhere.example/"},
		{"an error with 200", replying(200, `{"error":"closed","data":null}`), unfit, `"closed"`},
		{"another envelope", replying(200, `{"rows":[]}`), unfit, "rows"},
		{"a page for people", replying(200, `<html>Log in</html>`), unfit, "base_url"},
		{"wants to be left alone", headed("Retry-After", "3600", replying(429, "")), unfit, "1h0m0s"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := newTestPatient(t, "PLATFORM_BASE_URL="+serving(t, tc.handler), "PLATFORM_TOKEN=hunter2")
			p.gather(t.Context())
			got := see(t, "reachability", p)
			expect(t, got, tc.want, tc.says)
			if strings.Contains(got.What+got.Remedy, "hunter2") {
				t.Errorf("the token is shown: %+v", got)
			}
		})
	}
}

func TestDoctorReachabilityWithoutToken(t *testing.T) {
	t.Parallel()
	p := newTestPatient(t, "PLATFORM_BASE_URL="+serving(t, replying(401, "")))
	p.gather(t.Context())
	expect(t, see(t, "reachability", p), fine, "status 401", "no token")
}

// TestDoctorKeepsTheToken: the first contact is made without it.
func TestDoctorKeepsTheToken(t *testing.T) {
	t.Parallel()
	sent := make(chan string, 1)
	p := newTestPatient(t, "PLATFORM_TOKEN=hunter2", "PLATFORM_BASE_URL="+serving(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		sent <- r.Header.Get("Authorization")
	})))
	p.gather(t.Context())
	if token := <-sent; token != "" {
		t.Errorf("sent %q", token)
	}
}

func TestDoctorUnreachable(t *testing.T) {
	t.Parallel()
	closed := httptest.NewServer(answering(1))
	closed.Close()
	p := newTestPatient(t, "PLATFORM_BASE_URL="+closed.URL, "PLATFORM_TOKEN=hunter2")
	p.gather(t.Context())
	expect(t, see(t, "reachability", p), unfit, "nothing listens there", closed.URL)
	expect(t, see(t, "clock skew", p), skipped, "not reached")
	expect(t, see(t, "dialect", p), skipped, "not reached")

	plain := serving(t, answering(1))
	p = newTestPatient(t, "PLATFORM_BASE_URL="+strings.Replace(plain, "http:", "https:", 1))
	p.gather(t.Context())
	expect(t, see(t, "reachability", p), unfit, "does not speak TLS")
	expect(t, see(t, "tls", p), skipped, "not reached")
}

func TestExplainContact(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		err  error
		says string
	}{
		{&net.OpError{Op: "dial", Err: &net.DNSError{Name: "sales.example.com", Err: "no such host"}}, "nslookup sales.example.com"},
		{fmt.Errorf("read: %w", context.DeadlineExceeded), "within 10s"},
		{errors.New("connection reset"), "connection reset"},
	} {
		expect(t, explainContact("https://sales.example.com", tc.err), unfit, tc.says)
	}
}

func TestDoctorTLS(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(answering(1))
	t.Cleanup(server.Close)
	trusted := x509.NewCertPool()
	trusted.AddCert(server.Certificate())
	ends := server.Certificate().NotAfter
	const day = 24 * time.Hour
	for _, tc := range []struct {
		name  string
		roots *x509.CertPool
		now   time.Time
		want  severity
		says  string
	}{
		{"valid for long", trusted, ends.Add(-100 * day), fine, "100 more days"},
		{"valid for two weeks", trusted, ends.Add(-14 * day), fine, "14 more days"},
		{"soon at its end", trusted, ends.Add(-5 * day), warned, "5 more days"},
		{"expired", trusted, ends.Add(day), unfit, "expired"},
		{"not trusted", x509.NewCertPool(), ends.Add(-100 * day), unfit, "openssl s_client -connect 127.0.0.1:"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := newTestPatient(t, "PLATFORM_BASE_URL="+server.URL)
			p.roots, p.now = tc.roots, func() time.Time { return tc.now }
			p.gather(t.Context())
			expect(t, see(t, "tls", p), tc.want, tc.says)
			if tc.want == unfit {
				expect(t, see(t, "reachability", p), unfit, "certificate is not trusted")
			}
		})
	}
}

func TestDoctorPlainHTTP(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]severity{
		"http://localhost:8900":     fine,
		"http://127.0.0.1":          fine,
		"http://127.8.9.10:80":      fine,
		"http://[::1]:8900":         fine,
		"http://192.168.0.7":        warned,
		"http://localhost.evil.com": warned,
		"http://sales.example.com":  warned,
	} {
		u, err := url.Parse(base)
		if err != nil {
			t.Fatal(err)
		}
		expect(t, checkPlain(u), want, "plain http")
	}
}

func TestDoctorClock(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		skew time.Duration
		want severity
		says string
	}{
		{"the same", 0, fine, "agree"},
		{"a second", -time.Second, fine, "agree"},
		{"a minute ahead", time.Minute, fine, "1m0s ahead"},
		{"more than a minute", 61 * time.Second, warned, "1m1s ahead"},
		{"an hour behind", -time.Hour, warned, "1h0m0s behind"},
		{"more than an hour", -time.Hour - time.Second, unfit, "NTP"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			date := doctorTime.Add(tc.skew).Format(http.TimeFormat)
			p := newTestPatient(t, "PLATFORM_BASE_URL="+serving(t, headed("Date", date, replying(401, ""))))
			p.gather(t.Context())
			expect(t, see(t, "clock skew", p), tc.want, tc.says)
		})
	}
	t.Run("no date", func(t *testing.T) {
		t.Parallel()
		p := newTestPatient(t, "PLATFORM_BASE_URL="+serving(t, headed("Date", "yesterday", replying(200, ""))))
		p.gather(t.Context())
		expect(t, see(t, "clock skew", p), skipped, "no Date")
	})
}

func TestDoctorDialect(t *testing.T) {
	t.Parallel()
	remembered := pull.Dialect{Numbering: scan.Numbering{First: 0, Known: true, Limit: 3, Envelope: "array"}}
	asked := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" && r.URL.Path != "/api/v2/requests/order/0/3" {
			t.Errorf("asked for %s", r.URL)
		}
		answering(3)(w, r)
	})
	for _, tc := range []struct {
		name      string
		handler   http.Handler
		dialect   string
		elsewhere bool // the mirror is another platform's
		want      severity
		says      string
	}{
		{"fits", asked, remembered.String(), false, fine, "first page 0, page limit 3, envelope array: still so"},
		{"page refused", replying(400, ""), remembered.String(), false, warned, "solarmirror sync"},
		{"refused with 200", replying(200, `{"error":"limit"}`), remembered.String(), false, warned, "refused now"},
		{"more rows than asked for", answering(4), remembered.String(), false, warned, "4 rows"},
		{"another envelope", replying(200, `{"data":[{}]}`), remembered.String(), false, fine, "now answers as data"},
		{"token refused", replying(401, ""), remembered.String(), false, skipped, "see reachability"},
		{"nothing remembered", asked, "", false, skipped, "the first sync"},
		{"mirror of another platform", asked, remembered.String(), true, unfit, "https://elsewhere.example"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			base := serving(t, tc.handler)
			p := newTestPatient(t, "PLATFORM_BASE_URL="+base, "PLATFORM_TOKEN=hunter2")
			if tc.elsewhere {
				base = "https://elsewhere.example"
			}
			makeMirror(t, p, func(m *store.Mirror) error {
				return errors.Join(m.Bind(t.Context(), base), m.SetDialect(t.Context(), tc.dialect))
			})
			p.gather(t.Context())
			expect(t, see(t, "dialect", p), tc.want, tc.says)
		})
	}
}
