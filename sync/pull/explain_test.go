package pull

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/sync/platform/platformtest"
)

// states counts the differences that a verification finds by kind and state.
func (r *rig) states() map[string]int {
	r.t.Helper()
	n := map[string]int{}
	for _, v := range r.verify() {
		for _, d := range v.Differences {
			n[d.Kind+" "+string(d.State)]++
		}
	}
	return n
}

// mustFind compares the differences by kind and state, with the ledger, too.
func (r *rig) mustFind(when string, want map[string]int) {
	r.t.Helper()
	if d := diff(want, r.states()); d != "" {
		r.t.Errorf("%s verify finds (-want +got):\n%s", when, d)
	}
	noted := map[string]int{}
	for _, row := range r.query("SELECT kind || ' ' || state, count(*) FROM _findings GROUP BY 1") {
		noted[row[0].(string)] = int(row[1].(int64))
	}
	if d := diff(want, noted); d != "" {
		r.t.Errorf("%s the ledger says (-want +got):\n%s", when, d)
	}
}

// A platform that is busy between a sync and a verification, and while that reads, differs from the
// mirror, and each difference is pending: also where the same record differs each time.
func TestVerifyOfBusyPlatform(t *testing.T) {
	t.Parallel()
	between := platformtest.Churn{Inserts: 0.3, Updates: 2, Removals: 0.3, Restores: 0.2}
	meanwhile := platformtest.Churn{Inserts: 0.1, Updates: 0.5}
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, platformtest.Options{
				Seed: seed, Requests: 150, Equipments: fewItems(), Churn: between, Dialect: platformtest.Dialect{Cap: 20},
			})
			r.platform.SetChurn(platformtest.Churn{})
			pending := map[string]int{}
			for range 4 {
				r.sync(Options{Full: true, AcceptDeletions: true})
				r.clock.advance(15 * time.Minute)
				r.platform.SetChurn(between)
				r.listAll()
				r.platform.SetChurn(meanwhile)
				r.mustBePending(pending)
				r.platform.SetChurn(platformtest.Churn{})
			}
			for _, want := range []string{"orders missing", "orders differs", "budgets differs", "equipments missing", "equipments differs"} {
				if pending[want] == 0 {
					t.Errorf("no %s in %v", want, pending)
				}
			}
			r.sync(Options{Full: true, AcceptDeletions: true})
			r.sync(Options{Full: true, AcceptDeletions: true})
			r.mustFind("after two full syncs", map[string]int{})
		})
	}
}

// mustBePending verifies, and counts the differences by stream and kind.
func (r *rig) mustBePending(count map[string]int) {
	r.t.Helper()
	for _, v := range r.verify() {
		for _, d := range v.Differences {
			if d.State != store.Pending {
				r.t.Errorf("%s %v %s is %s", d.Stream, d.Key, d.Kind, d.State)
			}
			count[d.Stream+" "+d.Kind]++
		}
	}
}

// Budgets that were updated, and are ordered while a verification asks for updates, stand among the
// orders then: they are pending.
func TestVerifyOfConvertedRequests(t *testing.T) {
	t.Parallel()
	r := newRig(t, platformtest.Options{Seed: 6, Requests: 150, Equipments: fewItems(), Churn: platformtest.Churn{Updates: 1}})
	r.platform.SetChurn(platformtest.Churn{})
	asked := false
	r.connect(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		since := req.URL.Query().Get("lastUpdateAfter")
		if !asked && since == "2026-03-08" {
			asked = true
			r.platform.SetChurn(platformtest.Churn{Conversions: 100})
			defer r.platform.SetChurn(platformtest.Churn{})
		}
		r.platform.ServeHTTP(w, req)
	}))
	r.sync(Options{})
	r.clock.advance(time.Hour)
	r.platform.SetChurn(platformtest.Churn{Updates: 3})
	r.listAll()
	r.platform.SetChurn(platformtest.Churn{})
	pending := map[string]int{}
	r.mustBePending(pending)
	if !asked || pending["orders differs"] == 0 {
		t.Errorf("asked: %v; %v", asked, pending)
	}
}

