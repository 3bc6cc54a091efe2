package platformtest

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
)

func TestRefusals(t *testing.T) {
	t.Parallel()
	p, server, _ := newPlatform(t, 1, 20)
	for _, c := range []struct {
		method, path string
		status       int
		says         string
	}{
		{"GET", "/api/v2/requests/order/0/10", 400, "pageNumber"},
		{"GET", "/api/v2/requests/order/-1/10", 400, "pageNumber"},
		{"GET", "/api/v2/requests/order/x/10", 400, "pageNumber"},
		{"GET", "/api/v2/requests/order/1/0", 400, "pageLimit"},
		{"GET", "/api/v2/requests/order/1/51", 400, "1 to 50"},
		{"GET", "/api/v2/requests/order/1/1.5", 400, "pageLimit"},
		{"GET", "/api/v2/requests/sale/1/10", 400, "requestType"},
		{"GET", "/api/v2/requests/order/1/10?lastUpdateAfter=10/03/2026", 400, "lastUpdateAfter"},
		{"GET", "/api/v2/requests/order/1/10?lastUpdateBefore=2026-02-30", 400, "lastUpdateBefore"},
		{"GET", "/api/v2/requests/order/1/10?powerGTE=many", 400, "powerGTE"},
		{"GET", "/api/v2/requests/order/1/10?powerLTE=NaN", 400, "powerLTE"},
		{"GET", "/api/v2/requests/order/1/10?freightState=SPX", 400, "freightState"},
		{"GET", "/api/v2/requests/order/1/10?removed=yes", 400, "removed"},
		{"GET", "/api/v2/requests/order/1/10?name=%zz", 400, "query string"},
		{"GET", "/api/v2/equipments/1/10?createdAfter=", 400, "createdAfter"},
		{"GET", "/api/v2/equipments/1/10?basePriceGTE=1,5", 400, "basePriceGTE"},
		{"GET", "/api/v2/equipments/1", 404, "Not found"},
		{"GET", "/api/v2/requests/order/1/10/", 404, "Not found"},
		{"GET", "/api/v1/equipments/1/10", 404, "Not found"},
		{"POST", "/api/v2/equipments/1/10", 405, "Method"},
		{"GET", "/api/v2/company", 405, "Method"},
	} {
		resp, body := call(t, c.method, server.URL+c.path, "")
		got := decode[struct {
			Data  any
			Error string
		}](t, []byte(body))
		if resp.StatusCode != c.status || got.Data != nil || !strings.Contains(got.Error, c.says) {
			t.Errorf("%s %s: %d %s", c.method, c.path, resp.StatusCode, body)
		}
		if c.status == 405 && resp.Header.Get("Allow") == "" {
			t.Errorf("%s %s: no Allow header", c.method, c.path)
		}
	}
	if p.Served() == 0 {
		t.Error("refused calls are not counted")
	}
}

func TestAuthorization(t *testing.T) {
	t.Parallel()
	p, server, _ := newPlatform(t, 1, 20)
	for header, want := range map[string]int{
		"": 401, "Bearer": 401, "Bearer ": 401, "Bearer other": 401, "Basic " + testToken: 401, testToken: 401,
		"Bearer " + testToken + " ": 200, // net/http trims the value of a header
		"Bearer " + testToken:       200, "bearer " + testToken: 200,
	} {
		r, err := http.NewRequest("GET", server.URL+"/api/v2/equipments/1/1", nil)
		if err != nil {
			t.Fatal(err)
		}
		if header != "" {
			r.Header.Set("Authorization", header)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("Authorization %q: %d %s", header, resp.StatusCode, body)
		}
		if want == 401 && string(body) != `{"data":null,"error":"Unauthorized"}` {
			t.Errorf("Authorization %q: %s", header, body)
		}
	}
	if p.Served() != 9 {
		t.Errorf("served %d", p.Served())
	}
	if New(Options{}).authorized("Bearer ", 1) {
		t.Error("a platform without a token lets an empty one in")
	}
}

