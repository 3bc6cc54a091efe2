package flatten_test

import (
	"strings"
	"testing"

	"solarmirror/sync/flatten"
)

func TestCanonicalExamples(t *testing.T) {
	t.Parallel()
	same := [][]string{
		{`{"a":1,"b":[true,null]}`, ` { "b" : [ true , null ] , "a" : 1 } `},
		{`{"é":"é/"}`, `{"\u00e9":"\u00E9\/"}`},
		{`"😀"`, `"\ud83d\ude00"`},
		{`""`, ` ""`},
	}
	different := []string{
		`null`, `true`, `1`, `1.0`, `"1"`, `[1]`, `[[1]]`, `{"1":1}`, `[]`, `{}`, `[{}]`, `[[]]`, `""`, `[null]`, `{"":null}`, `[1,2]`, `[2,1]`, `[12]`,
		`{"a":1,"b":2}`, `{"a":2,"b":1}`, `{"a":{"b":1},"c":{"d":2}}`, `{"a":{"d":2},"c":{"b":1}}`, `{"a":[1,1]}`, `{"a":[1]}`,
	}
	for _, ways := range same {
		if a, b := canonical(t, ways[0]), canonical(t, ways[1]); a != b {
			t.Errorf("%s and %s: %x and %x", ways[0], ways[1], a, b)
		}
	}
	seen := map[uint64]string{}
	for _, raw := range different {
		h := canonical(t, raw)
		if before, again := seen[h]; again {
			t.Errorf("%s and %s have the same hash", before, raw)
		}
		seen[h] = raw
	}
}

func canonical(t *testing.T, raw string) uint64 {
	t.Helper()
	h, ok := flatten.Canonical([]byte(raw))
	if !ok {
		t.Errorf("cannot follow %s", raw)
	}
	return h
}

func TestCanonicalCannotFollow(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		``, ` `, `{`, `[`, `"`, `"\`, `"\"`, `"\u00`, `"\x"`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{1:2}`, `{"a" 1}`, `[1`, `[1,`, `[1 2]`, `[,]`, `1 2`, `{}}`, `]`, `,`,
		strings.Repeat("[", 1001) + strings.Repeat("]", 1001), strings.Repeat(`{"a":`, 1001) + "1" + strings.Repeat("}", 1001), strings.Repeat("[", 1_000_000),
	} {
		if h, ok := flatten.Canonical([]byte(raw)); ok {
			t.Errorf("Canonical(%.40q) = %x", raw, h)
		}
	}
}
