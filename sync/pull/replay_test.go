package pull

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"solarmirror/store"
	"solarmirror/sync/platform/platformtest"
)

// reject keeps a record as one that could not be read, as an earlier program would have.
func (r *rig) reject(stream, raw string) {
	r.t.Helper()
	tx, err := r.mirror.Begin(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	_, err = tx.Reject(store.Reject{Stream: stream, Source: "/there", Reason: "an older program could not read it", Raw: []byte(raw)})
	if err := errors.Join(err, tx.Commit()); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) replay(ids ...int64) *ReplayReport {
	r.t.Helper()
	report, err := Replay(r.t.Context(), r.mirror, ids)
	if err != nil {
		r.t.Fatal(err)
	}
	return report
}

// What is accepted now is loaded as of when it was first read, content over older content only; what is not stays, with today's
// reason; and the platform is asked nothing.
func TestReplay(t *testing.T) {
	t.Parallel()
	list := &fixedList{records: []string{`{"productCode":"OLD","name":"read first","baseprice":1}`}}
	r := newRigFor(t, list)
	equipments, _ := ParseStreams([]string{"equipments"})
	r.sync(Options{Streams: equipments}) // OLD at 15:00

	r.clock.advance(time.Hour) // 16:00
	r.reject("equipments", `{"productCode":"OLD","name":"then","baseprice":2,"later":1}`)
	r.reject("equipments", `{"productCode":"FIRST","baseprice":3}`)
	r.reject("equipments", `{"productCode":"NEW","name":"too late"}`)
	r.reject("orders", `{"id":"O1","dealStatus":"Novo"}`)
	r.reject("orders", `{"name":"nobody"}`)
	r.reject("equipments", "{\"productCode\":\"\xff\"}")

	r.clock.advance(time.Hour) // 17:00
	list.records = []string{`{"productCode":"NEW","name":"read last"}`}
	r.sync(Options{Streams: equipments})
	r.clock.advance(time.Hour) // 18:00
	runs := r.value("SELECT count(*) FROM _runs")

	var got []string
	report := r.replay()
	for _, one := range report.Rejects {
		got = append(got, fmt.Sprintf("%d %s %s: %v", one.ID, one.Stream, one.Fate, one.Fate != StillBad || one.Reason != "an older program could not read it"))
	}
	want := []string{"1 equipments updated: true", "2 equipments loaded: true", "3 equipments not needed: true", "4 orders loaded: true", "5 orders still rejected: true", "6 equipments still rejected: true"}
	if diff := diff(want, got); diff != "" {
		t.Errorf("fates:\n%s", diff)
	}
	if want := (store.Counts{Records: 6, Inserted: 2, Changed: 1, Unchanged: 1, Rejected: 2}); report.Counts != want {
		t.Errorf("counts %+v, want %+v", report.Counts, want)
	}
	wantRows := [][]any{
		{"FIRST", nil, "16:00", "16:00"}, {"NEW", "read last", "17:00", "17:00"}, {"OLD", "then", "15:00", "16:00"},
	}
	if diff := diff(wantRows, r.query(`SELECT product_code, name, strftime('%H:%M', _first_seen_at), strftime('%H:%M', _changed_at) FROM equipments ORDER BY 1`)); diff != "" {
		t.Errorf("equipments:\n%s", diff)
	}
	wantPrices := [][]any{{"FIRST", "16", nil, 3.0, int64(1)}, {"NEW", "17", nil, nil, int64(1)}, {"OLD", "15", "16", 1.0, int64(1)}, {"OLD", "16", nil, 2.0, int64(0)}}
	if diff := diff(wantPrices, r.query(`SELECT product_code, strftime('%H', valid_from), strftime('%H', valid_to), h.base_price, is_inferred
		FROM equipment_price_history AS h JOIN equipments USING (equipment_key) ORDER BY 1, 2`)); diff != "" {
		t.Errorf("history:\n%s", diff)
	}
	if diff := diff([][]any{{int64(1), "18"}, {int64(2), "18"}, {int64(3), "18"}, {int64(4), "18"}, {int64(5), nil}, {int64(6), nil}},
		r.query("SELECT reject_id, strftime('%H', replayed_at) FROM _rejects ORDER BY 1")); diff != "" {
		t.Errorf("rejects:\n%s", diff)
	}
	if diff := diff([][]any{{"rejects replay", "ok", int64(0), int64(6)}},
		r.query("SELECT command, outcome, pages, records FROM _runs WHERE run_id > ?", runs)); diff != "" {
		t.Errorf("runs:\n%s", diff)
	}

	again := r.replay(1, 5, 1)
	if len(again.Rejects) != 2 || again.Rejects[0].Fate != LoadedOnce || again.Rejects[1].Fate != StillBad {
		t.Errorf("again: %+v", again.Rejects)
	}
	var unknown *UnknownRejectError
	before := r.value("SELECT count(*) FROM _runs")
	if _, err := Replay(t.Context(), r.mirror, []int64{5, 77}); !errors.As(err, &unknown) || unknown.ID != 77 {
		t.Errorf("an unknown reject: %v", err)
	}
	if r.value("SELECT count(*) FROM _runs") != before {
		t.Error("a replay that was refused counts as a run")
	}
}

// A platform whose records were all rejected, replayed, is a platform mirrored.
func TestReplayEqualsSync(t *testing.T) {
	t.Parallel()
	r := newRig(t, platformtest.Options{Seed: 4, Requests: 30, Equipments: someEquipments(4, 20)})
	for _, s := range Streams() {
		for rec := range r.platform.Records(s.Name) {
			r.reject(s.Name, string(rec.JSON))
		}
	}
	served := r.platform.Served()
	r.replay()
	if n := r.platform.Served() - served; n != 0 {
		t.Errorf("%d requests were made", n)
	}
	r.mustEqualTruth()
	if got := r.sync(Options{Full: true}).Total(); got.Unchanged != got.Records {
		t.Errorf("a sync after the replay: %+v", got)
	}
}
