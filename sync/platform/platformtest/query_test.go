package platformtest

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// decoded is a record of the truth with what the tests read of it.
type decoded[T any] struct {
	Record
	value T
}

func decodeAll[T any](t *testing.T, p *Platform, resource string) (all []decoded[T]) {
	t.Helper()
	for r := range p.Records(resource) {
		all = append(all, decoded[T]{r, decode[T](t, r.JSON)})
	}
	return all
}

// expectList compares a list over HTTP with the naive scan of the truth that keep makes, order included: both are
// newest first.
func expectList[T any](t *testing.T, server *httptest.Server, list, query string, all []decoded[T], keep func(decoded[T]) bool) {
	t.Helper()
	var want []string
	for _, r := range all {
		if keep(r) {
			want = append(want, string(r.JSON))
		}
	}
	var got []string
	for _, raw := range readAll(t, server, list, query) {
		got = append(got, string(raw))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s?%s: %d records, want %d", list, query, len(got), len(want))
	}
	if len(want) == 0 || len(want) == len(all) && query != "" {
		t.Errorf("%s?%s selects %d of %d records and so proves nothing", list, query, len(want), len(all))
	}
}

func TestRequestFilters(t *testing.T) {
	t.Parallel()
	p, server, clock := newPlatform(t, 31, 200)
	clock.Add(20 * oneDay)
	p.Settle()
	zone := platformZone()
	updated := map[string]string{} // id → local day of the last update
	var days []string
	for i := range p.world.requests {
		r := &p.world.requests[i]
		day := time.UnixMilli(r.updated).In(zone).Format(time.DateOnly)
		updated[p.world.id(uint32(i), r)] = day
		days = append(days, day)
	}
	slices.Sort(days)
	early, late := days[len(days)/4], days[len(days)*3/4]

	orders, budgets := decodeAll[record](t, p, ResourceOrders), decodeAll[record](t, p, ResourceBudgets)
	sample := budgets[len(budgets)/2].value
	cnpj := ""
	for _, r := range budgets {
		if r.value.Company.CNPJ != "" {
			cnpj = r.value.Company.CNPJ
		}
	}
	word := strings.Fields(sample.Name)[2]
	near := func(kwp float64) float64 { return math.Round(kwp * 1000) }
	for query, keep := range map[string]func(record) bool{
		"":                          func(record) bool { return true },
		"removed=false":             func(record) bool { return true },
		"unknown=1":                 func(record) bool { return true },
		"lastUpdateAfter=" + late:   func(r record) bool { return updated[r.ID] >= late },
		"lastUpdateBefore=" + early: func(r record) bool { return updated[r.ID] <= early },
		"lastUpdateAfter=" + early + "&lastUpdateBefore=" + early: func(r record) bool { return updated[r.ID] == early },
		"code=ORC-2025":                                   func(r record) bool { return strings.Contains(r.Code, "ORC-2025") },
		"code=" + sample.Code[6:]:                         func(r record) bool { return r.Code == sample.Code },
		"name=" + url.QueryEscape(word):                   func(r record) bool { return strings.Contains(r.Name, word) },
		"powerGTE=" + fmt.Sprint(near(sample.TotalPower)): func(r record) bool { return near(r.TotalPower) >= near(sample.TotalPower) },
		"powerLTE=" + fmt.Sprint(near(sample.TotalPower)): func(r record) bool { return near(r.TotalPower) <= near(sample.TotalPower) },
		"powerGTE=5e3&powerLTE=9500.5":                    func(r record) bool { return r.TotalPower >= 5 && r.TotalPower <= 9.5 },
		"freightState=SP":                                 func(r record) bool { return r.Freight.Address.State == "SP" },
		"freightCity=" + url.QueryEscape("São"):           func(r record) bool { return strings.Contains(r.Freight.Address.City, "São") },
		"companyCNPJ=" + url.QueryEscape(cnpj[1:12]):      func(r record) bool { return strings.Contains(r.Company.CNPJ, cnpj[1:12]) },
		"responsibleEmail=" + url.QueryEscape(sample.Responsible.Email[:8]): func(r record) bool {
			return strings.Contains(r.Responsible.Email, sample.Responsible.Email[:8])
		},
		"freightState=MG&powerLTE=10000": func(r record) bool { return r.Freight.Address.State == "MG" && r.TotalPower <= 10 },
	} {
		expectList(t, server, "requests/budget", query, budgets, func(r decoded[record]) bool { return !r.Removed && keep(r.value) })
	}
	expectList(t, server, "requests/order", "", orders, func(r decoded[record]) bool { return !r.Removed })
	expectList(t, server, "requests/order", "removed=true", orders, func(r decoded[record]) bool { return r.Removed })
	expectList(t, server, "requests/budget", "removed=true&lastUpdateBefore="+late, budgets,
		func(r decoded[record]) bool { return r.Removed && updated[r.Key] <= late })
}

