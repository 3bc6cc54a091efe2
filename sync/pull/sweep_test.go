package pull

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"solarmirror/schema"
	"solarmirror/store/testsize"
	"solarmirror/sync/platform/platformtest"
)

func equipmentStream() []*Stream { return named("equipments") }

// newShelfRig is a rig over shelves with items on them.
func newShelfRig(t *testing.T, items int) (*rig, *shelves) {
	s := &shelves{totals: true}
	s.set("equipments", records("item", 0, items))
	r := newRigFor(t, s)
	r.sync(Options{Streams: equipmentStream()})
	return r, s
}

// sweepOf reads the items whole and returns how many are tombstones then, and the error.
func (r *rig) sweepOf(streams []*Stream, accept bool) (int64, error) {
	r.t.Helper()
	r.clock.advance(time.Hour)
	_, err := r.trySync(Options{Streams: streams, Full: true, AcceptDeletions: accept})
	return r.tombstones(), err
}

func (r *rig) tombstones() int64 {
	r.t.Helper()
	return r.value(`SELECT (SELECT count(*) FROM equipments WHERE _deleted_at IS NOT NULL)
		+ (SELECT count(*) FROM requests WHERE _deleted_at IS NOT NULL)`).(int64)
}

// A record that two sweeps in a row do not find is marked as gone, its rows stay, and the mark goes when it is back.
func TestTwoStrikes(t *testing.T) {
	t.Parallel()
	r, s := newShelfRig(t, 100)
	all := records("item", 0, 100)
	steps := []struct {
		does       string
		list       []string
		tombstones int64
	}{
		{"three leave", all[3:], 0},
		{"one of them is back, another leaves", append(all[2:3:3], all[4:]...), 2},
		{"the other is missing again", append(all[2:3:3], all[4:]...), 3},
		{"all are back", all, 0},
		{"one leaves for one sweep", all[1:], 0},
		{"and is back", all, 0},
		{"and leaves for one sweep again", all[1:], 0},
		{"and is back for good", all, 0},
	}
	for _, step := range steps {
		s.set("equipments", step.list)
		n, err := r.sweepOf(equipmentStream(), false)
		if err != nil || n != step.tombstones {
			t.Errorf("%s: %d tombstones, want %d; %v", step.does, n, step.tombstones, err)
		}
		if rows := r.value("SELECT count(*) FROM equipments"); rows != int64(100) {
			t.Errorf("%s: %v rows", step.does, rows)
		}
	}
}

// More missing records than can be believed are a failure and mark nothing, however often; --accept-deletions overrides that.
func TestBreaker(t *testing.T) {
	t.Parallel()
	for _, c := range testsize.Some([]struct {
		held, left    int
		refused, ever bool
	}{
		{held: 100, left: 80},
		{held: 100, left: 79, refused: true},
		{held: 30, left: 15},
		{held: 30, left: 14, refused: true},
		{held: 1000, left: 950},
		{held: 1000, left: 949, refused: true},
		{held: 3, left: 2},
		{held: 3, left: 1, refused: true},
		{held: 40, left: 0, refused: true, ever: true},
		{held: 1, left: 0, refused: true, ever: true},
	}) {
		t.Run(fmt.Sprintf("%d of %d left", c.left, c.held), func(t *testing.T) {
			t.Parallel()
			r, s := newShelfRig(t, c.held)
			s.set("equipments", records("item", c.held-c.left, c.left))
			gone := int64(c.held - c.left)
			for i := range 3 {
				n, err := r.sweepOf(equipmentStream(), false)
				var deletions *DeletionsError
				if refused := errors.As(err, &deletions); refused != c.refused || err != nil && !refused {
					t.Fatalf("sweep %d: %v", i, err)
				}
				if want := gone * int64(min(1, i)); c.refused && n != 0 || !c.refused && n != want {
					t.Errorf("sweep %d: %d tombstones", i, n)
				}
			}
			for range 2 {
				r.sweepOf(equipmentStream(), true)
			}
			if n := r.tombstones(); (n == gone) == c.ever {
				t.Errorf("accepted: %d tombstones of %d gone", n, gone)
			}
		})
	}
}

// An empty list of removed records is not believed when the mirror holds some, though they are few among all.
func TestBreakerOfAnEmptyPass(t *testing.T) {
	t.Parallel()
	s := &shelves{}
	s.set("order", records("live", 0, 400))
	s.set("order removed", records("removed", 0, 12))
	r := newRigFor(t, s)
	orders := named("orders")
	r.sync(Options{Streams: orders})
	s.set("order removed", nil)
	for range 3 {
		n, err := r.sweepOf(orders, false)
		var deletions *DeletionsError
		if !errors.As(err, &deletions) || deletions.Empty != schema.Removed || n != 0 {
			t.Fatalf("%d tombstones, %v", n, err)
		}
	}
	for range 2 {
		if _, err := r.sweepOf(orders, true); err != nil {
			t.Fatal(err)
		}
	}
	if n := r.tombstones(); n != 12 {
		t.Errorf("accepted: %d tombstones", n)
	}
}

