package platformtest

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// oddCatalogue has the formatting that a rewriting would lose: spaces, exponents, escapes, trailing zeros, unknown members.
const oddCatalogue = `{"type":"inverter", "productCode":"INV00001","name":"Inversor \u00d1 1","manufacturer":"X","model":"m","baseprice":574.30,"costPrice":3.9511e2,"nominalOutputPower":250.0,"inventory":{"current":482,"reserved":32,"minimum":15},"inventoryByCenter":[{"center":"CD-SP","current":265,"reserved":24,"minimum":10},{"center":"CD-GO","current":217,"reserved":8,"minimum":5}],"unknown":{"baseprice":1.0}}

{"type":"inverter","productCode":"INV00002","name":null,"baseprice":"dear","inventory":null}
   {"productCode":"INV00003","type":"inverter","nominalOutputPower":5000.000,"baseprice":1}
`

func loadOdd(t *testing.T) []json.RawMessage {
	t.Helper()
	records, err := LoadEquipments(strings.NewReader(oddCatalogue))
	if err != nil {
		t.Fatal(err)
	}
	return records
}

func TestLoadedCatalogueComesThroughExactly(t *testing.T) {
	t.Parallel()
	loaded := loadOdd(t)
	_, server, _ := newPlatform(t, 1, 30, loaded...)
	got := readAll(t, server, "equipments", "type=inverter")
	if len(got) != len(loaded) {
		t.Fatalf("%d inverters, want %d and no generated one", len(got), len(loaded))
	}
	for _, want := range loaded {
		if !slices.ContainsFunc(got, func(raw json.RawMessage) bool { return string(raw) == string(want) }) {
			t.Errorf("not served as loaded: %s", want)
		}
	}
	if n := len(readAll(t, server, "equipments", "type=module")); n != generatedItems[typeModule] {
		t.Errorf("%d modules beside the loaded inverters", n)
	}
}

// TestOnlyNumbersOfLoadedItemsChange blanks all numbers of the records before and after a long time.
func TestOnlyNumbersOfLoadedItemsChange(t *testing.T) {
	t.Parallel()
	loaded := loadOdd(t)
	p, _, clock := newPlatform(t, 3, 0, loaded...)
	clock.Add(300 * oneDay)
	p.Settle()
	number := regexp.MustCompile(`:\s*-?[0-9][0-9.e+-]*`)
	blank := func(raw string) string { return number.ReplaceAllString(raw, ":0") }
	now := truth(t, p, ResourceEquipments)
	changed := false
	for _, raw := range loaded {
		e := readEquipment(raw)
		is, still := now[e.Type+"/"+e.ProductCode]
		if !still {
			continue
		}
		if blank(string(is.JSON)) != blank(string(raw)) {
			t.Errorf("from %s\n  to %s", raw, is.JSON)
		}
		if !strings.Contains(string(is.JSON), `"unknown":{"baseprice":1.0}`) && strings.Contains(string(raw), "unknown") {
			t.Errorf("a number that is no price changed: %s", is.JSON)
		}
		changed = changed || string(is.JSON) != string(raw)
	}
	if !changed {
		t.Error("nothing changed in 300 days")
	}
}

func TestLoadEquipmentsNamesTheLine(t *testing.T) {
	t.Parallel()
	good := `{"type":"module","productCode":"A"}` + "\n"
	for text, says := range map[string]string{
		good + "[1]\n":                        "line 2: not a JSON object",
		good + "\n{\"type\":\"module\"":       "line 3: not a JSON object",
		good + `{"type":"module"}`:            "line 2: no type or no productCode",
		`{"type":7,"productCode":"A"}`:        "line 1: no type or no productCode",
		`{"type":{"a":1},"productCode":"A"}`:  "line 1: no type or no productCode",
		good + good:                           "line 2: module/A is already on line 1",
		good + `{"type":"module","type":"x"}`: "line 2: not a JSON object",
		good + "{\"type\":\"a\xff\"}":         "line 2: not a JSON object",
	} {
		if _, err := LoadEquipments(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %s", text, err, says)
		}
	}
	if records, err := LoadEquipments(strings.NewReader("\n\n")); err != nil || len(records) != 0 {
		t.Errorf("an empty file: %v %v", records, err)
	}
}

func TestPatch(t *testing.T) {
	t.Parallel()
	raw := `{ "a" : 1.50, "b":{"a":[1, 22 ,{"c":true}]},"d":"1.50","a~/b":3}`
	got := patch([]byte(raw), map[string]string{"/a": "2", "/b/a/1": "333", "/b/a/2/c": "false", "/a~0~1b": "4", "/none": "5", "/b": "6", "/d": "7"})
	want := `{ "a" : 2, "b":{"a":[1, 333 ,{"c":false}]},"d":"1.50","a~/b":4}`
	if string(got) != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestInvertersFitTheirModules keeps the kits credible, with the generated catalogue.
func TestInvertersFitTheirModules(t *testing.T) {
	t.Parallel()
	p, _, _ := newPlatform(t, 9, 400)
	output := map[string]float64{}
	for _, in := range p.world.parts.inverters {
		output[in.code] = in.watts
	}
	for truth := range p.Records(ResourceBudgets) {
		r := decode[record](t, truth.JSON)
		in := r.Products[1]
		ratio := output[in.ProductCode] * in.Quantity / (r.TotalPower * 1000)
		if in.Type != typeInverter || math.IsNaN(ratio) || ratio < 0.4 || ratio > 4 {
			t.Errorf("%s: %v kWp of modules, inverters of %v × %v W", r.Code, r.TotalPower, in.Quantity, output[in.ProductCode])
		}
	}
}
