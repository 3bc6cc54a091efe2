package doctor

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
)

// answering is a platform that answers every request with n records in a bare array.
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

func withHeader(name, value string, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(name, value)
		next(w, r)
	}
}

func serve(t *testing.T, handler http.Handler) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

func TestReachability(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		handler http.HandlerFunc
		want    Verdict
		says    string
	}{
		{"lists", answering(1), OK, "envelope array"},
		{"token refused", replying(401, ""), Failed, "refuses the token with 401"},
		{"nothing there", replying(404, ""), Failed, "there is no /api/v2/requests/order/1/1"},
		{"failing", replying(400, ""), Failed, "400 Bad Request"},
		{"points elsewhere", withHeader("Location", "https://elsewhere.example/", replying(302, "")), Failed, "https://elsewhere.example/"},
		{"an error with 200", replying(200, `{"error":"closed","data":null}`), Failed, `"closed"`},
		{"another envelope", replying(200, `{"rows":[]}`), Failed, "rows"},
		{"a page for people", replying(200, `<html>Log in</html>`), Failed, "base_url"},
		{"wants to be left alone", withHeader("Retry-After", "3600", replying(429, "")), Failed, "1h0m0s"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			f := newFacts(t, "PLATFORM_BASE_URL="+serve(t, tc.handler), "PLATFORM_TOKEN=hunter2")
			f.gather(t.Context())
			got := runCheck(t, "reachability", f)
			expect(t, got, tc.want, tc.says)
			if strings.Contains(got.What+got.Remedy, "hunter2") {
				t.Errorf("the token is shown: %+v", got)
			}
		})
	}
}

func TestReachabilityWithoutToken(t *testing.T) {
	t.Parallel()
	f := newFacts(t, "PLATFORM_BASE_URL="+serve(t, replying(401, "")))
	f.gather(t.Context())
	expect(t, runCheck(t, "reachability", f), OK, "status 401", "no token")
}

// TestFirstRequestHasNoToken: the first request does not send the token.
func TestFirstRequestHasNoToken(t *testing.T) {
	t.Parallel()
	sent := make(chan string, 1)
	f := newFacts(t, "PLATFORM_TOKEN=hunter2", "PLATFORM_BASE_URL="+serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		sent <- r.Header.Get("Authorization")
	})))
	f.gather(t.Context())
	if token := <-sent; token != "" {
		t.Errorf("sent %q", token)
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	closed := httptest.NewServer(answering(1))
	closed.Close()
	f := newFacts(t, "PLATFORM_BASE_URL="+closed.URL, "PLATFORM_TOKEN=hunter2")
	f.gather(t.Context())
	expect(t, runCheck(t, "reachability", f), Failed, "nothing listens there", closed.URL)
	expect(t, runCheck(t, "clock skew", f), Skipped, "not reached")
	expect(t, runCheck(t, "dialect", f), Skipped, "not reached")

	plain := serve(t, answering(1))
	f = newFacts(t, "PLATFORM_BASE_URL="+strings.Replace(plain, "http:", "https:", 1))
	f.gather(t.Context())
	expect(t, runCheck(t, "reachability", f), Failed, "does not speak TLS")
	expect(t, runCheck(t, "tls", f), Skipped, "not reached")
}

func TestExplainRequestError(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		err  error
		says string
	}{
		{&net.OpError{Op: "dial", Err: &net.DNSError{Name: "sales.example.com", Err: "no such host"}}, "nslookup sales.example.com"},
		{fmt.Errorf("read: %w", context.DeadlineExceeded), "within 10s"},
		{errors.New("connection reset"), "connection reset"},
	} {
		expect(t, explainRequestError("https://sales.example.com", tc.err), Failed, tc.says)
	}
}

