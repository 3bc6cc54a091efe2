package flatten_test

import (
	"strings"
	"testing"

	"solarmirror/schema"
	"solarmirror/sync/flatten"
)

// rowOf makes a row of the named columns, the others NULL.
func rowOf(t *schema.Table, values cells) schema.Rows {
	r := schema.Rows{Table: t, Values: make([]any, len(t.Columns))}
	for i, c := range t.Columns {
		r.Values[i] = values[c.Name]
	}
	return r
}

func TestRebuildExamples(t *testing.T) {
	t.Parallel()
	request := func(extra any) schema.Rows {
		return rowOf(schema.Requests, cells{"request_key": int64(7), "request_type": "order", "id": "1", "extra": extra})
	}
	equipment := rowOf(schema.Equipments, cells{"equipment_key": int64(7), "type": "", "product_code": "P"})
	child := func(name string, values cells) schema.Rows { return rowOf(schema.Find(name), values) }
	tests := []struct {
		name string
		rows []schema.Rows
		want string // or a part of the error
	}{
		{"only the key", []schema.Rows{request(nil)}, `{"id":"1"}`},
		{"no type of equipment", []schema.Rows{equipment}, `{"productCode":"P"}`},
		{"an object of NULLs", []schema.Rows{request(nil), child("request_payments", cells{"request_key": int64(7)})}, `{"id":"1","payment":{}}`},
		{"local times", []schema.Rows{request(nil), child("request_payments", cells{"paid_at": "2026-03-10 09:27:00.000"})}, `{"id":"1","payment":{"paidAt":"2026-03-10T09:27"}}`},
		{"local times with seconds", []schema.Rows{request(nil), child("request_payments", cells{"paid_at": "2026-03-10 09:27:01.500"})}, `{"id":"1","payment":{"paidAt":"2026-03-10T09:27:01.500"}}`},
		{"children before their root", []schema.Rows{child("request_payments", cells{"request_key": int64(7), "type": "pix"}), request(nil)}, `{"id":"1","payment":{"type":"pix"}}`},
		{"extra has it as it was written", []schema.Rows{request(`{"/payment/condition/value":1.00000000000000000001}`), child("request_payments", cells{"condition_value": 1.0})}, `{"id":"1","payment":{"condition":{"value":1.00000000000000000001}}}`},
		{"an array only extra knows", []schema.Rows{request(`{"/products/0":null,"/products/1":"x"}`)}, `{"id":"1","products":[null,"x"]}`},
		{"a gap filled from extra", []schema.Rows{request(`{"/customForm/0":7}`), child("request_custom_form", cells{"position": int64(2), "question": "q"})}, `{"customForm":[7,{"question":"q"}],"id":"1"}`},
		{"an object in place of an array", []schema.Rows{request(`{"/structure/arrangements/x":1,"/structure/0/5":2}`), child("request_structures", cells{"position": int64(1)})}, `{"id":"1","structure":[{"5":2,"arrangements":[{"x":1}]}]}`},
		{"odd names", []schema.Rows{request(`{"/a~1b~0c":1,"/":2,"/~01":3}`)}, `{"":2,"a/b~c":1,"id":"1","~1":3}`},

		{"no root", []schema.Rows{child("request_payments", cells{})}, "no root table"},
		{"two records", []schema.Rows{{Table: schema.Requests, Values: append(request(nil).Values, request(nil).Values...)}}, "2 rows of requests in place of one"},
		{"no record", []schema.Rows{{Table: schema.Requests}}, "0 rows of requests in place of one"},
		{"orphans", []schema.Rows{request(nil), child("request_arrangements", cells{"structure_position": int64(1), "position": int64(1)})}, "1 rows belong to no other row"},
		{"a gap", []schema.Rows{request(nil), child("request_custom_form", cells{"position": int64(2)})}, "has no element 0"},
		{"position 0", []schema.Rows{request(nil), child("request_custom_form", cells{"position": int64(0)})}, "request_custom_form has the position 0"},
		{"unknown list", []schema.Rows{equipment, child("equipment_specification_values", cells{"name": "x", "position": int64(1)})}, "no values named x"},
		{"a boolean of 2", []schema.Rows{rowOf(schema.Requests, cells{"id": "1", "removed": int64(2)})}, "requests.removed: 2 (int64) is no BOOLEAN"},
		{"a date for a timestamp", []schema.Rows{rowOf(schema.Requests, cells{"id": "1", "budget_created": "2026-01-05"})}, "requests.budget_created: 2026-01-05 (string) is no TIMESTAMP"},
		{"extra is no JSON", []schema.Rows{request(`{"/a":`)}, "extra: "},
		{"extra is no object", []schema.Rows{request(`[1]`)}, "extra: not an object but an array"},
		{"extra is two", []schema.Rows{request(`{}{}`)}, "extra: more than one value"},
		{"extra is a number", []schema.Rows{request(1.5)}, "extra is a float64"},
		{"extra without a pointer", []schema.Rows{request(`{"a":1}`)}, `"a" is no pointer`},
		{"extra inside a value", []schema.Rows{request(`{"/id/x":1}`)}, `/id/x: "id" has a value of its own as well as parts`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := flatten.Rebuild(tt.rows)
			if err != nil {
				if strings.HasPrefix(tt.want, "{") || !strings.Contains(err.Error(), tt.want) {
					t.Fatalf("error %q, want %s", err, tt.want)
				}
				return
			}
			if string(got) != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}
