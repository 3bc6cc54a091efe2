package statuspage

import (
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"solarmirror/sync/schedule"
)

func TestEveryAnswerHasTheHeaders(t *testing.T) {
	t.Parallel()
	h := New(newWorld(t).options())
	for _, path := range []string{"/", "/style.css", "/icon.svg", "/healthz", "/readyz", "/metrics", "/nothing"} {
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
			header := ask(h, method, "localhost:8480", path).Header()
			for name, want := range map[string]string{
				"Content-Security-Policy": "default-src 'none';", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
				"Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
			} {
				if !strings.HasPrefix(header.Get(name), want) {
					t.Errorf("%s %s: %s is %q, want %q", method, path, name, header.Get(name), want)
				}
			}
			if policy := header.Get("Content-Security-Policy"); !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe") {
				t.Errorf("%s: policy %s", path, policy)
			}
		}
	}
}

func TestOnlyReading(t *testing.T) {
	t.Parallel()
	h := New(newWorld(t).options())
	for _, path := range []string{"/", "/healthz", "/metrics"} {
		for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"} {
			answer := ask(h, method, "localhost:8480", path)
			if answer.Code != http.StatusMethodNotAllowed || answer.Header().Get("Allow") != "GET, HEAD" {
				t.Errorf("%s %s: %d, Allow %q", method, path, answer.Code, answer.Header().Get("Allow"))
			}
		}
		if answer := ask(h, http.MethodHead, "localhost:8480", path); answer.Code != http.StatusOK {
			t.Errorf("HEAD %s: %d", path, answer.Code)
		}
	}
}

func TestForeignNamesAreRefusedOnLoopback(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, tc := range []struct {
		listen, host string
		want         int
	}{
		{"127.0.0.1:8480", "localhost:8480", 200}, {"127.0.0.1:8480", "127.0.0.1", 200}, {"[::1]:8480", "[::1]:8480", 200}, {"localhost:80", "LOCALHOST", 200},
		{"127.0.0.1:8480", "[::1]", 200}, {"127.0.0.1:8480", "evil.example:8480", 421}, {"127.0.0.1:8480", "localhost.evil.example", 421}, {"[::1]:8480", "192.0.2.1:8480", 421},
		{"127.0.0.1:8480", "", 421}, {":8480", "mirror.example:8480", 200}, {"0.0.0.0:8480", "10.0.0.7:8480", 200},
	} {
		o := w.options()
		o.Listen = tc.listen
		if got := ask(New(o), http.MethodGet, tc.host, "/healthz").Code; got != tc.want {
			t.Errorf("listening at %s, asked as %q: %d, want %d", tc.listen, tc.host, got, tc.want)
		}
	}
}

// TestPage looks at a mirror with a past: every section is there, and well formed.
func TestPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(t)
	answer := get(t, New(w.options()), "/")
	page := answer.Body.String()
	if answer.Code != http.StatusOK || answer.Header().Get("Content-Type") != "text/html; charset=utf-8" {
		t.Fatalf("%d %s: %s", answer.Code, answer.Header().Get("Content-Type"), page)
	}
	balanced(t, page)
	for _, want := range []string{
		"Companies in doubt: 2.", "Not up to date: Budgets (5 h old).", "Not read to their end yet: Equipment.", "first load 62.1%",
		`<p class="figure">4 min ago</p>`, "Records that could not be loaded and are kept as they came: Orders 3.", "Runs a day, by outcome", "Records written a day", "7 of 9 windows",
		"2024-01-01</span> to <span class=\"date\">2024-10-01", "weaker promise", "outbox show 2</code> sent 26 h ago", "/customData/*/field00", "and 2 more", ">waiting<",
		"<dt>Next run</dt><dd>in 11 min<", "<dt>Next run</dt><dd>not on schedule<", "<dt>Next run</dt><dd>now<",
		"mirrors https://sales.example.com", "v1.2.3 (abcdef0)", "America/Sao_Paulo", "saying &#34;…&#34;",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	for _, refused := range []string{"<script", "style=", "http://", "onclick", "<form", "<button", "ZgotmplZ"} {
		if strings.Contains(strings.ReplaceAll(page, "http://www.w3.org", ""), refused) {
			t.Errorf("the page holds %s", refused)
		}
	}
	if doubt, fresh := strings.Index(page, "in doubt"), strings.Index(page, "5 h old"); doubt > fresh {
		t.Error("the companies in doubt do not come first")
	}
}

