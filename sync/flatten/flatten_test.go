package flatten_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"solarmirror/schema"
	"solarmirror/sync/flatten"
)

type (
	cells map[string]any
	rows  map[string]map[string]any
	drift map[flatten.Drift]string // to the example
)

// The contract's decisions, one example each. The record is given without its braces and key.
func TestDecisions(t *testing.T) {
	t.Parallel()
	const id, code = "requests[]", "equipments[]"
	tests := []struct {
		name   string
		root   *schema.Table
		record string
		rows   rows // but for the root row where only its key is set
		extra  string
		drift  drift
	}{
		{
			name: "number as string", record: `"finalValue":"12.50"`,
			rows:  rows{id: cells{"final_value": 12.5}},
			drift: drift{{"/finalValue", "type"}: `"12.50"`},
		}, {
			name: "number in a text", record: `"code":123,"kind":1.50`,
			rows:  rows{id: cells{"code": "123", "kind": "1.50"}},
			drift: drift{{"/code", "type"}: `123`, {"/kind", "type"}: `1.50`},
		}, {
			name: "boolean as string and number", record: `"apiSent":"true","removed":0`,
			rows:  rows{id: cells{"api_sent": int64(1), "removed": int64(0)}},
			drift: drift{{"/apiSent", "type"}: `"true"`, {"/removed", "type"}: `0`},
		}, {
			name: "a missing removed is NULL", record: `"name":"x"`,
			rows: rows{id: cells{"name": "x"}},
		}, {
			name: "wrong type", record: `"finalValue":{"a":1},"billingDate":"05/01/2026","code":[1]`,
			extra: `{"/finalValue":{"a":1},"/billingDate":"05/01/2026","/code":[1]}`,
			drift: drift{{"/finalValue", "type"}: `{"a":1}`, {"/billingDate", "type"}: `"05/01/2026"`, {"/code", "type"}: `[1]`},
		}, {
			name: "number beyond float64", record: `"discount":9007199254740993,"surcharge":123456789012345678901234567890,"finalValue":1e400`,
			rows:  rows{id: cells{"discount": 9007199254740992.0, "surcharge": 123456789012345680000000000000.0}},
			extra: `{"/discount":9007199254740993,"/surcharge":123456789012345678901234567890,"/finalValue":1e400}`,
			drift: drift{{"/discount", "type"}: `9007199254740993`, {"/surcharge", "type"}: `123456789012345678901234567890`, {"/finalValue", "type"}: `1e400`},
		}, {
			name: "whole numbers however written", record: `"payment":{"condition":{"quantityOfInstallments":3.0}},"structure":[{"arrangements":[{"linesAmount":2e1,"modulesByLine":-0.0},{"linesAmount":9007199254740993,"modulesByLine":1.5}]}]`,
			rows: rows{
				"request_payments[]": cells{"condition_quantity_of_installments": int64(3)}, "request_structures[1]": {},
				"request_arrangements[1 1]": cells{"lines_amount": int64(20), "modules_by_line": int64(0)},
				"request_arrangements[1 2]": cells{"lines_amount": int64(9007199254740993)},
			},
			extra: `{"/structure/0/arrangements/1/modulesByLine":1.5}`,
			drift: drift{{"/structure/*/arrangements/*/modulesByLine", "type"}: `1.5`},
		}, {
			name:   "instants",
			record: `"budgetCreated":"2026-03-02T13:45:12.318Z","orderCreated":"2026-03-02T23:30:00-03:00","apiSentUpdated":"2026-03-02T13:45:12.3189Z"`,
			rows:   rows{id: cells{"budget_created": "2026-03-02 13:45:12.318", "order_created": "2026-03-03 02:30:00.000", "api_sent_updated": "2026-03-02 13:45:12.318"}},
			extra:  `{"/apiSentUpdated":"2026-03-02T13:45:12.3189Z"}`,
			drift:  drift{{"/orderCreated", "type"}: `"2026-03-02T23:30:00-03:00"`, {"/apiSentUpdated", "type"}: `"2026-03-02T13:45:12.3189Z"`},
		}, {
			name: "a time without zone is no instant", record: `"budgetCreated":"2026-03-02T13:45:12"`,
			extra: `{"/budgetCreated":"2026-03-02T13:45:12"}`,
			drift: drift{{"/budgetCreated", "type"}: `"2026-03-02T13:45:12"`},
		}, {
			name: "paid_at is local", record: `"payment":{"paidAt":"2026-03-10T09:27"}`,
			rows: rows{"request_payments[]": cells{"paid_at": "2026-03-10 09:27:00.000"}},
		}, {
			name: "an instant is no local time", record: `"payment":{"paidAt":"2026-03-10T09:27:00Z"}`,
			rows:  rows{"request_payments[]": {}},
			extra: `{"/payment/paidAt":"2026-03-10T09:27:00Z"}`,
			drift: drift{{"/payment/paidAt", "type"}: `"2026-03-10T09:27:00Z"`},
		}, {
			name: "null objects and arrays", record: `"payment":null,"addedBy":null,"products":null,"structure":[],"company":{},"responsible":{}`,
			rows: rows{"request_companies[]": {}},
		}, {
			name: "object where an array is documented", record: `"structure":{"kind":"Solo","arrangements":{"linesAmount":2,"modulesByLine":[3]},"new":1,"7":2}`,
			rows:  rows{"request_structures[1]": cells{"kind": "Solo"}, "request_arrangements[1 1]": cells{"lines_amount": int64(2)}},
			extra: `{"/structure/arrangements/modulesByLine":[3],"/structure/new":1,"/structure/0/7":2}`,
			drift: drift{
				{"/structure", "shape"}:                               `{"kind":"Solo","arrangements":{"linesAmount":2,"modulesByLine":[3]},"new":1,"7":2}`,
				{"/structure/*/arrangements", "shape"}:                `{"linesAmount":2,"modulesByLine":[3]}`,
				{"/structure/*/arrangements/*/modulesByLine", "type"}: `[3]`,
				{"/structure/*/new", "unknown"}:                       `1`, {"/structure/*/7", "unknown"}: `2`,
			},
		}, {
			name: "strings among files", record: `"files":["a.pdf",{"category":"Telhado","uploadedFiles":["b.jpg",null,7]},null,"c.pdf"]`,
			rows: rows{
				"request_files[1]": {}, "request_uploaded_files[1 1]": cells{"file_name": "a.pdf"},
				"request_files[2]": cells{"category": "Telhado"}, "request_uploaded_files[2 1]": cells{"file_name": "b.jpg"}, "request_uploaded_files[2 2]": {}, "request_uploaded_files[2 3]": cells{"file_name": "7"},
				"request_files[4]": {}, "request_uploaded_files[4 1]": cells{"file_name": "c.pdf"},
			},
			extra: `{"/files/2":null}`,
			drift: drift{{"/files/*", "shape"}: `"a.pdf"`, {"/files/*/uploadedFiles/*", "type"}: `7`},
		}, {
			name: "one string in place of files", record: `"files":"a.pdf"`,
			rows:  rows{"request_files[1]": {}, "request_uploaded_files[1 1]": cells{"file_name": "a.pdf"}},
			drift: drift{{"/files", "shape"}: `"a.pdf"`},
		}, {
			name: "a string means nothing among products", record: `"products":["x"],"customForm":"y"`,
			extra: `{"/products/0":"x","/customForm":"y"}`,
			drift: drift{{"/products/*", "shape"}: `"x"`, {"/customForm", "shape"}: `"y"`},
		}, {
			name: "no object where one is documented", record: `"payment":"pix","addedBy":["Ana"],"company":false`,
			extra: `{"/payment":"pix","/addedBy":["Ana"],"/company":false}`,
			drift: drift{{"/payment", "shape"}: `"pix"`, {"/addedBy", "shape"}: `["Ana"]`, {"/company", "shape"}: `false`},
		}, {
			name:   "unknown fields, whole, at the highest path",
			record: `"profitMargin":0.180,"payment":{"condition":{"_id":"x"},"a/b~c":{"d":{}}},"e":null,"f":[],"\u00e9":{ }`,
			rows:   rows{"request_payments[]": {}},
			extra:  `{"/profitMargin":0.180,"/payment/condition/_id":"x","/payment/a~1b~0c":{"d":{}},"/e":null,"/f":[],"/é":{ }}`,
			drift: drift{
				{"/profitMargin", "unknown"}: `0.180`, {"/payment/condition/_id", "unknown"}: `"x"`, {"/payment/a~1b~0c", "unknown"}: `{"d":{}}`,
				{"/e", "unknown"}: `null`, {"/f", "unknown"}: `[]`, {"/é", "unknown"}: `{ }`,
			},
		}, {
			name: "names are told apart by case", record: `"Name":"x"`,
			extra: `{"/Name":"x"}`,
			drift: drift{{"/Name", "unknown"}: `"x"`},
		}, {
			name: "text of any kind", record: `"notes":"<p>\u00e9 \ud83d\ude00 \u0000 \" \\ \/</p>"`,
			rows: rows{id: cells{"notes": "<p>é 😀 \x00 \" \\ /</p>"}},
		}, {
			name: "missing type of equipment", root: schema.Equipments, record: `"name":"x"`,
			rows: rows{code: cells{"name": "x", "type": ""}},
		}, {
			name: "type of equipment that is no text", root: schema.Equipments, record: `"type":{}`,
			rows:  rows{code: cells{"type": ""}},
			extra: `{"/type":{}}`,
			drift: drift{{"/type", "type"}: `{}`},
		}, {
			name: "lists of numbers", root: schema.Equipments,
			record: `"type":"inverter","inverterSpecifications":{"stringsPerMPPT":[2,null,"3"],"maximumCurrent":[],"vendorSpecifications":{"compatibleInverters":7,"minimumStringLength":["x"],"maximumStringLength":{}}},"stringBoxSpecifications":{"inputAmount":[1]}`,
			rows: rows{
				code: cells{"type": "inverter"}, "inverter_specifications[]": {}, "string_box_specifications[]": {},
				"equipment_specification_values[strings_per_mppt 1]":                            cells{"value": 2.0},
				"equipment_specification_values[strings_per_mppt 2]":                            {},
				"equipment_specification_values[strings_per_mppt 3]":                            cells{"value": 3.0},
				"equipment_specification_values[vendor_specifications.compatible_inverters 1]":  cells{"value": 7.0},
				"equipment_specification_values[vendor_specifications.minimum_string_length 1]": {},
				"equipment_specification_values[input_amount 1]":                                cells{"value": 1.0},
			},
			extra: `{"/inverterSpecifications/vendorSpecifications/minimumStringLength/0":"x","/inverterSpecifications/vendorSpecifications/maximumStringLength":{}}`,
			drift: drift{
				{"/inverterSpecifications/stringsPerMPPT/*", "type"}:                           `"3"`,
				{"/inverterSpecifications/vendorSpecifications/compatibleInverters", "shape"}:  `7`,
				{"/inverterSpecifications/vendorSpecifications/minimumStringLength/*", "type"}: `"x"`,
				{"/inverterSpecifications/vendorSpecifications/maximumStringLength", "shape"}:  `{}`,
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root, key, want := schema.Requests, cells{"id": "k"}, rows{}
			if tt.root != nil {
				root, key = tt.root, cells{"product_code": "k"}
			}
			raw := `{"` + root.Column(root.Unique[1]).Path[1:] + `":"k",` + tt.record + `}`
			b, err := flattenOne(root, []byte(raw))
			if err != nil {
				t.Fatal(err)
			}
			want[root.Name+"[]"] = key
			for addr, row := range tt.rows {
				if want[addr] == nil {
					want[addr] = cells{}
				}
				for column, v := range row {
					want[addr][column] = v
				}
			}
			if diff := cmp.Diff(map[string]map[string]any(want), rowsOf(t, b.Rows, 7)); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
			extra, _ := rootValue(b, "extra").(string)
			if diff := cmp.Diff(tt.extra, extra); diff != "" {
				t.Errorf("extra (-want +got):\n%s", diff)
			}
			got := drift{}
			for d, seen := range b.Drift {
				got[d] = seen.Example
			}
			if tt.drift == nil {
				tt.drift = drift{}
			}
			if diff := cmp.Diff(tt.drift, got); diff != "" {
				t.Errorf("drift (-want +got):\n%s", diff)
			}
			checkRebuild(t, root, []byte(raw), b.Rows)
		})
	}
}

