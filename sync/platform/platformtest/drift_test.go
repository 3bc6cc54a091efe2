package platformtest

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// shapes counts, for every path of some records, the kinds of JSON value that stand there, and exponents apart.
func shapes(t *testing.T, p *Platform) map[string]int {
	t.Helper()
	counts := map[string]int{}
	var walk func(path string, n *node)
	walk = func(path string, n *node) {
		kind := map[jsontext.Kind]string{'{': "object", '[': "array", '"': "string", '0': "number", 't': "boolean", 'f': "boolean", 'n': "null"}[n.kind]
		if n.is('"') && bytes.HasSuffix(n.literal, []byte(`-03:00"`)) {
			kind = "local time"
		}
		if n.is('0') && bytes.ContainsRune(n.literal, 'E') {
			kind = "exponent"
		}
		if n.is('0') && len(n.literal) >= 30 {
			kind = "long"
		}
		counts[path+" "+kind]++
		for i, value := range n.values {
			if n.is('[') {
				walk(path+"[]", value)
			} else {
				walk(path+"."+n.names[i], value)
			}
		}
	}
	for _, resource := range []string{ResourceOrders, ResourceBudgets, ResourceEquipments} {
		for r := range p.Records(resource) {
			if !jsontext.Value(r.JSON).IsValid() {
				t.Fatalf("not JSON: %s", r.JSON)
			}
			walk(strings.TrimSuffix(map[bool]string{true: "e", false: "r"}[resource == ResourceEquipments], "."), parseNode(r.JSON))
		}
	}
	return counts
}

// TestEveryKindOfDrift proves that each kind brings what it should, and nothing that the others are for.
func TestEveryKindOfDrift(t *testing.T) {
	t.Parallel()
	world := func(d Drift) *Platform {
		return New(Options{Seed: 4, Requests: 100, Equipments: catalogueOf(12), Token: testToken, Clock: newHandClock().Now, Dialect: Dialect{Drift: d}})
	}
	plain := shapes(t, world(0))
	for kind, brings := range map[Drift]string{
		DriftUnknown: `r.requestStatus string|r.totalValue number|r.profitMargin number|r.payment.condition._id string|r.invoice.temInscricaoSuframa string|
			r.freight.integrationData.providerName string|r.audit.by object|r.tags array|r.products[].sku string|e.taxes.icms object|e.images array|e.inventory.incoming number`,
		DriftNull:    `r.payment null|r.company null|r.freight null|r.freight.address null|r.payment.condition null|e.inventory null|e.isToSellOptions null|e.moduleSpecifications null`,
		DriftShape:   `r.structure object|r.files[] string|r.structure[].arrangements object|e.inventoryByCenter object`,
		DriftType:    `r.totalPower string|r.originalValue string|r.products[].quantity string|r.company.address.number number|r.apiSent string|r.removed string|r.budgetCreated local time|e.baseprice string|e.isToSell string`,
		DriftNumbers: `r.finalValue long|r.discount exponent|r.freight.price long|e.volume long|e.costPrice exponent`,
		DriftMissing: ``,
	} {
		got := shapes(t, world(kind))
		for _, shape := range strings.Split(brings, "|") {
			shape = strings.TrimSpace(shape)
			if shape != "" && (got[shape] == 0 || plain[shape] != 0) {
				t.Errorf("drift %v: %d × %s, without it %d", kind, got[shape], shape, plain[shape])
			}
		}
		added := 0
		for shape, n := range got {
			if plain[shape] == 0 {
				added += n
			}
		}
		if kind == DriftMissing {
			if added != 0 || got["r.notes string"]+got["r.notes null"] >= plain["r.notes string"]+plain["r.notes null"] {
				t.Errorf("missing fields add %d or leave notes", added)
			}
		} else if added == 0 {
			t.Errorf("drift %v changes nothing", kind)
		}
	}
	all, want := shapes(t, world(DriftAll)), []string{"r.requestStatus string", "r.structure object", "r.payment null", "r.removed string", "r.finalValue long"}
	for _, shape := range want {
		if all[shape] == 0 {
			t.Errorf("drift all: no %s", shape)
		}
	}
}

