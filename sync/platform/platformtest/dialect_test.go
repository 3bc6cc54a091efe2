package platformtest

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// catalogueOf is n items of each type, for worlds that are made by the dozen: most of the work is in their catalogue.
func catalogueOf(n int) (records []json.RawMessage) {
	for _, kind := range equipmentTypes {
		for serial := range n {
			records = append(records, generateItem(1, kind, serial+1).raw)
		}
	}
	return records
}

// serve returns a platform with options of the test's choice, by default of 120 requests and a dozen items, and its server.
func serve(t *testing.T, o Options) (*Platform, *httptest.Server) {
	t.Helper()
	if o.Requests == 0 {
		o.Requests = 120
	}
	if o.Equipments == nil {
		o.Equipments = catalogueOf(3)
	}
	if o.Clock == nil {
		o.Clock = newHandClock().Now
	}
	o.Token = testToken
	p := New(o)
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	return p, server
}

func mustParse(t *testing.T, text string) Dialect {
	t.Helper()
	d, err := ParseDialect(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// open takes a list out of its envelope; the total is as it was written, "" where there is none.
func (d Dialect) open(t *testing.T, body string) (items []json.RawMessage, total string) {
	t.Helper()
	decodeStrictly := func(v any) {
		dec := json.NewDecoder(strings.NewReader(body))
		dec.DisallowUnknownFields()
		if err := dec.Decode(v); err != nil {
			t.Fatalf("%v: %v in %.200s", d, err, body)
		}
	}
	switch d.Envelope {
	case EnvelopeArray:
		decodeStrictly(&items)
		return items, ""
	case EnvelopeData:
		var e struct{ Data, TotalItems json.RawMessage }
		decodeStrictly(&e)
		if err := json.Unmarshal(e.Data, &items); err != nil {
			t.Fatal(err)
		}
		return items, string(e.TotalItems)
	default:
		var e struct {
			Error *string
			Data  struct{ Items, TotalItems json.RawMessage }
		}
		decodeStrictly(&e)
		if err := json.Unmarshal(e.Data.Items, &items); err != nil || e.Error != nil {
			t.Fatalf("%v: %v %.200s", d, err, body)
		}
		return items, string(e.Data.TotalItems)
	}
}

func TestDialectText(t *testing.T) {
	t.Parallel()
	cases := map[string]Dialect{
		"":                         {},
		"first=1,envelope=items":   {},
		"cap=50":                   {Cap: 50},
		"pages=ignored,over=clamp": {Pages: PagesIgnored, OverCap: OverCapClamp},
		"drift=all+bad":            {Drift: DriftAll | DriftBad},
		"drift=null+unknown":       {Drift: DriftNull | DriftUnknown},
		"first=0,envelope=data,total=string,cap=50,over=clamp,drift=all,order=updated-desc": {
			FirstPage: FirstPageZero, Envelope: EnvelopeData, Total: TotalString, Cap: 50, OverCap: OverCapClamp,
			Drift: DriftAll, Order: OrderUpdatedDesc,
		},
		" first=0-as-1, filters=ignored": {FirstPage: FirstPageZeroAsOne, Filters: FiltersIgnored},
	}
	for text, want := range cases {
		if got := mustParse(t, text); got != want {
			t.Errorf("%q is %+v", text, got)
		}
	}
	all := Dialects()
	for n := range uint8(10) { // every value of every key
		all = append(all, Dialect{
			FirstPage: FirstPage(n % 3), Envelope: Envelope(n % 3), Total: Total(n % 7), Cap: int(n) + 1, OverCap: OverCap(n % 4),
			Drift: Drift(1) << (n % 7), Order: Order(n), Pages: Pages(n % 3), Filters: Filters(n % 2),
		})
	}
	for _, d := range all {
		if got := mustParse(t, d.String()); got != d && !(d.Cap == 50 && got.Cap == 0) {
			t.Errorf("%+v is written %q and read as %+v", d, d, got)
		}
	}
	for text, says := range map[string]string{
		"envelope=bare":   "items, data, array",
		"first=2":         "1, 0, 0-as-1",
		"cap=0":           "another whole number from 1",
		"cap=many":        "another whole number from 1",
		"drift=wild":      "unknown, missing, null, shape, type, numbers, bad",
		"order=updated":   "updated-desc",
		"envelop=data":    "first, envelope, total, cap, over, drift, order, pages, filters",
		"envelope":        "items, data, array",
		"first=1,,cap=50": "no setting",
	} {
		if _, err := ParseDialect(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestDialectsAreTheMatrix(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, d := range Dialects() {
		seen[fmt.Sprint(d.FirstPage, d.Envelope, d.OverCap)] = true
		seen[fmt.Sprint("total ", d.Total)] = true
		seen[fmt.Sprint("over ", d.OverCap, " cap ", d.Cap)] = true
	}
	if len(seen) != 3*3*4+5+4*3 {
		t.Errorf("%d combinations: %v", len(seen), seen)
	}
}

// TestEveryDialect reads a list page by page in every dialect, looks at what is answered outside the pages, and at totals.
func TestEveryDialect(t *testing.T) {
	t.Parallel()
	world := New(Options{Seed: 3, Requests: 70, Equipments: catalogueOf(3), Clock: newHandClock().Now})
	var want []string
	for r := range world.Records(ResourceBudgets) {
		if !r.Removed {
			want = append(want, string(r.JSON))
		}
	}
	for _, d := range append(Dialects(), Dialect{Total: TotalZero}, Dialect{Envelope: EnvelopeData, Total: TotalGarbage}) {
		_, server := serve(t, Options{Seed: 3, Requests: 70, Dialect: d})
		get := func(page, limit int) (int, string) {
			resp, body := call(t, "GET", fmt.Sprintf("%s/api/v2/requests/budget/%d/%d", server.URL, page, limit), "")
			return resp.StatusCode, body
		}
		var got []string
		first := 1
		if d.FirstPage == FirstPageZero {
			first = 0
		}
		const limit = 13
		for n := 0; ; n++ {
			status, body := get(first+n, limit)
			if status != 200 {
				t.Fatalf("%v: page %d is %d", d, first+n, status)
			}
			items, total := d.open(t, body)
			if problem := wrongTotal(d, total, len(want)); problem != "" {
				t.Errorf("%v: %s", d, problem)
			}
			for _, raw := range items {
				got = append(got, string(raw))
			}
			if len(items) < limit {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v: %d records, want %d", d, len(got), len(want))
		}
		expectPageZero(t, d, get)
		expectOverCap(t, d, get, first, len(want))
	}
}

func expectPageZero(t *testing.T, d Dialect, get func(page, limit int) (int, string)) {
	t.Helper()
	zero, body := get(0, 10)
	_, one := get(1, 10)
	switch d.FirstPage {
	case FirstPageOne:
		if zero != 400 {
			t.Errorf("%v: page 0 is %d", d, zero)
		}
	case FirstPageZero:
		if zero != 200 || body == one {
			t.Errorf("%v: page 0 is %d and like page 1", d, zero)
		}
	case FirstPageZeroAsOne:
		if zero != 200 || body != one {
			t.Errorf("%v: page 0 is %d and not page 1", d, zero)
		}
	}
}

func expectOverCap(t *testing.T, d Dialect, get func(page, limit int) (int, string), first, total int) {
	t.Helper()
	status, body := get(first, d.pageCap()+1)
	want := map[OverCap]int{OverCap400: 400, OverCap500: 500, OverCap200: 200, OverCapClamp: 200}[d.OverCap]
	if status != want {
		t.Errorf("%v: over the cap %d", d, status)
	}
	if d.OverCap == OverCapClamp {
		if items, _ := d.open(t, body); len(items) != min(d.pageCap(), total) {
			t.Errorf("%v: clamped to %d", d, len(items))
		}
		return
	}
	if said := decode[struct{ Error string }](t, []byte(body)); !strings.Contains(said.Error, "pageLimit") {
		t.Errorf("%v: %s", d, body)
	}
}

// wrongTotal returns what is wrong with a total, beside what the dialect makes wrong on purpose.
func wrongTotal(d Dialect, total string, n int) string {
	number, err := strconv.Atoi(total)
	ok := false
	switch {
	case d.Envelope == EnvelopeArray || d.Total == TotalAbsent:
		ok = total == ""
	case d.Total == TotalString:
		ok = total == strconv.Quote(strconv.Itoa(n))
	case d.Total == TotalWrongHigh:
		ok = err == nil && number > n
	case d.Total == TotalWrongLow:
		ok = err == nil && number < n
	case d.Total == TotalZero:
		ok = total == "0"
	case d.Total == TotalGarbage:
		ok = total != "" && (err != nil || number < 0)
	default:
		ok = err == nil && number == n
	}
	if ok {
		return ""
	}
	return fmt.Sprintf("totalItems is %s of %d", total, n)
}

func TestPagesThatLie(t *testing.T) {
	t.Parallel()
	_, server := serve(t, Options{Dialect: Dialect{Pages: PagesIgnored, Envelope: EnvelopeArray}})
	page := func(server *httptest.Server, n int) string {
		_, body := call(t, "GET", fmt.Sprintf("%s/api/v2/requests/budget/%d/10", server.URL, n), "")
		return body
	}
	first := page(server, 1)
	if page(server, 2) != first || page(server, 900) != first || first == "[]" {
		t.Error("a page number counted")
	}

	_, server = serve(t, Options{Dialect: Dialect{Pages: PagesRepeat, Envelope: EnvelopeArray}})
	repeats := 0
	first = page(server, 1)
	for range 40 {
		if page(server, 1) != first {
			t.Fatal("the first page changes")
		}
		if page(server, 2) == first {
			repeats++
		}
	}
	if repeats == 0 || repeats > 25 {
		t.Errorf("%d of 40 repeat the page before", repeats)
	}
}

func TestFiltersIgnored(t *testing.T) {
	t.Parallel()
	_, server := serve(t, Options{Dialect: Dialect{Filters: FiltersIgnored}})
	all := len(readAll(t, server, "requests/order", ""))
	for _, filter := range []string{"removed=true", "lastUpdateAfter=2030-01-01", "code=none", "powerGTE=nonsense"} {
		if got := len(readAll(t, server, "requests/order", filter)); got != all || all == 0 {
			t.Errorf("?%s: %d of %d", filter, got, all)
		}
	}
}
