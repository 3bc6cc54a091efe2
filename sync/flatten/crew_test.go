package flatten_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"solarmirror/schema"
	"solarmirror/sync/flatten"
)

// A crew leaves what one flattener would, in the same order, and says the same of each record.
func TestCrewIsOneFlattener(t *testing.T) {
	t.Parallel()
	eachRoot(t, func(t *testing.T, root *schema.Table) {
		plan := flatten.Compile(root)
		rapid.Check(t, func(t *rapid.T) {
			alone, together := plan.NewBatch(), plan.NewBatch()
			flattener, crew := plan.NewFlattener(alone), plan.NewCrew(together, rapid.IntRange(1, 4).Draw(t, "hands"))
			for range 2 {
				records := drawRecords(t, root)
				var want []string
				for _, r := range records {
					want = append(want, fmt.Sprint(flattener.Flatten(r)))
				}
				var got []string
				for _, err := range crew.Flatten(records) {
					got = append(got, fmt.Sprint(err))
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("errors (-one +crew):\n%s", diff)
				}
				if diff := cmp.Diff(snapshot(alone), snapshot(together)); diff != "" {
					t.Fatalf("(-one +crew):\n%s", diff)
				}
			}
		})
	})
}

// drawRecords draws up to 40 records, some of them cut short.
func drawRecords(t *rapid.T, root *schema.Table) []flatten.Record {
	var drawn [][]byte
	for range 3 {
		record, _ := drawRecord(t, root, true)
		raw := write(record, 0)
		drawn = append(drawn, raw, raw[:rapid.IntRange(0, len(raw)).Draw(t, "cut")])
	}
	var records []flatten.Record
	for i, n := range rapid.SliceOfN(rapid.IntRange(0, len(drawn)-1), 0, 40).Draw(t, "records") {
		records = append(records, newRecord(root, int64(i), drawn[n]))
	}
	return records
}
