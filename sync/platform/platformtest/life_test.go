package platformtest

import (
	"bytes"
	"slices"
	"testing"
	"time"
)

// legal are the visible changes of dealStatus that one step can make.
var legal = map[string][]string{
	"Novo":             {"Em negociação", "Perdido"},
	"Em negociação":    {"Proposta enviada", "Perdido"},
	"Proposta enviada": {"Aprovado", "Perdido"},
	"Aprovado":         {"Pedido realizado", "Perdido"},
	"Pedido realizado": {"Pagamento", "Cancelado"},
	"Pagamento":        {"Separação", "Cancelado"},
	"Separação":        {"Faturado"},
	"Faturado":         {"Entregue"},
}

// reachable reports whether to follows from from in any number of steps.
func reachable(from, to string) bool {
	return from == to || slices.ContainsFunc(legal[from], func(next string) bool { return reachable(next, to) })
}

func TestNinetyDaysOfLife(t *testing.T) {
	t.Parallel()
	p, _, clock := newPlatform(t, 11, 300)
	type seen struct {
		Record
		updated int64
	}
	look := func() map[string]seen {
		p.Settle()
		updated := map[string]int64{}
		for i := range p.world.requests {
			updated[p.world.id(uint32(i), &p.world.requests[i])] = p.world.requests[i].updated
		}
		all := map[string]seen{}
		for _, resource := range []string{ResourceOrders, ResourceBudgets} {
			for key, r := range truth(t, p, resource) {
				if other, both := all[key]; both {
					t.Fatalf("%s is both in %s and %s", key, other.Resource, resource)
				}
				all[key] = seen{r, updated[key]}
			}
		}
		return all
	}
	count := map[string]int{}
	before := look()
	for range 15 {
		from := clock.Now()
		clock.Add(6 * oneDay)
		now := look()
		for key, was := range before {
			is, still := now[key]
			if !still {
				count["deleted"]++
				continue
			}
			if bytes.Equal(was.JSON, is.JSON) {
				continue
			}
			count["changed"]++
			if is.updated <= from.UnixMilli() || is.updated > clock.Now().UnixMilli() {
				t.Fatalf("%s changed between %v and %v, but was updated %v", key, from, clock.Now(), time.UnixMilli(is.updated))
			}
			a, b := decode[record](t, was.JSON), decode[record](t, is.JSON)
			if !reachable(a.DealStatus, b.DealStatus) {
				t.Errorf("%s went from %s to %s", key, a.DealStatus, b.DealStatus)
			}
			if a.ID != b.ID || a.Code != b.Code || a.BudgetCreated != b.BudgetCreated {
				t.Errorf("%s lost its identity: %s → %s", key, a.Code, b.Code)
			}
			switch {
			case was.Resource == is.Resource:
			case was.Resource == ResourceBudgets && b.OrderCreated != "":
				count["converted"]++
			default:
				t.Errorf("%s moved from %s to %s, orderCreated %q", key, was.Resource, is.Resource, b.OrderCreated)
			}
			if a.Removed && !b.Removed {
				count["restored"]++
			} else if !a.Removed && b.Removed {
				count["removed"]++
			}
			if a.FinalValue != b.FinalValue {
				count["repriced"]++
			}
			if a.Notes != b.Notes {
				count["noted"]++
			}
			if a.Payment.TransactionStatus != b.Payment.TransactionStatus {
				count["paymentMoved"]++
			}
		}
		for key := range now {
			if _, known := before[key]; !known {
				count["new"]++
			}
		}
		before = now
	}
	t.Log(count)
	for _, event := range []string{"new", "changed", "converted", "removed", "restored", "deleted", "repriced", "noted", "paymentMoved"} {
		if count[event] == 0 {
			t.Errorf("in 90 days nothing was %s", event)
		}
	}
}

func TestCatalogueLives(t *testing.T) {
	t.Parallel()
	p, _, clock := newPlatform(t, 5, 0)
	before := truth(t, p, ResourceEquipments)
	clock.Add(120 * oneDay)
	p.Settle()
	after := truth(t, p, ResourceEquipments)
	type item struct {
		BasePrice float64 `json:"baseprice"`
		IsToSell  bool
		Inventory map[string]int
		Centers   []map[string]any `json:"inventoryByCenter"`
	}
	count := map[string]int{}
	for key, was := range before {
		is, still := after[key]
		if !still {
			count["withdrawn"]++
			continue
		}
		a, b := decode[item](t, was.JSON), decode[item](t, is.JSON)
		if a.BasePrice != b.BasePrice {
			count["repriced"]++
		}
		if a.IsToSell && !b.IsToSell {
			count["discontinued"]++
		}
		if a.Inventory["current"] != b.Inventory["current"] {
			count["moved"]++
		}
		for _, level := range []string{"current", "reserved", "minimum"} {
			sum := 0.0
			for _, c := range b.Centers {
				sum += c[level].(float64)
			}
			if int(sum) != b.Inventory[level] || sum < 0 {
				t.Errorf("%s: the centres hold %v %s, the whole %d", key, sum, level, b.Inventory[level])
			}
		}
	}
	for key := range after {
		if _, known := before[key]; !known {
			count["new"]++
		}
	}
	t.Log(count)
	for _, event := range []string{"new", "repriced", "discontinued", "moved"} {
		if count[event] == 0 {
			t.Errorf("in 120 days no item was %s", event)
		}
	}
}

func TestSameSeedSameBytes(t *testing.T) {
	t.Parallel()
	world := func(seed uint64, steps int) []byte {
		p, _, clock := newPlatform(t, seed, 150)
		for range steps {
			clock.Add(60 * oneDay / time.Duration(steps))
			p.Settle()
		}
		var all []byte
		for _, resource := range []string{ResourceOrders, ResourceBudgets, ResourceEquipments} {
			for r := range p.Records(resource) {
				all = append(append(all, r.JSON...), '\n')
			}
		}
		return all
	}
	once := world(3, 1)
	if !bytes.Equal(once, world(3, 1)) {
		t.Error("the same seed and clock gave two worlds")
	}
	if !bytes.Equal(once, world(3, 48)) {
		t.Error("looking in between changed the world")
	}
	if bytes.Equal(once, world(4, 1)) {
		t.Error("two seeds gave one world")
	}
}

func TestStartHoldsExactlyTheRequests(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 777} {
		p, _, clock := newPlatform(t, 2, n)
		got := len(truth(t, p, ResourceOrders)) + len(truth(t, p, ResourceBudgets))
		if got != n {
			t.Errorf("asked for %d requests, got %d", n, got)
		}
		clock.Add(10 * oneDay)
		p.Settle()
		if grown := len(p.world.requests) > n; grown != (n > 0) {
			t.Errorf("%d requests have become %d in ten days", n, len(p.world.requests))
		}
	}
}