func TestRejects(t *testing.T) {
	t.Parallel()
	deep := func(levels int) string { return strings.Repeat(`{"a":`, levels) + "1" + strings.Repeat("}", levels) }
	tests := []struct {
		name, raw       string
		equipment       bool
		reason, pointer string
		keyed           bool // Key does not read so far
	}{
		{name: "null", raw: `null`, reason: "not an object but null"},
		{name: "array", raw: `[{"id":"1"}]`, reason: "not an object but an array"},
		{name: "string", raw: `"x"`, reason: "not an object but a string"},
		{name: "number", raw: `1`, reason: "not an object but a number"},
		{name: "boolean", raw: `true`, reason: "not an object but a boolean"},
		{name: "nothing", raw: ``, reason: "not valid JSON"},
		{name: "white space", raw: " \n", reason: "not valid JSON"},
		{name: "no id", raw: `{"name":"x"}`, reason: "no usable id", pointer: "/id"},
		{name: "null id", raw: `{"id":null}`, reason: "no usable id", pointer: "/id"},
		{name: "empty id", raw: `{"id":""}`, reason: "no usable id", pointer: "/id"},
		{name: "id is an object", raw: `{"id":{"$oid":"1"}}`, reason: "no usable id", pointer: "/id"},
		{name: "id in other case", raw: `{"ID":"1"}`, reason: "no usable id", pointer: "/id"},
		{name: "no product code", raw: `{"type":"module"}`, equipment: true, reason: "no usable productCode", pointer: "/productCode"},
		{name: "null product code", raw: `{"type":"module","productCode":null}`, equipment: true, reason: "no usable productCode", pointer: "/productCode"},
		{name: "name twice", raw: `{"id":"1","id":"2"}`, reason: "a name twice", pointer: "/id", keyed: true},
		{name: "unknown name twice", raw: `{"id":"1","x":1,"x":1}`, reason: "a name twice", pointer: "/x", keyed: true},
		{name: "name twice, once escaped", raw: `{"id":"1","name":1,"n\u0061me":1}`, reason: "a name twice", pointer: "/name", keyed: true},
		{name: "name twice in an element", raw: `{"id":"1","products":[{},{"name":1,"name":2}]}`, reason: "a name twice", pointer: "/products/1/name", keyed: true},
		{name: "name twice in an unknown value", raw: `{"id":"1","x":[{"a/b":{"y":1,"y":2}}]}`, reason: "a name twice", pointer: "/x/0/a~1b/y", keyed: true},
		{name: "invalid UTF-8 in a text", raw: "{\"id\":\"1\",\"name\":\"a\xffb\"}", reason: "invalid UTF-8", pointer: "/name", keyed: true},
		{name: "invalid UTF-8 in an unknown value", raw: "{\"id\":\"1\",\"x\":{\"y\":\"\xc3\x28\"}}", reason: "invalid UTF-8", pointer: "/x/y", keyed: true},
		{name: "invalid UTF-8 in a name", raw: "{\"id\":\"1\",\"\xff\":1}", reason: "invalid UTF-8", keyed: true},
		{name: "invalid UTF-8 in the id", raw: "{\"id\":\"\xff\"}", reason: "invalid UTF-8", pointer: "/id"},
		{name: "lone surrogate", raw: `{"id":"1","name":"\ud800"}`, reason: "invalid UTF-8", pointer: "/name", keyed: true},
		{name: "lone surrogate in the id", raw: `{"id":"\udc00"}`, reason: "invalid UTF-8", pointer: "/id"},
		{name: "second value", raw: `{"id":"1"}{"id":"2"}`, reason: "more than one value", keyed: true},
		{name: "trailing garbage", raw: `{"id":"1"}x`, reason: "not valid JSON", keyed: true},
		{name: "cut short", raw: `{"id":"1","name":"x`, reason: "not valid JSON", pointer: "/name", keyed: true},
		{name: "cut before the key", raw: `{"name":"x","i`, reason: "not valid JSON"},
		{name: "no JSON number", raw: `{"id":"1","finalValue":NaN}`, reason: "not valid JSON", pointer: "/finalValue", keyed: true},
		{name: "comma at the end", raw: `{"id":"1",}`, reason: "not valid JSON", keyed: true},
		{name: "brackets crossed", raw: `{"id":"1","products":[}]`, reason: "not valid JSON", keyed: true},
		{name: "name without value", raw: `{"id":"1","name"}`, reason: "not valid JSON", keyed: true},
		{name: "name that is no string", raw: `{"id":"1",2:3}`, reason: "not valid JSON", keyed: true},
		{name: "too deep", raw: `{"id":"1","x":` + deep(1000) + `}`, reason: "the record is nested deeper than 1000 levels", keyed: true},
		{name: "deeper than the decoder follows", raw: `{"id":"1","x":` + deep(10_000) + `}`, reason: "the record is nested deeper than 1000 levels", keyed: true},
		{name: "so deep before its key", raw: `{"x":` + deep(10_000) + `,"id":"1"}`, reason: "the record is nested deeper than 1000 levels"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root := schema.Requests
			if tt.equipment {
				root = schema.Equipments
			}
			b, err := flattenOne(root, []byte(tt.raw))
			checkReject(t, "Flatten", err, tt.reason, tt.pointer)
			if b.Rows[0].Len() != 0 || len(b.Drift) != 0 {
				t.Errorf("a refused record left rows or drift: %v %v", b.Rows[0], b.Drift)
			}
			key, err := flatten.Compile(root).Key([]byte(tt.raw), partition(root))
			if tt.keyed {
				if want := [2]string{"order", "1"}; err != nil || key != want {
					t.Errorf("Key = %q, %v; want %q", key, err, want)
				}
				return
			}
			checkReject(t, "Key", err, tt.reason, tt.pointer)
		})
	}
}

