package platform

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestObserveIsToldOfEveryRequest counts what was sent against what the server saw, repetitions and lost answers included.
func TestObserveIsToldOfEveryRequest(t *testing.T) {
	t.Parallel()
	server := serve(t, wire("", true), status(http.StatusBadGateway), body(twoRows), body(`{"data":{"success":true},"error":null}`))
	cfg := testConfig(server.URL)
	var mu sync.Mutex
	var told []Exchange
	cfg.Observe = func(e Exchange) {
		mu.Lock()
		defer mu.Unlock()
		if e.Took <= 0 {
			t.Errorf("%+v took no time", e)
		}
		e.Took = 0
		told = append(told, e)
	}
	client := newClient(t, cfg)
	if _, err := listOrders(t, client); err != nil {
		t.Fatal(err)
	}
	if result := client.CreateCompany(t.Context(), Company{Name: "a"}, func() error { return nil }); result.Outcome != Created {
		t.Fatal(result)
	}
	want := []Exchange{
		{Method: "GET", List: "orders", Attempt: 1, Failure: "read tcp " + strings.TrimPrefix(server.URL, "http://") + ": read: connection reset by peer"}, {Method: "GET", List: "orders", Status: 502, Attempt: 2, Failure: "the platform answered 502 Bad Gateway"},
		{Method: "GET", List: "orders", Status: 200, Attempt: 3}, {Method: "POST", Status: 200, Attempt: 1},
	}
	if !slices.Equal(told, want) || len(server.seen()) != len(want) {
		t.Errorf("told of %+v, want %+v", told, want)
	}
}