// TestNoPersonalData asks for everything that is served.
func TestNoPersonalData(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(t)
	h := New(w.options())
	for _, path := range []string{"/", "/metrics", "/readyz", "/healthz"} {
		text := get(t, h, path).Body.String()
		for _, canary := range canaries {
			if strings.Contains(text, canary) {
				t.Errorf("%s holds %q", path, canary)
			}
		}
	}
}

// balanced fails unless every element that is opened is closed where it should be.
func balanced(t *testing.T, page string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("the page is not well formed: %v", err)
		}
	}
}

// TestPageOfMirrorsThatCannotBeRead: the page is there all the same and says why, and the worker is not ready.
func TestPageOfMirrorsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		spoil func(t *testing.T, w *world)
		want  string
	}{
		"missing": {func(*testing.T, *world) {}, "no database"},
		"newer": {func(t *testing.T, w *world) {
			w.fill(t)
			must(t, w.change(t, "UPDATE _meta SET schema_version = schema_version + 1").Close())
		}, "newer solarmirror"},
		"locked": {func(t *testing.T, w *world) {
			w.fill(t)
			program := w.change(t, "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; UPDATE _meta SET schema_version = schema_version")
			t.Cleanup(func() { must(t, program.Close()) })
		}, "locked"},
		"damaged": {func(t *testing.T, w *world) {
			w.fill(t)
			file, err := os.OpenFile(w.mirror(), os.O_WRONLY, 0)
			must(t, err)
			_, err = file.WriteAt(make([]byte, 200_000), 4096)
			must(t, errors.Join(err, file.Close()))
		}, "damaged"},
		"something else": {func(t *testing.T, w *world) {
			w.fill(t)
			must(t, os.WriteFile(w.mirror(), []byte(strings.Repeat("<b>not a database</b>", 100)), 0o600))
		}, "not a solarmirror database"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			tc.spoil(t, w)
			h := New(w.options())
			answer := get(t, h, "/")
			balanced(t, answer.Body.String())
			if page := answer.Body.String(); answer.Code != 200 || !strings.Contains(page, "The mirror cannot be read") || !strings.Contains(page, tc.want) {
				t.Errorf("%d %s", answer.Code, page)
			}
			if answer := get(t, h, "/readyz"); answer.Code != http.StatusServiceUnavailable || !strings.Contains(answer.Body.String(), tc.want) {
				t.Errorf("readyz: %d %s", answer.Code, answer.Body)
			}
			if answer := get(t, h, "/healthz"); answer.Code != http.StatusOK {
				t.Errorf("healthz: %d", answer.Code)
			}
			if metrics := get(t, h, "/metrics").Body.String(); !strings.Contains(metrics, "solarmirror_mirror_readable 0") {
				t.Errorf("metrics do not say that it is unreadable:\n%s", metrics)
			}
		})
	}
}

func TestReady(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(t)
	o := w.options()
	if answer := get(t, New(o), "/readyz"); answer.Code != http.StatusOK || answer.Body.String() != "ready\n" {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
	o.Jobs = func() []schedule.Status { return []schedule.Status{{Name: "sync", Next: now.Add(-time.Hour)}} }
	h := New(o)
	if answer := get(t, h, "/readyz"); answer.Code != http.StatusServiceUnavailable || !strings.Contains(answer.Body.String(), "sync was due at 2026-11-21T14:04:05Z") {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
	if page := get(t, h, "/").Body.String(); !strings.Contains(page, "The schedule is not kept") {
		t.Error("the page does not say that the schedule is not kept")
	}
}

func TestNothingToLookAt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fillWell(t)
	o := w.options()
	o.Jobs = nil
	page := get(t, New(o), "/").Body.String()
	balanced(t, page)
	if !strings.Contains(page, "All is well") || strings.Contains(page, "to look at") || strings.Contains(page, "Schedule</h2>") || strings.Contains(page, "Next run") {
		t.Error(page)
	}
}

func TestWithoutQuotes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`plain`: `plain`, `a "b" c "d"`: `a "…" c "…"`, `saying "it \"is\" Ana"; more`: `saying "…"; more`, `cut "off Ana`: `cut "…"`, `cut "off\`: `cut "…"`,
	} {
		if got := withoutQuotes(text); got != want {
			t.Errorf("withoutQuotes(%s) = %s, want %s", text, got, want)
		}
	}
}