func checkReject(t *testing.T, what string, err error, reason, pointer string) {
	t.Helper()
	var r *flatten.Reject
	if !errors.As(err, &r) {
		t.Fatalf("%s: %v, not a Reject", what, err)
	}
	if !strings.Contains(r.Reason, reason) {
		t.Errorf("%s: reason %q does not say %q", what, r.Reason, reason)
	}
	if pointer != "" && r.Pointer != pointer {
		t.Errorf("%s: pointer %q, want %q", what, r.Pointer, pointer)
	}
}

func TestKey(t *testing.T) {
	t.Parallel()
	tests := []struct {
		root *schema.Table
		raw  string
		want [2]string
	}{
		{schema.Requests, `{"id":"a"}`, [2]string{"order", "a"}},
		{schema.Requests, ` { "x":{"id":"no"}, "id" : 123 }`, [2]string{"order", "123"}},
		{schema.Requests, `{"\u0069d":"\u00e9\n"}`, [2]string{"order", "é\n"}},
		{schema.Requests, `{"id":"a","cut`, [2]string{"order", "a"}},
		{schema.Equipments, `{"productCode":"P","type":"module"}`, [2]string{"module", "P"}},
		{schema.Equipments, `{"type":null,"productCode":"P"}`, [2]string{"", "P"}},
		{schema.Equipments, `{"type":[],"productCode":"P"}`, [2]string{"", "P"}},
		{schema.Equipments, `{"productCode":"P"}`, [2]string{"", "P"}},
		{schema.Equipments, `{"type":"a","type":"b","productCode":"P"}`, [2]string{"a", "P"}},
	}
	for _, tt := range tests {
		got, err := flatten.Compile(tt.root).Key([]byte(tt.raw), partition(tt.root))
		if err != nil || got != tt.want {
			t.Errorf("Key(%s) = %q, %v; want %q", tt.raw, got, err, tt.want)
		}
	}
}

