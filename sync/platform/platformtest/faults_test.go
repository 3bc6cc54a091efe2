package platformtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"solarmirror/sync/platform"
)

func TestFaultsText(t *testing.T) {
	t.Parallel()
	f, err := ParseFaults("rate=0.1,seed=3,kinds=429+reset+cut,redirect307@5, token-rotation@20,retry-after=0,drip=1ms,to=http://other:1/")
	if err != nil || f.Rate != 0.1 || f.Seed != 3 || len(f.Kinds) != 5 || f.At[5] != FaultRedirect307 || f.At[20] != FaultTokenRotation ||
		f.RetryAfter != 0 || f.Drip != time.Millisecond || f.RedirectTo != "http://other:1" {
		t.Errorf("%+v %v", f, err)
	}
	if f, err = ParseFaults("rate=1,kinds=all"); err != nil || len(f.Kinds) != len(AllFaults()) || f.RetryAfter != 1 {
		t.Errorf("%+v %v", f, err)
	}
	for _, kind := range append(AllFaults(), FaultTokenRotation) {
		if f, err := ParseFaults(string(kind) + "@7"); err != nil || f.At[7] != kind {
			t.Errorf("%s: %+v %v", kind, f, err)
		}
		if !strings.Contains(FaultsHelp(), string(kind)) {
			t.Errorf("the help does not name %s", kind)
		}
	}
	for text, says := range map[string]string{
		"rate=2":                      "0 to 1",
		"rate=NaN":                    "0 to 1",
		"kinds=reset":                 "rate=0.1",
		"rate=1,kinds=resets":         "transient, all, 429-seconds",
		"rate=1,kinds=token-rotation": "token-rotation@20",
		"reset@0":                     "from 1",
		"reset@x":                     "from 1",
		"resets@4":                    "429-seconds",
		"reset@4,cut@4":               "has reset already",
		"seed=-1":                     "whole number",
		"retry-after=-1":              "whole seconds",
		"drip=50":                     "50ms",
		"to=elsewhere":                "base URL",
		"speed=9":                     "rate, kinds, seed",
	} {
		if _, err := ParseFaults(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// got is what a client without any mercy sees.
type got struct {
	status int
	header http.Header
	body   string
	spaces int   // what a bomb put between the first byte of the body and the others
	err    error // of the call or of its body
}

// get makes one authorized call over a connection of its own and follows nothing.
func get(t *testing.T, url string) got {
	t.Helper()
	return getBy(t, &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, CheckRedirect: stay}, url)
}

// stay follows no redirect.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func getBy(t *testing.T, client *http.Client, url string) got {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+testToken)
	resp, err := client.Do(r)
	if err != nil {
		return got{err: err}
	}
	defer resp.Body.Close()
	body := &defuser{}
	_, err = io.Copy(body, resp.Body)
	return got{resp.StatusCode, resp.Header, string(body.text), body.spaces, err}
}

// defuser keeps a body without the spaces behind its first byte.
type defuser struct {
	text   []byte
	spaces int
}

func (d *defuser) Write(b []byte) (int, error) {
	rest := b
	if len(d.text) == 0 && len(rest) > 0 {
		d.text, rest = append(d.text, rest[0]), rest[1:]
	}
	if len(d.text) == 1 {
		text := bytes.TrimLeft(rest, " ")
		d.spaces += len(rest) - len(text)
		rest = text
	}
	d.text = append(d.text, rest...)
	return len(b), nil
}

// faultLooks says of every fault whether an answer shows it; sound is the page without it.
func faultLooks(t *testing.T, now time.Time) map[Fault]func(g got, sound string) bool {
	status := func(want int) func(got, string) bool {
		return func(g got, _ string) bool {
			return g.err == nil && g.status == want && strings.Contains(g.header.Get("Content-Type"), "/")
		}
	}
	after := func(want func(header string) bool) func(got, string) bool {
		return func(g got, _ string) bool {
			return g.err == nil && g.status == 429 && want(g.header.Get("Retry-After"))
		}
	}
	redirect := func(want int) func(got, string) bool {
		return func(g got, _ string) bool {
			return g.status == want && g.header.Get("Location") == "http://other.invalid/api/v2/requests/budget/1/5?removed=false"
		}
	}
	ids := func(g got) (nulls, invalid int) {
		var page struct {
			Data struct{ Items []json.RawMessage }
		}
		if g.status != 200 || json.Unmarshal([]byte(g.body), &page) != nil {
			return -1, -1
		}
		for _, raw := range page.Data.Items {
			if strings.Contains(string(raw), `"id":null,"name"`) {
				nulls++
			}
			if bytes.Contains(raw, []byte("S\xe3o")) {
				invalid++
			}
		}
		return nulls, invalid
	}
	return map[Fault]func(g got, sound string) bool{
		Fault429Seconds: after(func(h string) bool { n, err := strconv.Atoi(h); return err == nil && n >= 0 && n <= 3 }),
		Fault429Date: after(func(h string) bool {
			at, err := http.ParseTime(h)
			return err == nil && !at.Before(now.Truncate(time.Second)) && !at.After(now.Add(3*time.Second))
		}),
		Fault429Garbage: after(func(h string) bool { return h == "em breve" }),
		Fault429Billion: after(func(h string) bool { return h == "1000000000" }),
		Fault500:        status(500),
		Fault502:        status(502),
		Fault503:        status(503),
		Fault401:        status(401),
		FaultReset:      func(g got, _ string) bool { return errors.Is(g.err, syscall.ECONNRESET) },
		FaultCut: func(g got, sound string) bool {
			return g.status == 200 && errors.Is(g.err, io.ErrUnexpectedEOF) && len(g.body) < len(sound)
		},
		FaultCutClose: func(g got, sound string) bool {
			return g.err == nil && g.status == 200 && len(g.body) < len(sound) && strings.HasPrefix(sound, g.body)
		},
		FaultDrip: func(g got, sound string) bool { return g.err == nil && g.status == 200 && g.body == sound },
		FaultHTML: func(g got, _ string) bool {
			return g.status == 200 && strings.HasPrefix(g.body, "<!DOCTYPE html>") && strings.Contains(g.header.Get("Content-Type"), "text/html")
		},
		FaultNull: func(g got, _ string) bool { return g.status == 200 && g.body == "null" },
		FaultEmptyError: func(g got, _ string) bool {
			return g.status == 200 && strings.HasPrefix(g.body, `{"error":"Erro`) && json.Valid([]byte(g.body))
		},
		FaultBomb: func(g got, sound string) bool { return g.status == 200 && g.spaces == bombMiB<<20 && g.body == sound },
		FaultTrailing: func(g got, sound string) bool {
			return g.status == 200 && strings.HasPrefix(g.body, sound) && len(g.body) > len(sound)
		},
		FaultDuplicate: func(g got, _ string) bool {
			return g.status == 200 && strings.Count(g.body, `"data":`) == 2 && json.Valid([]byte(g.body))
		},
		FaultBadUTF8:     func(g got, _ string) bool { nulls, invalid := ids(g); return nulls == 0 && invalid == 1 },
		FaultNullIDs:     func(g got, _ string) bool { nulls, invalid := ids(g); return nulls == 5 && invalid == 0 },
		FaultRedirect302: redirect(302),
		FaultRedirect307: redirect(307),
		FaultRedirect308: redirect(308),
	}
}

// TestEveryFault asks for the same page three times: before, at and after the fault.
func TestEveryFault(t *testing.T) {
	t.Parallel()
	clock := newHandClock()
	looks := faultLooks(t, clock.Now())
	for _, kind := range AllFaults() {
		p, server := serve(t, Options{Requests: 40, Clock: clock.Now, Faults: Faults{
			At: map[int64]Fault{2: kind}, RetryAfter: 3, Drip: time.Nanosecond, RedirectTo: "http://other.invalid",
		}})
		url := server.URL + "/api/v2/requests/budget/1/5?removed=false"
		before, spoiled, after := get(t, url), get(t, url), get(t, url)
		if before.status != 200 || before.body != after.body || before.err != nil || after.err != nil {
			t.Errorf("%s reaches beyond its request: %d %d %v %v", kind, before.status, after.status, before.err, after.err)
		}
		if looks[kind] == nil || !looks[kind](spoiled, before.body) {
			t.Errorf("%s: %d %v %v %.150s", kind, spoiled.status, spoiled.header, spoiled.err, spoiled.body)
		}
		if looks[kind] != nil && looks[kind](before, before.body) && kind != FaultDrip {
			t.Errorf("%s: a sound page looks like it", kind)
		}
		if got := p.Faulted(); !maps.Equal(got, map[string]int{string(kind): 1}) {
			t.Errorf("%s: counted %v", kind, got)
		}
	}
}

func TestFaultsInEveryEnvelope(t *testing.T) {
	t.Parallel()
	for _, d := range []Dialect{{Envelope: EnvelopeArray}, {Envelope: EnvelopeData}} {
		_, server := serve(t, Options{Requests: 40, Dialect: d, Faults: Faults{At: map[int64]Fault{1: FaultDuplicate, 2: FaultEmptyError, 3: FaultBadUTF8}}})
		url := server.URL + "/api/v2/requests/budget/1/5"
		duplicate, refused, page := get(t, url).body, get(t, url).body, get(t, url).body
		if strings.Count(duplicate, `"data":`) != 2 || !json.Valid([]byte(duplicate)) {
			t.Errorf("%v: %.200s", d, duplicate)
		}
		if said := decode[struct{ Error string }](t, []byte(refused)); said.Error == "" {
			t.Errorf("%v: %s", d, refused)
		}
		if items, _ := d.open(t, page); len(items) != 5 || strings.Count(page, "S\xe3o") != 1 {
			t.Errorf("%v: %d items", d, len(items))
		}
	}
}

func TestFaultsSpareWhatIsNoList(t *testing.T) {
	t.Parallel()
	p, server := serve(t, Options{Faults: Faults{Rate: 1, Kinds: []Fault{Fault500}, At: map[int64]Fault{1: FaultReset, 3: FaultNullIDs}}})
	resp, body := call(t, "POST", server.URL+"/api/v2/company", `{"create":[]}`)
	if resp.StatusCode != 400 || !strings.Contains(body, "create") {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	if g := getBy(t, http.DefaultClient, server.URL+"/api/v2/nothing"); g.status != 404 {
		t.Errorf("%d", g.status)
	}
	if g := get(t, server.URL+"/api/v2/requests/budget/900/5"); g.status != 200 {
		t.Errorf("an empty page, which cannot be spoiled, is %d", g.status)
	}
	if got := p.Faulted(); len(got) != 0 {
		t.Errorf("counted %v", got)
	}
}

func TestTokenRotation(t *testing.T) {
	t.Parallel()
	_, server := serve(t, Options{NextToken: "the next", Faults: Faults{At: map[int64]Fault{3: FaultTokenRotation}}})
	ask := func(token string) int {
		r, err := http.NewRequest("GET", server.URL+"/api/v2/equipments/1/1", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	for n, c := range []struct {
		token string
		want  int
	}{{testToken, 200}, {"the next", 401}, {testToken, 401}, {"the next", 200}, {"the next", 200}} {
		if status := ask(c.token); status != c.want {
			t.Errorf("request %d with %q: %d", n+1, c.token, status)
		}
	}
}

// TestRate: the share is about right, the same seed gives the same faults, and no page fails more than twice in a row.
func TestRate(t *testing.T) {
	t.Parallel()
	run := func(seed uint64, rate float64) (statuses []int) {
		p := New(Options{Requests: 40, Equipments: catalogueOf(3), Token: testToken, Clock: newHandClock().Now, Faults: Faults{Rate: rate, Seed: seed, Kinds: []Fault{Fault500, Fault503}}})
		client := &http.Client{Transport: p.Transport()}
		for range 300 {
			statuses = append(statuses, getBy(t, client, "http://platform/api/v2/requests/budget/1/1").status)
		}
		return statuses
	}
	failures := func(statuses []int) (n, longest int) {
		row := 0
		for _, status := range statuses {
			row++
			if status == 200 {
				row = 0
				continue
			}
			n++
			longest = max(longest, row)
		}
		return n, longest
	}
	tenth := run(1, 0.1)
	if n, _ := failures(tenth); n < 15 || n > 50 {
		t.Errorf("a rate of 0.1 brought %d faults in 300", n)
	}
	if !slices.Equal(tenth, run(1, 0.1)) || slices.Equal(tenth, run(2, 0.1)) {
		t.Error("the seed does not decide")
	}
	if n, longest := failures(run(1, 1)); n != 200 || longest != 2 {
		t.Errorf("a rate of 1 brought %d faults, %d in a row", n, longest)
	}
}

// TestOurClientRidesOutTransientFaults reads a list whole through the worker's own client.
func TestOurClientRidesOutTransientFaults(t *testing.T) {
	t.Parallel()
	p, server := serve(t, Options{Equipments: []json.RawMessage{}, Faults: Faults{Rate: 0.6, Seed: 8}})
	client, err := platform.New(platform.Config{
		BaseURL: server.URL, Token: func(context.Context) (string, error) { return testToken, nil }, RequestsPerSecond: 10_000,
		Log: zerolog.Nop(), Retry: platform.RetryPolicy{Initial: time.Millisecond, Max: time.Millisecond, Attempts: 4},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var want, read []string
	for r := range p.Records(ResourceEquipments) {
		want = append(want, string(r.JSON))
	}
	for n := 1; ; n++ {
		page, err := client.List(t.Context(), platform.Resource{Path: "/equipments"}, platform.Filter{}, n, 5)
		if err != nil {
			t.Fatal(err)
		}
		for _, raw := range page.Records {
			read = append(read, string(raw))
		}
		if len(page.Records) == 0 {
			break
		}
	}
	if !slices.Equal(read, want) {
		t.Errorf("read %d of %d", len(read), len(want))
	}
	served := p.Faulted()
	for _, kind := range TransientFaults() {
		if served[string(kind)] == 0 {
			t.Errorf("%s never came", kind)
		}
	}
	t.Log(served)
}

// TestRedirectsLeadToTheOtherHost shows that a client that follows arrives there; what it brings is the client's affair.
func TestRedirectsLeadToTheOtherHost(t *testing.T) {
	t.Parallel()
	var arrived atomic.Value
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { arrived.Store(r.URL.RequestURI()) }))
	t.Cleanup(other.Close)
	_, server := serve(t, Options{Faults: Faults{At: map[int64]Fault{1: FaultRedirect308}, RedirectTo: other.URL}})
	getBy(t, http.DefaultClient, server.URL+"/api/v2/equipments/1/7?type=module")
	if got := fmt.Sprint(arrived.Load()); got != "/api/v2/equipments/1/7?type=module" {
		t.Errorf("arrived at %s", got)
	}
}