// A budget that became an order is extra until two sweeps have missed it, and pending: before and
// after a sync has brought the order, however often it is verified. One that is in no list is not.
func TestVerifyOfConversionTwice(t *testing.T) {
	t.Parallel()
	lists := map[string]string{}
	updated := "" // what is listed by the day of the last update
	r := newRigFor(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		list := &fixedList{}
		for name, ids := range lists {
			if !strings.Contains(req.URL.Path, "/"+name+"/") || req.URL.Query().Has("removed") {
				continue
			}
			since := req.URL.Query().Get("lastUpdateAfter")
			for _, id := range strings.Fields(ids) {
				if since == "" || since <= "2026-03-10" && strings.Contains(updated, id) {
					list.records = append(list.records, `{"id":"`+id+`"}`)
				}
			}
		}
		list.ServeHTTP(w, req)
	}))
	o := Options{Streams: requestStreams()}
	set := func(orders, budgets string) { lists["order"], lists["budget"] = orders, budgets }
	mustBe := func(when string, want ...string) {
		t.Helper()
		r.clock.advance(time.Minute)
		list, err := r.engine.Verify(t.Context(), requestStreams())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, v := range list {
			if v.Err != nil {
				t.Fatal(v.Err)
			}
			for _, d := range v.Differences {
				if d.Kind == DiffExtra {
					got = append(got, d.Key[0]+" "+d.Key[1]+" "+string(d.State))
				}
			}
		}
		if d := diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", when, d)
		}
	}
	set("a b c d e f", "k l m n o p q")
	r.sync(o)
	set("a b c d e p", "f k l m n o")
	updated = "f p"
	mustBe("converted and deleted", "order f pending", "budget p pending", "budget q pending")
	mustBe("again", "order f pending", "budget p pending", "budget q unexplained")
	r.clock.advance(time.Hour)
	r.sync(o)
	updated = "" // as some days later
	for range 2 {
		mustBe("after a sync", "order f pending", "budget p pending", "budget q unexplained")
	}
	r.sync(Options{Streams: requestStreams(), Full: true})
	mustBe("after one sweep", "order f pending", "budget p pending", "budget q pending")
	mustBe("after one sweep, again", "order f pending", "budget p pending", "budget q unexplained")
	r.exec("UPDATE _absences SET sweeps = 2")
	mustBe("after two sweeps that marked nothing", "order f unexplained", "budget p unexplained", "budget q unexplained")
}

// listAll asks for some pages of each list, so that the platform moves.
func (r *rig) listAll() {
	r.t.Helper()
	for _, s := range Streams() {
		for range 10 {
			if _, err := r.engine.Client.List(r.t.Context(), s.Resource, filterOf(schema.Live, "", ""), 1, 20); err != nil {
				r.t.Fatal(err)
			}
		}
	}
}

// updatedSince returns the ids of the requests that the platform lists as updated since a date.
func (r *rig) updatedSince(date string) (ids []string) {
	r.t.Helper()
	for _, s := range requestStreams() {
		for _, pass := range s.Passes {
			for page := 1; ; page++ {
				got, err := r.engine.Client.List(r.t.Context(), s.Resource, filterOf(pass, date, ""), page, 20)
				if err != nil {
					r.t.Fatal(err)
				}
				if len(got.Records) == 0 {
					break
				}
				for _, raw := range got.Records {
					ids = append(ids, s.identify(raw).Key[1])
				}
			}
		}
	}
	return ids
}

