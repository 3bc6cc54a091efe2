package pullreport

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"solarmirror/store"
	"solarmirror/sync/pull"
)

// One difference is not "1 differences".
func TestOneDifference(t *testing.T) {
	t.Parallel()
	list := []pull.Verification{{Stream: "orders", Differences: []pull.Difference{
		{Stream: "orders", Kind: pull.DiffContent, State: store.Pending},
		{Stream: "orders", Kind: pull.DiffContent, State: store.Unexplained},
	}}}
	var out bytes.Buffer
	if err := PrintVerification(&out, list, false); err != nil || !strings.Contains(out.String(), "\n1 difference is pending: ") {
		t.Errorf("%v, %s", err, out.String())
	}
	if err := Discrepancy(list); err == nil || !strings.HasPrefix(err.Error(), "1 unexplained difference; ") {
		t.Error(err)
	}
}

// A stream that could not be compared has no counts, not counts of 0.
func TestCountsOfFailedStream(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	list := []pull.Verification{{Stream: "orders", Mirror: 0, Err: errors.New("no answer")}, {Stream: "budgets"}}
	if err := PrintVerification(&out, list, true); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"stream":"orders","platform":null,"mirror":null,"rejected":null,"erased":null,"differences":[],"error":"no answer"}`,
		`{"stream":"budgets","platform":0,"mirror":0,"rejected":0,"erased":0,"differences":[]}`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s lacks %s", out.String(), want)
		}
	}
}
