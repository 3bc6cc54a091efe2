package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestSplitList(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":            {},
		"a":           {"a"},
		" a , b c ":   {"a", "b c"},
		",":           {"", ""},
		`a\,b,c`:      {"a,b", "c"},
		`a\\,b`:       {`a\`, "b"},
		`a\b,\`:       {`a\b`, `\`},
		`a\\\,b, ção`: {`a\,b`, "ção"},
	} {
		if d := cmp.Diff(want, splitList(text)); d != "" {
			t.Errorf("%q: %s", text, d)
		}
	}
}

func TestListsSurviveAsText(t *testing.T) {
	t.Parallel()
	item := rapid.StringMatching(`[a,\\é]([a,\\ é!]*[a,\\é])?`)
	rapid.Check(t, func(rt *rapid.T) {
		list := rapid.SliceOf(item).Draw(rt, "list")
		if d := cmp.Diff(list, splitList(joinList(list))); d != "" {
			rt.Fatal(d)
		}
	})
}
