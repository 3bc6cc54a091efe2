package pull

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/testsize"
	"solarmirror/sync/platform/platformtest"
)

// The mirror is what the platform holds, field by field, after the first sync and after those that follow a month of life.
func TestMirrorEqualsTruth(t *testing.T) {
	for seed := uint64(1); seed <= uint64(testsize.Fewer(20)); seed++ {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, platformtest.Options{Seed: seed, Requests: testsize.Fewer(50), Equipments: fewItems()})
			r.sync(Options{})
			r.mustEqualTruth()

			r.clock.advance(30 * 24 * time.Hour)
			r.sync(Options{})
			r.sync(Options{Full: true})
			r.mustHoldTruth()
		})
	}
}

// mustHoldTruth checks that everything the platform holds is in the mirror as it is now; records that have left a list
// stay in the mirror as they were last seen.
func (r *rig) mustHoldTruth() {
	r.t.Helper()
	for _, root := range schema.Roots() {
		mirror := r.records(root)
		for key, want := range r.truth(root) {
			if diff := diff(want, mirror[key]); diff != "" {
				r.t.Fatalf("%s %v differs (-platform +mirror):\n%s", root.Name, key, diff)
			}
		}
	}
}

// A second sync of unchanged data touches no row of a record: triggers on every table see nothing, whatever the API reports.
func TestSecondSyncTouchesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, platformtest.Options{Seed: 3, Requests: 200, Equipments: fewItems()})
	first := r.sync(Options{})
	count := r.watchWrites()
	second := r.sync(Options{Full: true})
	if n := count(); n != 0 {
		t.Errorf("%d rows were touched", n)
	}
	want, got := first.Total(), second.Total()
	if got.Unchanged != want.Inserted || got.Inserted+got.Changed+got.Rejected != 0 {
		t.Errorf("first sync %+v, second %+v", want, got)
	}
	// The triggers do see what a change writes.
	r.clock.advance(3 * 24 * time.Hour)
	r.sync(Options{})
	if count() == 0 {
		t.Error("three days of changes touched no row, so the triggers prove nothing")
	}
}

// watchWrites counts the rows of record tables that are written from now on.
func (r *rig) watchWrites() func() int64 {
	r.t.Helper()
	statements := []string{"CREATE TABLE touched (n)"}
	for _, root := range schema.Roots() {
		for _, table := range root.Tables() {
			for _, event := range []string{"INSERT", "UPDATE", "DELETE"} {
				statements = append(statements, fmt.Sprintf("CREATE TRIGGER %s_%s AFTER %s ON %s BEGIN INSERT INTO touched VALUES (1); END",
					table.Name, event, event, table.Name))
			}
		}
	}
	r.exec(statements...)
	return func() int64 { return r.value("SELECT count(*) FROM touched").(int64) }
}

// White space and the order of keys are no change; a value is.
func TestRewrittenRecordIsUnchanged(t *testing.T) {
	t.Parallel()
	list := &fixedList{records: []string{`{"type":"module","productCode":"M1","name":"a","height":2}`}}
	r := newRigFor(t, list)
	equipments, _ := ParseStreams([]string{"equipments"})
	r.sync(Options{Streams: equipments})
	changedAt := r.value("SELECT _changed_at FROM equipments")

	r.clock.advance(time.Hour)
	list.records[0] = `{ "height": 2, "name": "\u0061", "productCode": "M1", "type": "module" }`
	count := r.watchWrites()
	if got := r.sync(Options{Streams: equipments, Full: true}).Total(); got.Unchanged != 1 || got.Changed != 0 {
		t.Errorf("the same content written differently counts as %+v", got)
	}
	if n := count(); n != 1 {
		t.Errorf("%d rows touched; only the stored hash should be", n)
	}
	if got := r.value("SELECT _changed_at FROM equipments"); got != changedAt {
		t.Errorf("_changed_at moved from %v to %v", changedAt, got)
	}

	list.records[0] = `{"type":"module","productCode":"M1","name":"b","height":2}`
	if got := r.sync(Options{Streams: equipments, Full: true}).Total(); got.Changed != 1 {
		t.Errorf("another name counts as %+v", got)
	}
}

// What cannot be keyed is kept raw, once, and the rest of the page is loaded.
func TestRejectsDoNotStopAPage(t *testing.T) {
	t.Parallel()
	bad := []string{`7`, `{"name":"no code"}`, `{"productCode":"D","productCode":"D"}`, "{\"productCode\":\"U\",\"name\":\"\xff\"}"}
	list := &fixedList{records: append([]string{`{"productCode":"A"}`}, bad...)}
	for i := range 45 {
		list.records = append(list.records, fmt.Sprintf(`{"productCode":"P%d","name":"n"}`, i))
	}
	r := newRigFor(t, list)
	equipments, _ := ParseStreams([]string{"equipments"})
	for i := range 2 {
		report := r.sync(Options{Streams: equipments, Full: true})
		if got := report.Total(); got.Rejected != 4 || got.Inserted+got.Unchanged != 46 || report.Outcome != store.OK {
			t.Fatalf("sync %d: %+v, %s", i, got, report.Outcome)
		}
	}
	var kept []string
	for _, row := range r.query("SELECT raw FROM _rejects ORDER BY reject_id") {
		kept = append(kept, string(row[0].([]byte)))
	}
	if diff := diff(bad, kept); diff != "" {
		t.Errorf("kept rejects differ:\n%s", diff)
	}
}

// A catalogue of the platform's own comes through exactly, values of every field included.
func TestLoadedCatalogueComesThrough(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("testdata/inverters.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	records, err := platformtest.LoadEquipments(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, platformtest.Options{Seed: 1, Equipments: records})
	r.sync(Options{})
	r.mustEqualTruth()
	if got := r.value("SELECT count(*) FROM equipments WHERE type = 'inverter'"); got != int64(len(records)) {
		t.Errorf("%v inverters in the mirror, %d in the catalogue", got, len(records))
	}
	for _, raw := range records {
		var want struct {
			ProductCode string  `json:"productCode"`
			BasePrice   float64 `json:"baseprice"`
		}
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		if got := r.value("SELECT base_price FROM equipments WHERE product_code = ?", want.ProductCode); got != want.BasePrice {
			t.Errorf("%s costs %v in the mirror, %v in the catalogue", want.ProductCode, got, want.BasePrice)
		}
	}
}

// Of two records with one key on a page the last that can be read counts: a broken one does not take the sound one with it.
func TestSameKeyTwiceOnAPage(t *testing.T) {
	t.Parallel()
	list := &fixedList{records: []string{
		`{"productCode":"A","name":"first"}`, `{"productCode":"B","name":"sound"}`,
		`{"productCode":"A","name":"last"}`, `{"productCode":"B","name":"x","name":"broken"}`,
	}}
	r := newRigFor(t, list)
	equipments, _ := ParseStreams([]string{"equipments"})
	report := r.sync(Options{Streams: equipments})
	if got := r.query("SELECT product_code, name FROM equipments ORDER BY 1"); diff([][]any{{"A", "last"}, {"B", "sound"}}, got) != "" {
		t.Errorf("the mirror holds %v", got)
	}
	if n := report.Total().Rejected; n == 0 {
		t.Error("the broken record was not rejected")
	}
}
