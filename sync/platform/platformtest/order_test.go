package platformtest

import (
	"cmp"
	"encoding/json"
	"net/http/httptest"
	"slices"
	"testing"
)

// readKeys lists the live budgets of a server, by id, in one page.
func readKeys(t *testing.T, server *httptest.Server) (ids []string) {
	t.Helper()
	_, body := call(t, "GET", server.URL+"/api/v2/requests/budget/1/500", "")
	items, _ := Dialect{Envelope: EnvelopeArray}.open(t, body)
	for _, raw := range items {
		ids = append(ids, decode[record](t, raw).ID)
	}
	return ids
}

func TestOrdersOfRequests(t *testing.T) {
	t.Parallel()
	clock := newHandClock()
	world := New(Options{Seed: 9, Requests: 120, Equipments: catalogueOf(3), Clock: clock.Now})
	clock.Add(6 * oneDay)
	world.Settle()
	type row struct {
		record
		at      int
		updated int64
	}
	var rows []row
	byID := map[string]row{}
	for i := range world.world.requests {
		r := &world.world.requests[i]
		if r.gone || r.removed || r.stage.isOrder() {
			continue
		}
		one := row{decode[record](t, world.world.appendRequest(nil, uint32(i), r)), i, r.updated}
		rows = append(rows, one)
		byID[one.ID] = one
	}
	start := newHandClock()
	for order, compare := range map[Order]func(a, b row) int{
		OrderCreatedDesc: func(a, b row) int { return cmp.Compare(b.BudgetCreated, a.BudgetCreated) },
		OrderCreatedAsc:  func(a, b row) int { return cmp.Compare(a.BudgetCreated, b.BudgetCreated) },
		OrderUpdatedDesc: func(a, b row) int { return cmp.Compare(b.updated, a.updated) },
		OrderUpdatedAsc:  func(a, b row) int { return cmp.Compare(a.updated, b.updated) },
		OrderID:          func(a, b row) int { return cmp.Compare(a.ID, b.ID) },
		OrderCode:        func(a, b row) int { return cmp.Compare(a.Code, b.Code) },
		OrderName:        func(a, b row) int { return cmp.Compare(a.Name, b.Name) },
		OrderStatus:      func(a, b row) int { return cmp.Compare(a.DealStatus, b.DealStatus) },
	} {
		moving := &handClock{now: start.Now()}
		_, server := serve(t, Options{
			Seed: 9, Requests: 120, Clock: moving.Now, Dialect: Dialect{Order: order, Envelope: EnvelopeArray, Cap: 500},
		})
		moving.Add(6 * oneDay)
		got := readKeys(t, server)
		if len(got) != len(rows) {
			t.Fatalf("%v: %d of %d", order, len(got), len(rows))
		}
		if again := readKeys(t, server); !slices.Equal(got, again) {
			t.Errorf("%v changes from one request to the next", order)
		}
		if !slices.IsSortedFunc(got, func(a, b string) int { return compare(byID[a], byID[b]) }) {
			t.Errorf("%v is not in order", order)
		}
	}
	if len(StableOrders()) != 8 {
		t.Error("not every stable order is tested")
	}
}

func TestShuffledOrders(t *testing.T) {
	t.Parallel()
	for _, order := range []Order{OrderRandom, OrderTies} {
		p, server := serve(t, Options{Seed: 9, Requests: 120, Dialect: Dialect{Order: order, Envelope: EnvelopeArray, Cap: 500}})
		first, second := readKeys(t, server), readKeys(t, server)
		if slices.Equal(first, second) {
			t.Errorf("%v is the same twice", order)
		}
		if order == OrderTies {
			spans := map[string]int64{}
			for i := range p.world.requests {
				spans[p.world.id(uint32(i), &p.world.requests[i])] = p.world.requests[i].created / tieSpan
			}
			if !slices.IsSortedFunc(second, func(a, b string) int { return cmp.Compare(spans[b], spans[a]) }) {
				t.Error("ties are shuffled beyond their span")
			}
		}
		slices.Sort(first)
		slices.Sort(second)
		if !slices.Equal(first, second) || len(first) == 0 {
			t.Errorf("%v loses records", order)
		}
	}
}

func TestOrdersOfEquipment(t *testing.T) {
	t.Parallel()
	type item struct {
		Type, ProductCode, Name string
		IsToSell                bool
	}
	for order, compare := range map[Order]func(a, b item) int{
		OrderID:   func(a, b item) int { return cmp.Compare(a.Type+"/"+a.ProductCode, b.Type+"/"+b.ProductCode) },
		OrderCode: func(a, b item) int { return cmp.Compare(a.ProductCode, b.ProductCode) },
		OrderName: func(a, b item) int { return cmp.Compare(a.Name, b.Name) },
		OrderStatus: func(a, b item) int {
			return map[bool]int{false: 0, true: 1}[a.IsToSell] - map[bool]int{false: 0, true: 1}[b.IsToSell]
		},
	} {
		p := New(Options{Requests: 1, Token: testToken, Clock: newHandClock().Now, Dialect: Dialect{Order: order, Envelope: EnvelopeArray, Cap: 500}})
		items, _ := p.dialect.open(t, getBy(t, local(p), localURL+"equipments/1/500").body)
		var got []item
		for _, raw := range items {
			got = append(got, decode[item](t, raw))
		}
		if !slices.IsSortedFunc(got, compare) || len(got) != 480 {
			t.Errorf("%v: %d items, not in order", order, len(got))
		}
	}

	clock := newHandClock()
	p := New(Options{Token: testToken, Clock: clock.Now, Dialect: Dialect{Order: OrderUpdatedDesc, Envelope: EnvelopeArray, Cap: 500}})
	read := func() []json.RawMessage {
		items, _ := p.dialect.open(t, getBy(t, local(p), localURL+"equipments/1/500").body)
		return items
	}
	was := map[string]bool{}
	for _, raw := range read() {
		was[string(raw)] = true
	}
	clock.Add(oneDay)
	after := read()
	changed := slices.IndexFunc(after, func(raw json.RawMessage) bool { return was[string(raw)] })
	if changed < 1 {
		t.Fatal("a day changed no item")
	}
	for _, raw := range after[changed:] {
		if !was[string(raw)] {
			t.Error("a changed item is not at the front")
		}
	}
}