// The bookkeeping columns of a root row.
func TestRootRow(t *testing.T) {
	t.Parallel()
	raw := []byte(`{"id":"1"}`)
	b, err := flattenOne(schema.Requests, raw)
	if err != nil {
		t.Fatal(err)
	}
	canonical, _ := flatten.Canonical(raw)
	for column, want := range map[string]any{
		"request_key": int64(7), "request_type": "order", "id": "1", "extra": nil, "_hash": flatten.HashBytes(flatten.RawHash(raw), canonical),
		"_first_seen_at": pageTime, "_changed_at": pageTime, "_deleted_at": nil,
	} {
		if diff := cmp.Diff(want, rootValue(b, column)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", column, diff)
		}
	}
}

func TestHashBytes(t *testing.T) {
	t.Parallel()
	want := []byte{1, 2, 3, 4, 5, 6, 7, 8, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8}
	if got := flatten.HashBytes(0x0102030405060708, 0xa1a2a3a4a5a6a7a8); !bytes.Equal(got, want) {
		t.Errorf("HashBytes = %x, want %x", got, want)
	}
}

// A batch that is used again holds nothing of before.
func TestBatchReset(t *testing.T) {
	t.Parallel()
	plan := flatten.Compile(schema.Requests)
	b := plan.NewBatch()
	f := plan.NewFlattener(b)
	raw := []byte(`{"id":"1","files":["a"],"x":1}`)
	for range 2 {
		if err := f.Flatten(newRecord(schema.Requests, 7, raw)); err != nil {
			t.Fatal(err)
		}
		alone, err := flattenOne(schema.Requests, raw)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(snapshot(alone), snapshot(b)); diff != "" {
			t.Errorf("batch (-new +reset):\n%s", diff)
		}
		b.Reset()
	}
}