// Rows that SQL has deleted are unexplained at once, unless the next sync would read them again: then
// at the second verification. The sync brings those back, and a full one the others.
func TestVerifyOfLostRows(t *testing.T) {
	t.Parallel()
	r := newRig(t, platformtest.Options{Seed: 6, Requests: 200, Equipments: fewItems(), Dialect: platformtest.Dialect{Cap: 20}})
	r.sync(Options{})
	for _, table := range slices.Backward(schema.Requests.Tables()) {
		r.exec("DELETE FROM " + table.Name)
	}
	listed := r.updatedSince("2026-03-08")
	states := func() (pending, unexplained int) {
		for _, v := range r.verify() {
			for _, d := range v.Differences {
				isListed := slices.Contains(listed, d.Key[1])
				switch {
				case d.State == store.Pending && isListed:
					pending++
				case d.State == store.Unexplained:
					unexplained++
				default:
					t.Errorf("%v is %s; listed: %v", d.Key, d.State, isListed)
				}
			}
		}
		return pending, unexplained
	}
	pending, unexplained := states()
	if pending != len(listed) || pending == 0 || unexplained == 0 {
		t.Errorf("%d pending of %d listed, %d unexplained", pending, len(listed), unexplained)
	}
	if again, all := states(); again != 0 || all != pending+unexplained {
		t.Errorf("the second time %d pending, %d unexplained of %d", again, all, pending+unexplained)
	}
	r.sync(Options{})
	r.mustFind("after a sync", map[string]int{DiffMissing + " unexplained": unexplained})
	r.sync(Options{Full: true})
	r.mustFind("after a full sync", map[string]int{})
}

// A value that SQL has changed is nothing that a sync would put back.
func TestVerifyOfEditedRow(t *testing.T) {
	t.Parallel()
	r := newRig(t, platformtest.Options{Seed: 6, Requests: 60, Equipments: fewItems()})
	r.sync(Options{})
	r.exec("UPDATE requests SET final_value = -1 WHERE request_key = 1", "UPDATE equipments SET name = 'edited' WHERE equipment_key = 1")
	r.mustFind("at once", map[string]int{DiffEdited + " unexplained": 2})
}

// A difference that two verifications find in the same way is unexplained, and keeps the time at
// which it was found first. One that a sync has settled meanwhile is another one.
func TestVerifyTwice(t *testing.T) {
	t.Parallel()
	list := &fixedList{records: []string{`{"id":"a","name":"0"}`, `{"id":"b","name":"0"}`}}
	r := newRigFor(t, list)
	orders := named("orders")
	verify := func(when string, want ...store.State) (found []Difference) {
		t.Helper()
		r.clock.advance(time.Minute)
		verified, err := r.engine.Verify(t.Context(), orders)
		if err != nil || verified[0].Err != nil {
			t.Fatal(err, verified)
		}
		var states []store.State
		for _, d := range verified[0].Differences {
			states = append(states, d.State)
		}
		if d := diff(want, states); d != "" {
			t.Errorf("%s (-want +got):\n%s", when, d)
		}
		return verified[0].Differences
	}
	r.sync(Options{Streams: orders})
	list.records[0] = `{"id":"a","name":"1"}`
	first := verify("changed", store.Pending)[0].FirstSeenAt
	for range 2 {
		if again := verify("changed, again", store.Unexplained)[0]; !again.FirstSeenAt.Equal(first) {
			t.Errorf("first found at %v, then at %v", first, again.FirstSeenAt)
		}
	}
	r.clock.advance(time.Minute)
	r.sync(Options{Streams: orders})
	verify("synced")
	list.records[0] = `{"id":"a","name":"2"}`
	verify("changed anew", store.Pending)
	r.clock.advance(time.Minute)
	r.sync(Options{Streams: orders})
	list.records[0] = `{"id":"a","name":"3"}`
	verify("changed, read and changed between two verifications", store.Pending)
	for _, name := range []string{"4", "2"} { // back to what the mirror held then
		list.records[0] = `{"id":"a","name":"` + name + `"}`
		r.clock.advance(time.Minute)
		r.sync(Options{Streams: orders})
	}
	list.records[0] = `{"id":"a","name":"3"}`
	verify("changed there and back and there between two verifications", store.Pending)
	verify("changed there and back and there, again", store.Unexplained)
	r.exec("DELETE FROM requests")
	verify("lost", store.Pending, store.Pending)
	verify("lost, again", store.Unexplained, store.Unexplained)
}