func TestContainsIsCaseSensitive(t *testing.T) {
	t.Parallel()
	_, server, _ := newPlatform(t, 1, 50)
	if n := len(readAll(t, server, "requests/budget", "name=Projeto")); n == 0 {
		t.Error("name=Projeto finds nothing")
	}
	if n := len(readAll(t, server, "requests/budget", "name=projeto")); n != 0 {
		t.Errorf("name=projeto finds %d", n)
	}
}

func TestEquipmentFilters(t *testing.T) {
	t.Parallel()
	p, server, clock := newPlatform(t, 77, 0)
	clock.Add(30 * oneDay)
	p.Settle()
	type item struct {
		Type, ProductCode, Name, Manufacturer, Model string
		BasePrice                                    float64 `json:"baseprice"`
	}
	created := map[string]string{}
	var days []string
	for i := range p.world.items {
		it := &p.world.items[i]
		day := time.UnixMilli(it.created).In(platformZone()).Format(time.DateOnly)
		created[it.key()] = day
		days = append(days, day)
	}
	slices.Sort(days)
	day := days[len(days)/2]
	all := decodeAll[item](t, p, ResourceEquipments)
	for query, keep := range map[string]func(item, string) bool{
		"":                       func(item, string) bool { return true },
		"createdAfter=" + day:    func(_ item, key string) bool { return created[key] >= day },
		"createdBefore=" + day:   func(_ item, key string) bool { return created[key] <= day },
		"type=inverter":          func(it item, _ string) bool { return it.Type == "inverter" },
		"productCode=V0001":      func(it item, _ string) bool { return strings.Contains(it.ProductCode, "V0001") },
		"name=String":            func(it item, _ string) bool { return strings.Contains(it.Name, "String") },
		"manufacturer=Solar":     func(it item, _ string) bool { return strings.Contains(it.Manufacturer, "Solar") },
		"model=-144M":            func(it item, _ string) bool { return strings.Contains(it.Model, "-144M") },
		"basePriceGTE=1000":      func(it item, _ string) bool { return it.BasePrice >= 1000 },
		"basePriceLTE=1000":      func(it item, _ string) bool { return it.BasePrice <= 1000 },
		"type=module&name=Solar": func(it item, _ string) bool { return it.Type == "module" && strings.Contains(it.Name, "Solar") },
	} {
		expectList(t, server, "equipments", query, all, func(r decoded[item]) bool { return keep(r.value, r.Key) })
	}
	price := all[0].value.BasePrice
	same := fmt.Sprintf("basePriceGTE=%v&basePriceLTE=%v", price, price)
	expectList(t, server, "equipments", same, all, func(r decoded[item]) bool { return r.value.BasePrice == price })
}

// TestDaysBeginInSaoPaulo: a day lasts from three o'clock to three o'clock in UTC.
func TestDaysBeginInSaoPaulo(t *testing.T) {
	t.Parallel()
	f := filters{values: url.Values{"a": {"2026-03-10"}, "b": {"2026-03-10"}}, zone: platformZone()}
	day := f.period("a", "b")
	for moment, inside := range map[string]bool{
		"2026-03-10T02:59:59.999Z": false, "2026-03-10T03:00:00.000Z": true,
		"2026-03-11T02:59:59.999Z": true, "2026-03-11T03:00:00.000Z": false,
	} {
		at, err := time.Parse(time.RFC3339, moment)
		if err != nil || f.err != nil {
			t.Fatal(err, f.err)
		}
		if day.contains(at.UnixMilli()) != inside {
			t.Errorf("%s inside 2026-03-10: %v", moment, !inside)
		}
	}
}

func TestListsFollowTheWorld(t *testing.T) {
	t.Parallel()
	p, server, clock := newPlatform(t, 13, 150)
	for range 5 {
		clock.Add(2 * oneDay)
		var want []json.RawMessage
		got := readAll(t, server, "requests/order", "")
		for r := range p.Records(ResourceOrders) {
			if !r.Removed {
				want = append(want, r.JSON)
			}
		}
		if !slices.EqualFunc(got, want, func(a, b json.RawMessage) bool { return string(a) == string(b) }) {
			t.Fatalf("at %v: the list is not the truth", clock.Now())
		}
	}
}