// TestDriftedTruthIsServed compares lists with the truth byte for byte, and looks at what drift must leave alone.
func TestDriftedTruthIsServed(t *testing.T) {
	t.Parallel()
	clock := newHandClock()
	p, server := serve(t, Options{Seed: 5, Requests: 150, Clock: clock.Now, Dialect: Dialect{Drift: DriftAll}})
	plain := New(Options{Seed: 5, Requests: 150, Equipments: catalogueOf(3), Clock: newHandClock().Now})
	first := map[string]string{}
	for _, list := range []struct{ path, query, resource string }{
		{"requests/order", "", ResourceOrders}, {"requests/budget", "", ResourceBudgets}, {"equipments", "", ResourceEquipments},
		{"requests/budget", "removed=true", ResourceBudgets},
	} {
		var want []string
		for r := range p.Records(list.resource) {
			if r.Removed == (list.query != "") {
				want = append(want, string(r.JSON))
			}
		}
		var got []string
		for _, raw := range readAll(t, server, list.path, list.query) {
			got = append(got, string(raw))
		}
		if !slices.Equal(got, want) || len(want) == 0 {
			t.Errorf("%s?%s: %d records, want %d", list.path, list.query, len(got), len(want))
		}
		drifted, sound := truth(t, p, list.resource), truth(t, plain, list.resource)
		if !slices.Equal(slices.Sorted(maps.Keys(drifted)), slices.Sorted(maps.Keys(sound))) {
			t.Errorf("%s: the keys have drifted", list.resource)
		}
		for key, r := range drifted {
			first[key] = string(r.JSON)
			said := decode[struct{ ID, Type, ProductCode string }](t, r.JSON)
			if said.ID != key && said.Type+"/"+said.ProductCode != key {
				t.Errorf("%s says it is %+v", key, said)
			}
		}
	}
	clock.Add(3 * oneDay)
	p.Settle()
	same := 0
	for key, r := range truth(t, p, ResourceBudgets) {
		if first[key] == string(r.JSON) {
			same++
		}
	}
	if same < 30 {
		t.Errorf("after three days only %d budgets read as before", same)
	}
}

func TestBadRecords(t *testing.T) {
	t.Parallel()
	p, server := serve(t, Options{Seed: 6, Requests: 400, Equipments: []json.RawMessage{}, Dialect: Dialect{Drift: DriftBad}})
	kinds := map[string]bool{}
	for _, list := range []struct{ path, resource string }{
		{"requests/order", ResourceOrders}, {"requests/budget", ResourceBudgets}, {"equipments", ResourceEquipments},
	} {
		bad, sound := 0, 0
		queries := []string{"", "removed=true"}
		if list.resource == ResourceEquipments {
			queries = queries[:1]
		}
		records := truth(t, p, list.resource)
		for _, query := range queries {
			for _, raw := range readAll(t, server, list.path, query) {
				fault := unkeyable(raw)
				if fault == "" {
					sound++
					continue
				}
				kinds[fault] = true
				bad++
			}
		}
		if bad != p.BadRecords(list.resource) || bad == 0 || sound != len(records) {
			t.Errorf("%s: %d bad ones of %d, %d sound ones of %d", list.resource, bad, p.BadRecords(list.resource), sound, len(records))
		}
	}
	if got := slices.Sorted(maps.Keys(kinds)); !slices.Equal(got, []string{"UTF-8", "duplicate key", "no object", "no text for a key"}) {
		t.Errorf("bad records are: %v", got)
	}
	if New(Options{Requests: 600, Clock: newHandClock().Now}).BadRecords(ResourceBudgets) != 0 {
		t.Error("a platform without drift counts bad records")
	}
}

// unkeyable returns why a record cannot be keyed, "" when it can.
func unkeyable(raw []byte) string {
	value := jsontext.Value(raw)
	switch {
	case value.Kind() != '{':
		return "no object"
	case !value.IsValid(jsontext.AllowDuplicateNames(true)):
		return "UTF-8"
	case !value.IsValid():
		return "duplicate key"
	}
	var said map[string]json.RawMessage
	_ = json.Unmarshal(raw, &said) // an object, as seen above
	for _, key := range []string{"id", "productCode"} {
		if strings.HasPrefix(string(said[key]), `"`) {
			return ""
		}
	}
	return "no text for a key"
}