// A sweep that met records without a key for the first time does not count: they may be what is missing.
func TestSweepWithRecordsThatLostTheirKey(t *testing.T) {
	t.Parallel()
	r, s := newShelfRig(t, 100)
	for i := range 3 {
		broken := records("item", 0, 100)
		broken[7+i] = fmt.Sprintf(`{"productCode":null,"name":"%d"}`, i)
		broken[8+i] = fmt.Sprintf(`{"productCode":null,"name":"%d"}`, -i)
		s.set("equipments", broken)
		if n, err := r.sweepOf(equipmentStream(), false); n != 0 || err != nil {
			t.Errorf("sweep %d: %d tombstones, %v", i, n, err)
		}
	}
}

// Deletions are never a fault's doing: sweeps of a platform that loses nothing, whose answers fail, are empty or are cut short.
func TestFaultySweeps(t *testing.T) {
	t.Parallel()
	for _, totals := range []bool{true, false} {
		t.Run(fmt.Sprintf("totals %v", totals), func(t *testing.T) {
			t.Parallel()
			s := &shelves{totals: totals}
			s.set("order", records("live", 0, 230))
			s.set("order removed", records("removed", 0, 9))
			r := newRigFor(t, s)
			orders := named("orders")
			r.sync(Options{Streams: orders})
			rng := rand.New(rand.NewPCG(1, 1))
			n, clean := testsize.Fewer(max(30, *seeds)), 0
			for i := range n {
				s.spoilWith(faulty(rng, []float64{0.02, 0.1, 0.3}[i%3]))
				found, err := r.sweepOf(orders, false)
				if err == nil {
					clean++
				}
				if found != 0 {
					t.Fatalf("sweep %d: %d false tombstones", i, found)
				}
			}
			t.Logf("totals %v: %d faulty sweeps, %d of them ended cleanly, 0 false tombstones", totals, n, clean)
		})
	}
}

// Prices and stock leave no trace that a filter could see; the full sweep brings them.
func TestFullSweepBringsPricesAndStock(t *testing.T) {
	t.Parallel()
	r := newRig(t, platformtest.Options{Seed: 4, Requests: 20, Equipments: fewItems()})
	r.sync(Options{})
	r.clock.advance(20 * 24 * time.Hour)
	incremental := r.sync(Options{Streams: equipmentStream()})
	full := r.sync(Options{Streams: equipmentStream(), Full: true})
	if n := full.Total().Changed; n == 0 {
		t.Error("no price or stock changed, so the test proves nothing")
	}
	if n := incremental.Total().Changed; n != 0 {
		t.Errorf("the incremental sync saw %d changes", n)
	}
	r.mustHoldPresent(equipmentStream())
}

// A budget that became an order is marked as gone among the budgets, and lives among the orders; and the other way round.
func TestConversionMovesARecord(t *testing.T) {
	t.Parallel()
	s := &shelves{totals: true}
	lay := func(orders, budgets int) { // of 80 deals, the first so many are orders
		deals := records("deal", 0, orders+budgets)
		s.set("order", deals[:orders])
		s.set("budget", deals[orders:])
	}
	lay(30, 50)
	r := newRigFor(t, s)
	r.sync(Options{Streams: requestStreams()})
	for _, c := range []struct{ orders, budgets int }{{33, 47}, {28, 52}} {
		lay(c.orders, c.budgets)
		for range 2 {
			if _, err := r.sweepOf(requestStreams(), false); err != nil {
				t.Fatal(err)
			}
		}
		for i, want := range []int{c.orders, c.budgets} {
			if n := len(r.present(Streams()[i])); n != want {
				t.Errorf("%d %s present, want %d", n, Streams()[i].Name, want)
			}
		}
	}
}

var _ http.Handler = (*shelves)(nil)

// A record that has been gone for longer than it is kept is deleted by the next sweep; one that is back in time is not.
func TestTombstonesArePruned(t *testing.T) {
	t.Parallel()
	r, s := newShelfRig(t, 100)
	r.engine.KeepDeleted = 30 * 24 * time.Hour
	all := records("item", 0, 100)
	for _, step := range []struct {
		does       string
		list       []string
		after      time.Duration
		tombstones int64
		rows       int64
	}{
		{"three leave", all[3:], 0, 0, 100},
		{"and stay away", all[3:], 0, 3, 100},
		{"a month less an hour or two", all[3:], 30*24*time.Hour - 2*time.Hour, 3, 100},
		{"one is back just in time", all[2:], 0, 2, 100},
		{"the others are deleted", all[2:], time.Hour, 0, 98},
		{"and one of them comes back as new", all[1:], time.Hour, 0, 99},
	} {
		r.clock.advance(step.after)
		s.set("equipments", step.list)
		n, err := r.sweepOf(equipmentStream(), false)
		if rows := r.value("SELECT count(*) FROM equipments"); err != nil || n != step.tombstones || rows != step.rows {
			t.Errorf("%s: %d tombstones, want %d; %v rows, want %d; %v", step.does, n, step.tombstones, rows, step.rows, err)
		}
	}
}