// Streams share a plan; under -race this sees what they would do to each other.
func TestPlanIsShared(t *testing.T) {
	t.Parallel()
	plan := flatten.Compile(schema.Requests)
	raw := readSample(t, samples[schema.Requests])
	want, err := flattenOne(schema.Requests, raw)
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		t.Run("stream", func(t *testing.T) {
			t.Parallel()
			for range 20 {
				if key, err := plan.Key(raw, "order"); err != nil || key[1] != rootValue(want, "id") {
					t.Fatalf("Key = %q, %v", key, err)
				}
				b := plan.NewBatch()
				if err := plan.NewFlattener(b).Flatten(newRecord(schema.Requests, 7, raw)); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(snapshot(want), snapshot(b)); diff != "" {
					t.Fatalf("batch (-alone +beside others):\n%s", diff)
				}
			}
		})
	}
}

// An example of drift is short, and cut between characters.
func TestDriftExample(t *testing.T) {
	t.Parallel()
	b, err := flattenOne(schema.Requests, []byte(`{"id":"1","x":"`+strings.Repeat("é", 300)+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	got := b.Drift[flatten.Drift{Path: "/x", Kind: "unknown"}]
	if want := (flatten.Seen{Occurrences: 1, Example: `"` + strings.Repeat("é", 99)}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// The records used for measuring are documented but for the fields real servers add.
func TestSampleRecords(t *testing.T) {
	t.Parallel()
	for root, file := range samples {
		raw := readSample(t, file)
		b, err := flattenOne(root, raw)
		if err != nil {
			t.Fatal(err)
		}
		checkRebuild(t, root, raw, b.Rows)
		for d := range b.Drift {
			if d.Kind != "unknown" {
				t.Errorf("%s: %v", file, d)
			}
		}
	}
}

var samples = map[*schema.Table]string{schema.Requests: "testdata/request.json", schema.Equipments: "testdata/inverter.json"}

func readSample(t testing.TB, file string) []byte {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		t.Fatal(err)
	}
	return compact.Bytes()
}
