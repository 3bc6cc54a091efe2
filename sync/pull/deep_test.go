package pull

import (
	"fmt"
	"strings"
	"testing"

	"solarmirror/store"
	"solarmirror/store/testsize"
)

// nested is an equipment of that many levels, itself included. Its key stands before or after the
// nested value.
func nested(code string, depth int, keyLast bool) string {
	key := fmt.Sprintf(`"productCode":%q`, code)
	value := `"x":` + strings.Repeat(`{"a":[`, (depth-1)/2) + strings.Repeat("[", (depth-1)%2) + "1" + strings.Repeat("]", (depth-1)%2) + strings.Repeat("]}", (depth-1)/2)
	if keyLast {
		return "{" + value + "," + key + "}"
	}
	return "{" + key + "," + value + "}"
}

// A record that nests too deeply is rejected, and the rest of its page is loaded.
func TestDeepRecords(t *testing.T) {
	t.Parallel()
	list := &fixedList{}
	for i := range 8 {
		list.records = append(list.records, fmt.Sprintf(`{"productCode":"P%d"}`, i))
	}
	list.records = append(list.records, nested("AT-THE-LIMIT", 1000, true))
	bad := 0
	for _, depth := range testsize.Some([]int{1_000_000, 10_000, 10_001, 1001}) {
		for _, keyLast := range []bool{false, true} {
			list.records = append(list.records, nested(fmt.Sprintf("DEEP-%d-%v", depth, keyLast), depth, keyLast))
			bad++
		}
	}
	r := newRigFor(t, list)
	equipments, _ := ParseStreams([]string{"equipments"})
	for range 2 {
		report := r.sync(Options{Streams: equipments, Full: true})
		if n := r.value("SELECT count(*) FROM equipments"); n != int64(9) {
			t.Errorf("%v records are loaded, want 9: %+v", n, report)
		}
		if n := r.value("SELECT count(*) FROM _rejects WHERE reason = 'the record is nested deeper than 1000 levels' AND pointer IS NULL"); n != int64(bad) {
			t.Errorf("%v rejects of that reason, want %d", n, bad)
		}
		if n := r.value("SELECT count(*) FROM _rejects"); n != int64(bad) {
			t.Errorf("%v rejects, want %d", n, bad)
		}
	}
	if valid := r.value("SELECT json_valid(extra) FROM equipments WHERE product_code = 'AT-THE-LIMIT'"); valid != int64(1) {
		t.Error("SQLite cannot read the extra of the deepest record that is accepted")
	}
	if counts := r.replay().Counts; counts.Rejected != int64(bad) || counts.Inserted != 0 {
		t.Errorf("replay: %+v", counts)
	}
	verified, err := r.engine.Verify(t.Context(), equipments)
	if err != nil || verified[0].Err != nil {
		t.Fatal(err, verified[0].Err)
	}
	if v := verified[0]; v.Rejected != bad || v.Platform != 9 || v.Mirror != 9 || len(v.Differences) != 0 {
		t.Errorf("verify: %+v", v)
	}
}

// A loaded record that then nests too deeply keeps its old content, and is not marked as deleted.
func TestRecordBecomesDeep(t *testing.T) {
	t.Parallel()
	list := &fixedList{records: []string{`{"productCode":"A"}`, `{"productCode":"B","name":"before"}`, `{"productCode":"C"}`}}
	r := newRigFor(t, list)
	equipments, _ := ParseStreams([]string{"equipments"})
	r.sync(Options{Streams: equipments})
	list.records[1] = nested("B", 5000, true)
	for range 3 {
		r.sync(Options{Streams: equipments, Full: true})
	}
	if name := r.value("SELECT name FROM equipments WHERE product_code = 'B' AND _deleted_at IS NULL"); name != "before" {
		t.Errorf("the record is %v", name)
	}
	if n := r.value("SELECT count(*) FROM _runs WHERE outcome <> ?", string(store.OK)); n != int64(0) {
		t.Errorf("%v runs failed", n)
	}
}