func TestAnswersFollowTheClock(t *testing.T) {
	t.Parallel()
	p, server, clock := newPlatform(t, 1, 100)
	before := len(readAll(t, server, "requests/budget", "")) + len(readAll(t, server, "requests/order", ""))
	clock.Add(30 * oneDay)
	resp, _ := call(t, "GET", server.URL+"/api/v2/equipments/1/1", "")
	if got := resp.Header.Get("Date"); got != "Thu, 16 Apr 2026 15:04:05 GMT" {
		t.Errorf("Date: %s", got)
	}
	if after := len(truth(t, p, ResourceBudgets)) + len(truth(t, p, ResourceOrders)); after <= before {
		t.Errorf("a request after 30 days found the world at %d requests, then %d", before, after)
	}
	clock.Add(-60 * oneDay)
	if after := len(readAll(t, server, "requests/budget", "")); after == 0 {
		t.Error("a clock that went back emptied the world")
	}
}

func TestGzip(t *testing.T) {
	t.Parallel()
	_, server, _ := newPlatform(t, 1, 100)
	url := server.URL + "/api/v2/requests/budget/1/20"
	get := func(encoding string) (string, io.Reader) {
		r, err := http.NewRequest("GET", url, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+testToken)
		r.Header.Set("Accept-Encoding", encoding)
		resp, err := (&http.Transport{DisableCompression: true}).RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { resp.Body.Close() })
		return resp.Header.Get("Content-Encoding"), resp.Body
	}
	coding, body := get("identity")
	want, err := io.ReadAll(body)
	if err != nil || coding != "" || !json.Valid(want) {
		t.Fatalf("plain: %s %v", coding, err)
	}
	for _, accept := range []string{"gzip", "deflate, gzip;q=0.5"} {
		coding, body = get(accept)
		z, err := gzip.NewReader(body)
		if err != nil || coding != "gzip" {
			t.Fatalf("%s: %s %v", accept, coding, err)
		}
		if got, err := io.ReadAll(z); err != nil || string(got) != string(want) {
			t.Errorf("%s: %d bytes, want %d: %v", accept, len(got), len(want), err)
		}
	}
	for _, refuse := range []string{"gzip;q=0", "br", ""} {
		if coding, _ := get(refuse); coding != "" {
			t.Errorf("Accept-Encoding %q got %s", refuse, coding)
		}
	}
}

func TestPagesBeyondTheEndAreEmpty(t *testing.T) {
	t.Parallel()
	p, server, _ := newPlatform(t, 1, 60)
	live := 0
	for r := range p.Records(ResourceBudgets) {
		if !r.Removed {
			live++
		}
	}
	for _, page := range []string{"7", "9223372036854775807"} {
		resp, body := call(t, "GET", server.URL+"/api/v2/requests/budget/"+page+"/10", "")
		got := decode[listAnswer](t, []byte(body))
		if resp.StatusCode != 200 || got.Data.Items == nil || len(got.Data.Items) != 0 || got.Data.TotalItems != live {
			t.Errorf("page %s: %d %.200s", page, resp.StatusCode, body)
		}
	}
}

func TestPageCap(t *testing.T) {
	t.Parallel()
	list := []uint32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	for _, c := range []struct{ number, limit, from, n int }{{1, 4, 0, 4}, {2, 4, 4, 4}, {3, 4, 8, 2}, {4, 4, 0, 0}, {2, 5, 5, 5}, {3, 5, 0, 0}, {1, 50, 0, 10}} {
		got := page(list, c.number, c.limit)
		if len(got) != c.n || c.n > 0 && got[0] != uint32(c.from) {
			t.Errorf("page %d of %d: %v", c.number, c.limit, got)
		}
	}
}

func TestManyClientsAtOnce(t *testing.T) {
	t.Parallel()
	p, server, clock := newPlatform(t, 1, 200)
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for range 5 {
				resp, body := call(t, "GET", server.URL+"/api/v2/requests/budget/1/50?name=Projeto", "")
				if resp.StatusCode != 200 || !json.Valid([]byte(body)) {
					t.Errorf("%d %.100s", resp.StatusCode, body)
				}
				clock.Add(oneDay)
				for r := range p.Records(ResourceEquipments) {
					_ = r
				}
			}
		})
	}
	clients.Wait()
}
