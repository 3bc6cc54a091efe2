package platform

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEnvelopes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		body string
		kind string
		rows int
	}{
		{`[]`, EnvelopeArray, 0},
		{" [ 1 , \"a\",null,{\"a\":[]} ]\r\n\t", EnvelopeArray, 4},
		{`{"data":[]}`, EnvelopeData, 0},
		{`{"data":[{},{}],"totalItems":2}`, EnvelopeData, 2},
		{`{"error":null,"data":[{}],"next":{"data":[1,2,3]}}`, EnvelopeData, 1},
		{`{"d\u0061ta":[{}]}`, EnvelopeData, 1},
		{`{"error":"","data":{"items":[{},{},{}]}}`, EnvelopeItems, 3},
		{`{"data":{"page":1,"items":[{}]},"error":null}`, EnvelopeItems, 1},
		{`{"error":false,"data":{"items":[]}}`, EnvelopeItems, 0},
		{`{"data":[{"error":"mine","data":null,"items":1,"items":2}]}`, EnvelopeData, 1},
	} {
		for _, want := range []string{EnvelopeAuto, EnvelopeArray, EnvelopeData, EnvelopeItems} {
			got, err := parseList([]byte(test.body), want, 50)
			if fits := want == EnvelopeAuto || want == test.kind; !fits {
				var envelope *EnvelopeError
				if !errors.As(err, &envelope) {
					t.Errorf("%s pinned to %s: got %v, want an EnvelopeError", test.body, want, err)
				}
				continue
			}
			if err != nil || len(got.records) != test.rows {
				t.Errorf("%s as %s: %d records, %v; want %d", test.body, want, len(got.records), err, test.rows)
			}
		}
	}
}

func TestNoList(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		body string
		want error
	}{
		{`null`, &BodyError{Reason: "the answer is null, which is no list"}},
		{`{"data":null}`, &BodyError{Reason: `"data" is null, which is no list`}},
		{`{"data":{"items":null}}`, &BodyError{Reason: `"data.items" is null, which is no list`}},
		{``, &BodyError{Reason: "the body is empty"}},
		{"\n ", &BodyError{Reason: "the body is empty"}},
		{`{"data":[1,2`, &BodyError{Reason: "the body was cut off after 12 bytes"}},
		{`{"error":"a","error":"b"}`, &BodyError{Reason: `the answer has the key "error" twice`}},
		{`{"data":[],"d\u0061ta":[1]}`, &BodyError{Reason: `the answer has the key "data" twice`}},
		{`{"data":{"items":[],"items":[]}}`, &BodyError{Reason: `the answer has the key "data.items" twice`}},
		{`{"data":[],"totalItems":1,"totalItems":2}`, &BodyError{Reason: `the answer has the key "totalItems" twice`}},
		{`{"error":"broken","data":null}`, &RefusedError{Message: "broken"}},
		{`{"data":[{}],"error":"br\u006fken"}`, &RefusedError{Message: "broken"}},
		{`{"data":[],"error":{"code":7}}`, &RefusedError{Message: `{"code":7}`}},
		{`{"data":[],"error":true}`, &RefusedError{Message: `true`}},
		{`"soon"`, &EnvelopeError{Want: "auto", Saw: "a string"}},
		{`true`, &EnvelopeError{Want: "auto", Saw: "a boolean"}},
		{`-12`, &EnvelopeError{Want: "auto", Saw: "a number"}},
		{`{}`, &EnvelopeError{Want: "auto", Saw: "an object"}},
		{`{"items":[],"totalItems":0}`, &EnvelopeError{Want: "auto", Saw: "an object", Keys: []string{`"items"`, `"totalItems"`}}},
		{`{"data":{"rows":[]},"error":null}`, &EnvelopeError{Want: "auto", Saw: "an object", Keys: []string{`"data"`, `"data.rows"`, `"error"`}}},
		{`{"data":"none"}`, &EnvelopeError{Want: "auto", Saw: "an object", Keys: []string{`"data"`}}},
	} {
		_, err := parseList([]byte(test.body), EnvelopeAuto, 50)
		if diff := cmp.Diff(test.want, err); diff != "" {
			t.Errorf("%s: %s", test.body, diff)
		}
	}
}

func TestForeignKeysAreShownShortened(t *testing.T) {
	t.Parallel()
	var body strings.Builder
	body.WriteString(`{"` + strings.Repeat("k", 1000) + `":1,"a\u0000b":2`)
	for range 100 {
		body.WriteString(`,"other":3`)
	}
	body.WriteString("}")
	_, err := parseList([]byte(body.String()), EnvelopeAuto, 50)
	var envelope *EnvelopeError
	if !errors.As(err, &envelope) {
		t.Fatal(err)
	}
	if len(envelope.Keys) != maxKeys || len(envelope.Keys[0]) > maxKeyBytes+10 || envelope.Keys[1] != `"a\x00b"` {
		t.Errorf("keys are %v", envelope.Keys)
	}
}

