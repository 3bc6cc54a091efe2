package flatten_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"solarmirror/schema"
	"solarmirror/sync/flatten"
)

// seeds are records of both kinds, sound and not.
var seeds = []string{
	`{"id":"1"}`,
	`{"id":1,"finalValue":"12.50","discount":9007199254740993,"surcharge":1e400,"profitMargin":0.18}`,
	`{"id":"1","structure":{"kind":"Solo","arrangements":{"linesAmount":2},"7":1}}`,
	`{"id":"1","files":["a",{"uploadedFiles":"b"},null,{"uploadedFiles":[1,null,{}]}],"payment":{"files":{}}}`,
	`{"id":"1","budgetCreated":"2026-03-02T23:30:00.1234-03:00","payment":{"paidAt":"2026-03-10T09:27"},"billingDate":"2026-02-29"}`,
	`{"id":"1","notes":"\ud83d\ude00\u0000","a~b/c":null,"\u0061":{}}`,
	`{"productCode":"P","type":null,"isToSell":"true","inverterSpecifications":{"maximumCurrent":[1,"2",null],"stringsPerMPPT":3}}`,
	`{"id":"1","x":1,"x":2}`, `[]`, `null`, `{"id":"1"} x`, "{\"id\":\"\xff\"}", `{"id":"\ud800"}`,
}

func seedRecords(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	for _, file := range samples {
		f.Add(readSample(f, file))
	}
}

// Whatever the flattener accepts, encoding/json accepts, Key has keyed alike, Canonical follows, and nothing is lost.
func FuzzFlatten(f *testing.F) {
	seedRecords(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, root := range schema.Roots() {
			key, keyErr := flatten.Compile(root).Key(raw, partition(root))
			b, err := flattenOne(root, raw)
			if err != nil {
				if b.Rows[0].Len() != 0 {
					t.Errorf("refused (%v), but rows are left", err)
				}
				continue
			}
			if found := [2]string{rootValue(b, root.Unique[0]).(string), rootValue(b, root.Unique[1]).(string)}; keyErr != nil || key != found {
				t.Errorf("Key = %q, %v; flattened %q", key, keyErr, found)
			}
			checkRebuild(t, root, raw, b.Rows)
		}
	})
}

// Canonical never panics, follows all that is valid, and does not mind white space or how it is written.
func FuzzCanonical(f *testing.F) {
	seedRecords(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		h, ok := flatten.Canonical(raw)
		var indented bytes.Buffer
		if json.Indent(&indented, raw, " ", "\t") != nil {
			return
		}
		again, okAgain := flatten.Canonical(indented.Bytes())
		if ok != okAgain || h != again {
			t.Errorf("Canonical = %x, %v; with white space %x, %v", h, ok, again, okAgain)
		}
		if _, err := flattenOne(schema.Requests, raw); err == nil && !ok {
			t.Error("cannot follow what the flattener accepts")
		}
	})
}