func TestTLS(t *testing.T) {
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
		want  Verdict
		says  string
	}{
		{"valid for long", trusted, ends.Add(-100 * day), OK, "100 more days"},
		{"valid for two weeks", trusted, ends.Add(-14 * day), OK, "14 more days"},
		{"soon at its end", trusted, ends.Add(-5 * day), Warning, "5 more days"},
		{"expired", trusted, ends.Add(day), Failed, "expired"},
		{"not trusted", x509.NewCertPool(), ends.Add(-100 * day), Failed, "openssl s_client -connect 127.0.0.1:"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			f := newFacts(t, "PLATFORM_BASE_URL="+server.URL)
			f.roots, f.now = tc.roots, func() time.Time { return tc.now }
			f.gather(t.Context())
			expect(t, runCheck(t, "tls", f), tc.want, tc.says)
			if tc.want == Failed {
				expect(t, runCheck(t, "reachability", f), Failed, "certificate is not trusted")
			}
		})
	}
}

func TestPlainHTTP(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]Verdict{
		"http://localhost:8900":     OK,
		"http://LOCALHOST":          OK,
		"http://127.0.0.1":          OK,
		"http://127.8.9.10:80":      OK,
		"http://[::1]:8900":         OK,
		"http://192.168.0.7":        Failed,
		"http://0.0.0.0:8900":       Failed,
		"http://localhost.evil.com": Failed,
		"http://sales.example.com":  Failed,
	} {
		u, err := url.Parse(base)
		if err != nil {
			t.Fatal(err)
		}
		clear := func(settings ...string) Finding {
			return checkPlainHTTP(newFacts(t, append(settings, "PLATFORM_BASE_URL="+base)...).Config, u)
		}
		expect(t, clear("PLATFORM_TOKEN=x"), want, "plain http")
		expect(t, clear("PLATFORM_TOKEN_FILE=x"), want, "plain http")
		if want == Failed {
			want = Warning
		}
		expect(t, clear("PLATFORM_TOKEN=x", "PLATFORM_ALLOW_PLAIN_HTTP=true"), want, "plain http")
		expect(t, clear(), want, "plain http")
	}
}

// TestRefusesPlainHTTP: doctor does not send the token where a sync would not. A mirror that is
// bound to the platform is for one version a reason to send it, and the check fails all the same.
func TestRefusesPlainHTTP(t *testing.T) {
	t.Parallel()
	const base = "http://platform.invalid"
	f := newFacts(t, "PLATFORM_TOKEN=x", "PLATFORM_BASE_URL="+base)
	f.gather(t.Context())
	expect(t, runCheck(t, "config", f), Failed, "plain http to another machine", "allow_plain_http")
	if f.client != nil {
		t.Error("there is a client")
	}
	bound := newFacts(t, "PLATFORM_TOKEN=x", "PLATFORM_BASE_URL="+base)
	makeMirror(t, bound, func(m *store.Mirror) error { return m.Bind(t.Context(), base) })
	bound.gather(t.Context())
	expect(t, runCheck(t, "config", bound), OK)
	expect(t, runCheck(t, "tls", bound), Failed, "in clear", "allow_plain_http")
}

func TestClock(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		skew time.Duration
		want Verdict
		says string
	}{
		{"the same", 0, OK, "agree"},
		{"a second", -time.Second, OK, "agree"},
		{"a minute ahead", time.Minute, OK, "1m0s ahead"},
		{"more than a minute", 61 * time.Second, Warning, "1m1s ahead"},
		{"an hour behind", -time.Hour, Warning, "1h0m0s behind"},
		{"more than an hour", -time.Hour - time.Second, Failed, "NTP"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			date := doctorTime.Add(tc.skew).Format(http.TimeFormat)
			f := newFacts(t, "PLATFORM_BASE_URL="+serve(t, withHeader("Date", date, replying(401, ""))))
			f.gather(t.Context())
			expect(t, runCheck(t, "clock skew", f), tc.want, tc.says)
		})
	}
	t.Run("no date", func(t *testing.T) {
		t.Parallel()
		f := newFacts(t, "PLATFORM_BASE_URL="+serve(t, withHeader("Date", "yesterday", replying(200, ""))))
		f.gather(t.Context())
		expect(t, runCheck(t, "clock skew", f), Skipped, "no Date")
	})
}
