package statuspage

import (
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"solarmirror/sync/platform"
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

// TestOutage: a platform that is down is one problem, however many streams and jobs it stops, and while a job still
// tries it is one as well.
func TestOutage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := w.inOutage(t)
	page := get(t, New(o), "/").Body.String()
	balanced(t, page)
	for _, want := range []string{
		`<section class="verdict bad"`, "1 to look at", "Requests to the platform fail: 21 tries in 111 s (Orders, Budgets, Equipment).",
		"The last run failed: Verification 9 min ago, Full read of equipment 10 min ago.", `<q lang="en">` + refused + "</q>", "<code>solarmirror doctor</code>",
		`<article class="card warning"><h3>Orders`, `<article class="card bad"><h3>Equipment`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q:\n%s", want, page)
		}
	}
	if strings.Contains(page, "All is well") || strings.Count(page, `<li class="`) != 1 {
		t.Errorf("an outage is not one line:\n%s", page)
	}
}

// TestTries: tries that fail make the page amber after a minute, for as long as a job makes them, until one succeeds.
func TestTries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fillWell(t)
	start := now.Add(-5 * time.Minute)
	fails := platform.Exchange{Method: "GET", List: "orders", Failure: `the platform answered 503, saying "Ana"`}
	answers := platform.Exchange{Method: "GET", List: "orders", Status: 400}
	for name, tc := range map[string]struct {
		running bool
		tries   map[time.Duration]platform.Exchange // by how long before now
		amber   string
	}{
		"for two minutes": {true, map[time.Duration]platform.Exchange{2 * time.Minute: fails, time.Second: fails}, "2 tries in 2 min (Orders)."},
		"for 50 seconds":  {true, map[time.Duration]platform.Exchange{50 * time.Second: fails, time.Second: fails}, ""},
		"then answered":   {true, map[time.Duration]platform.Exchange{2 * time.Minute: fails, time.Minute: fails, time.Second: answers}, ""},
		"then cancelled":  {true, map[time.Duration]platform.Exchange{2 * time.Minute: fails, time.Second: {Method: "GET", List: "orders"}}, "1 tries in 2 min (Orders)."},
		"by an old job":   {true, map[time.Duration]platform.Exchange{9 * time.Minute: fails, 6 * time.Minute: fails}, ""},
		"and none runs":   {false, map[time.Duration]platform.Exchange{2 * time.Minute: fails, time.Second: fails}, ""},
	} {
		o := w.options()
		var at time.Time
		o.Requests = NewRequests(func() time.Time { return at })
		for _, before := range slices.Backward(slices.Sorted(maps.Keys(tc.tries))) {
			at = now.Add(-before)
			o.Requests.Observe(tc.tries[before])
		}
		o.Jobs = func() []schedule.Status {
			return []schedule.Status{{Name: "sync", Running: tc.running, LastStart: start}}
		}
		page := get(t, New(o), "/").Body.String()
		amber := strings.Contains(page, `<section class="verdict warning"`)
		if amber != (tc.amber != "") || !strings.Contains(page, tc.amber) || amber == strings.Contains(page, "All is well") {
			t.Errorf("%s:\n%s", name, page)
		}
		if amber && !strings.Contains(page, "the platform answered 503, saying &#34;…&#34;") {
			t.Errorf("%s: the cause is not told:\n%s", name, page)
		}
	}
}

// TestLanguages: the page speaks the browser's language, shows no word of the configuration, and loads itself again.
func TestLanguages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(t)
	o := w.options()
	for header, want := range map[string]string{"": "en", "de, fr;q=0.5": "en", "pt-BR,pt;q=0.9,en;q=0.8": "pt-BR", "en;q=0.5, pt;q=0.9": "pt-BR", "en-GB,pt;q=0.5": "en"} {
		answer := httptest.NewRecorder()
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		request.Host = "localhost"
		request.Header.Set("Accept-Language", header)
		New(o).ServeHTTP(answer, request)
		page := answer.Body.String()
		balanced(t, page)
		if !strings.Contains(page, `<html lang="`+want+`">`) || answer.Header().Get("Vary") != "Accept-Language" {
			t.Errorf("%q: no page in %s", header, want)
		}
		if !strings.Contains(page, `<meta http-equiv="refresh" content="30"/>`) {
			t.Error("the page does not load itself again")
		}
		for _, word := range []string{"full_equipments", "full_requests", ">push<", "equipments<", ">ambiguous<", ">unknown<", "%!"} {
			if strings.Contains(page, word) {
				t.Errorf("the page in %s shows %s", want, word)
			}
		}
	}
	for _, same := range []func(*texts) map[string]string{
		func(w *texts) map[string]string { return w.StreamNames }, func(w *texts) map[string]string { return w.JobNames },
		func(w *texts) map[string]string { return w.States }, func(w *texts) map[string]string { return w.Kinds },
	} {
		if d := cmp.Diff(slices.Sorted(maps.Keys(same(english))), slices.Sorted(maps.Keys(same(portuguese)))); d != "" {
			t.Error(d)
		}
	}
	for i := range reflect.TypeFor[texts]().NumField() {
		field := reflect.TypeFor[texts]().Field(i).Name
		en, pt := reflect.ValueOf(*english).Field(i), reflect.ValueOf(*portuguese).Field(i)
		if pt.IsZero() || field != "Language" && en.IsZero() {
			t.Errorf("%s has no words", field)
		}
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