func TestTotals(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		body  string
		total int
		has   bool
		note  string
	}{
		{`{"data":[]}`, 0, false, ""},
		{`{"data":[],"totalItems":null}`, 0, false, ""},
		{`{"data":[],"totalItems":0}`, 0, true, ""},
		{`{"totalItems":12,"data":[]}`, 12, true, ""},
		{`{"data":[],"totalItems":"12"}`, 12, true, ""},
		{`{"data":[],"totalItems":-1}`, 0, false, "totalItems is no count: -1"},
		{`{"data":[],"totalItems":1.5}`, 0, false, "totalItems is no count: 1.5"},
		{`{"data":[],"totalItems":1e3}`, 0, false, "totalItems is no count: 1e3"},
		{`{"data":[],"totalItems":"many"}`, 0, false, `totalItems is no count: "many"`},
		{`{"data":[],"totalItems":"+1"}`, 0, false, `totalItems is no count: "+1"`},
		{`{"data":[],"totalItems":""}`, 0, false, `totalItems is no count: ""`},
		{`{"data":[],"totalItems":[3]}`, 0, false, "totalItems is no count: [3]"},
		{`{"data":[],"totalItems":99999999999999999999}`, 0, false, "totalItems is no count: 99999999999999999999"},
		{`{"data":{"items":[],"totalItems":3}}`, 3, true, ""},
		{`{"data":{"items":[]},"totalItems":4}`, 4, true, ""},
		{`{"totalItems":4,"data":{"items":[],"totalItems":3}}`, 3, true, ""},
	} {
		got, err := parseList([]byte(test.body), EnvelopeAuto, 50)
		if err != nil || got.total != test.total || got.hasTotal != test.has || got.note != test.note {
			t.Errorf("%s: got %d, %v, %q, %v; want %d, %v, %q", test.body, got.total, got.hasTotal, got.note, err, test.total, test.has, test.note)
		}
	}
}

// slowMembers returns the members of a JSON object in order, by encoding/json; nil for anything else.
func slowMembers(text []byte) (keys []string, values []json.RawMessage) {
	d := json.NewDecoder(bytes.NewReader(text))
	if open, _ := d.Token(); open != json.Delim('{') {
		return nil, nil
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			panic(err)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			panic(err)
		}
		keys, values = append(keys, key.(string)), append(values, bytes.TrimSpace(value))
	}
	return keys, values
}

// slowVerdict is parseList again, written the plain way for valid JSON: what becomes of it, and the records' texts.
func slowVerdict(text []byte) (verdict any, records []string) {
	elements := func(list []byte) (texts []string) {
		var raw []json.RawMessage
		if err := json.Unmarshal(list, &raw); err != nil {
			panic(err)
		}
		for _, r := range raw {
			texts = append(texts, string(r))
		}
		return texts
	}
	text = bytes.TrimSpace(text)
	if text[0] == '[' {
		return nil, elements(text)
	}
	if string(text) == "null" {
		return &BodyError{}, nil
	}
	top := map[string][]byte{}
	data := map[string][]byte{}
	twice := false
	take := func(into map[string][]byte, text []byte, known ...string) {
		keys, values := slowMembers(text)
		for i, key := range keys {
			for _, k := range known {
				if key == k {
					twice = twice || into[key] != nil
					into[key] = values[i]
				}
			}
		}
	}
	take(top, text, "data", "error", "totalItems")
	if d := top["data"]; len(d) > 0 && d[0] == '{' {
		take(data, d, "items", "totalItems")
	}
	list := top["data"]
	if items := data["items"]; items != nil {
		list = items
	}
	switch {
	case twice:
		return &BodyError{}, nil
	case isSet(top["error"]):
		return &RefusedError{}, nil
	case string(list) == "null":
		return &BodyError{}, nil
	case len(list) == 0 || list[0] != '[':
		return &EnvelopeError{}, nil
	}
	return nil, elements(list)
}

func FuzzEnvelope(f *testing.F) {
	for _, seed := range []string{
		twoRows, `null`, `"x"`, `12`, `{"data":[{"a":1},2],"totalItems":2}`,
		`{"error":null,"data":{"items":[{"a":"\u00e9"}],"totalItems":"1"}}`, `{"error":"no","data":[]}`,
		`{"data":null}`, `{"data":{"items":null}}`, `{"data":[],"d\u0061ta":[1]}`, `{"data":{},"data":{"items":[]}}`,
		`{"Data":[],"ERROR":1}`, "{\"da\xffta\":[1],\"data\":[\"\xff\",\"\\ud800\",{\"a\":1,\"a\":2}]}",
		`{"error":{},"data":[ 1 , [ ] ]}`, `{"data":{"items":7,"items":[]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := parseList(text, EnvelopeAuto, 50)
		if !json.Valid(text) {
			var fault *BodyError
			if !errors.As(err, &fault) {
				t.Fatalf("%q is not JSON but gave %v, %v", text, got, err)
			}
			return
		}
		want, records := slowVerdict(text)
		if reflect.TypeOf(err) != reflect.TypeOf(want) {
			t.Fatalf("%q: got %T (%v), want %T", text, err, err, want)
		}
		compareRecords(t, text, got.records, records)
	})
}

func compareRecords(t *testing.T, text []byte, got [][]byte, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%q: %d records, want %d", text, len(got), len(want))
	}
	for i := range got {
		if string(got[i]) != want[i] {
			t.Fatalf("%q: record %d is %q, want %q", text, i, got[i], want[i])
		}
	}
}