// What a stream that never was read whole lacks, nothing explains.
func TestVerifyOfUnreadStream(t *testing.T) {
	t.Parallel()
	r := newRig(t, platformtest.Options{Seed: 6, Requests: 60, Equipments: fewItems()})
	r.sync(Options{Streams: named("orders")})
	for kind := range r.states() {
		if kind != DiffMissing+" unexplained" {
			t.Errorf("found %s", kind)
		}
	}
}

// Equipment cannot be asked for updates: its differences are pending until a full read.
func TestVerifyOfEquipment(t *testing.T) {
	t.Parallel()
	r := newRig(t, platformtest.Options{Seed: 6, Requests: 20, Equipments: fewItems()})
	equipments := named("equipments")
	r.sync(Options{})
	r.exec("DELETE FROM equipments WHERE equipment_key = 1", "UPDATE equipments SET _hash = zeroblob(16) WHERE equipment_key = 2")
	for _, table := range schema.Equipments.Tables()[1:] {
		r.exec("DELETE FROM " + table.Name + " WHERE equipment_key = 1")
	}
	r.mustFind("before a full read", map[string]int{DiffMissing + " pending": 1, DiffContent + " pending": 1})
	r.clock.advance(time.Hour)
	r.sync(Options{Streams: equipments}) // of what was created since
	r.mustFind("after an incremental sync", map[string]int{DiffMissing + " unexplained": 1, DiffContent + " unexplained": 1})
	r.sync(Options{Streams: equipments, Full: true})
	r.mustFind("after a full read", map[string]int{})
}

// A record that the platform lacks is pending until two sweeps have missed it. The second marks it as
// gone; where so many are missing that none is, they are unexplained.
func TestVerifyOfExtraRecords(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		extra   int
		refused bool
	}{{1, false}, {30, true}} {
		t.Run(fmt.Sprint(test.extra), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, platformtest.Options{Seed: 6, Requests: 80, Equipments: fewItems()})
			r.sync(Options{})
			for i := range test.extra {
				r.exec(fmt.Sprintf("INSERT INTO requests (request_type, id, _hash) VALUES ('order', 'extra %d', zeroblob(16))", i))
			}
			sweep := func() {
				t.Helper()
				_, err := r.trySync(Options{Full: true})
				var refusal *DeletionsError
				if errors.As(err, &refusal) != test.refused || !test.refused && err != nil {
					t.Fatal(err)
				}
			}
			pending := map[string]int{DiffExtra + " pending": test.extra}
			unexplained := map[string]int{DiffExtra + " unexplained": test.extra}
			r.mustFind("before a sweep", pending)
			sweep()
			r.mustFind("after one sweep", pending)
			r.mustFind("after one sweep, again", unexplained)
			r.exec("DELETE FROM _findings")
			sweep()
			if test.refused {
				r.mustFind("after two sweeps", unexplained)
			} else {
				r.mustFind("after two sweeps", map[string]int{})
				if n := r.value("SELECT count(*) FROM _absences"); n != int64(0) {
					t.Errorf("%v absences of what is gone", n)
				}
			}
		})
	}
}

// A verification that was interrupted has not looked at all streams, and leaves the ledger as it was.
func TestInterruptedVerificationIsNotNoted(t *testing.T) {
	t.Parallel()
	r := newRig(t, platformtest.Options{Seed: 6, Requests: 60, Equipments: fewItems()})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	reading := false
	r.connect(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if reading && strings.Contains(req.URL.Path, "/equipments/") {
			cancel()
		}
		r.platform.ServeHTTP(w, req)
	}))
	r.sync(Options{})
	r.exec("UPDATE requests SET final_value = -1")
	reading = true
	list, err := r.engine.Verify(ctx, Streams())
	if !errors.Is(err, context.Canceled) || len(list) == 0 || len(list[0].Differences) == 0 {
		t.Errorf("%v, %v", err, list)
	}
	if n := r.value("SELECT count(*) FROM _findings"); n != int64(0) {
		t.Errorf("%v findings", n)
	}
}
