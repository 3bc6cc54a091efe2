package platformtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

const testToken = "token-of-the-test"

// handClock is a clock that stands until it is moved.
type handClock struct {
	mu  sync.Mutex
	now time.Time
}

func newHandClock() *handClock { return &handClock{now: time.Date(2026, 3, 17, 15, 4, 5, 0, time.UTC)} }

func (c *handClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *handClock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

const oneDay = 24 * time.Hour

// newPlatform returns a platform of n requests, its server and its clock.
func newPlatform(t *testing.T, seed uint64, n int, equipments ...json.RawMessage) (*Platform, *httptest.Server, *handClock) {
	t.Helper()
	clock := newHandClock()
	p := New(Options{Seed: seed, Requests: n, Equipments: equipments, Token: testToken, Clock: clock.Now})
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	return p, server, clock
}

// call makes one authorized call and returns status and body.
func call(t *testing.T, method, url, body string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+testToken)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(got)
}

type listAnswer struct {
	Error *string
	Data  struct {
		Items      []json.RawMessage
		TotalItems int
	}
}

// readAll pages through a list, for example readAll(t, server, "requests/order", "removed=true").
func readAll(t *testing.T, server *httptest.Server, list, query string) []json.RawMessage {
	t.Helper()
	var all []json.RawMessage
	const limit = 37
	for page := 1; ; page++ {
		resp, body := call(t, "GET", fmt.Sprintf("%s/api/v2/%s/%d/%d?%s", server.URL, list, page, limit, query), "")
		var got listAnswer
		if err := json.Unmarshal([]byte(body), &got); err != nil || resp.StatusCode != 200 || got.Error != nil {
			t.Fatalf("%s?%s page %d: %d %v %.200s", list, query, page, resp.StatusCode, err, body)
		}
		all = append(all, got.Data.Items...)
		if len(got.Data.Items) < limit {
			if got.Data.TotalItems != len(all) {
				t.Fatalf("%s?%s: totalItems %d, paged %d", list, query, got.Data.TotalItems, len(all))
			}
			return all
		}
	}
}

// record is what the tests read of a request.
type record struct {
	ID, Name, Code, Kind                                                     string
	TotalPower, OriginalValue, Discount, Surcharge, FinalValue               float64
	DifferenceWithPaymentConditionApplied                                    float64
	BudgetCreated, OrderCreated, DealStatus, StockStatus, Notes, BillingDate string
	Payment                                                                  struct {
		Type, Status, TransactionStatus, PaidAt string
		Condition                               struct {
			ConditionType, ModifierType string
			Value                       float64
		}
		CreditCard *struct{ Brand string }
	}
	Responsible struct{ Email string }
	Company     struct {
		CNPJ, CPF string
		Address   struct{ CEP, State, City string }
	}
	Products []struct {
		Type                              string
		Quantity, SinglePrice, TotalPrice float64
		ProductCode                       string
	}
	Structure []struct {
		Arrangements []struct{ LinesAmount, ModulesByLine float64 }
	}
	Freight struct {
		Type, ZoneType, TruckPossible string
		Address                       struct{ State, City string }
	}
	Invoice *struct{ CNPJ, CPF string }
	Removed bool
}

func decode[T any](t *testing.T, raw []byte) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return v
}

// truth returns the records of a resource by their keys.
func truth(t *testing.T, p *Platform, resource string) map[string]Record {
	t.Helper()
	all := map[string]Record{}
	for r := range p.Records(resource) {
		if _, twice := all[r.Key]; twice {
			t.Fatalf("%s has %s twice", resource, r.Key)
		}
		all[r.Key] = r
	}
	return all
}
