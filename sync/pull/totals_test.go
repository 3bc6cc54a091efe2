package pull

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"solarmirror/store/testsize"
)

// newShelves is a platform of orders and budgets, live and removed, and some equipment.
func newShelves(orders, removed, budgets, items int) *shelves {
	s := &shelves{}
	s.set("order", records("deal", 0, orders))
	s.set("order removed", records("removed", 0, removed))
	s.set("budget", records("offer", 0, budgets))
	s.set("equipments", records("item", 0, items))
	return s
}

func (r *rig) held() [2]int64 {
	r.t.Helper()
	return [2]int64{r.value("SELECT count(*) FROM requests").(int64), r.value("SELECT count(*) FROM equipments").(int64)}
}

// Totals that are too high are overruled by a few rows, and that is said; a total that counts all
// passes, or ignores the filters, is not used; by more they fail the stream, whose watermark stays.
func TestTotalsThatAreTooHigh(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		total   func(name string, n int) int
		fails   bool
		promise bool
		foreign bool
	}{
		"right":           {total: func(_ string, n int) int { return n }},
		"a few more":      {total: func(_ string, n int) int { return n + 7*min(n, 1) }, promise: true},
		"seven times":     {total: func(_ string, n int) int { return 7 * n }, fails: true},
		"filters ignored": {total: func(string, int) int { return 5000 }, foreign: true},
		"live and removed": {total: func(name string, n int) int {
			return map[string]int{"order": 260, "order removed": 260}[name] + map[bool]int{true: n}[name[:5] != "order"]
		}, foreign: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShelves(180, 80, 60, 70)
			s.total = c.total
			r := newRigFor(t, s)
			_, err := r.trySync(Options{})
			var total *TotalError
			if errors.As(err, &total) != c.fails || !c.fails && err != nil {
				t.Fatalf("the sync gave %v", err)
			}
			if held := r.held(); held != [2]int64{320, 70} {
				t.Errorf("%v requests and items", held)
			}
			if marks := r.value("SELECT count(*) FROM _watermarks").(int64); c.fails && marks != 0 || !c.fails && marks != 5 {
				t.Errorf("%d watermarks: %v", marks, r.query("SELECT stream, pass, watermark FROM _watermarks"))
			}
			promised := r.value("SELECT count(*) FROM _watermarks JOIN _windows USING (stream, pass) WHERE _windows.promise = _watermarks.promise").(int64)
			if (promised > 0) != c.promise {
				t.Errorf("%d promises: %v", promised, r.query("SELECT stream, pass, promise FROM _watermarks"))
			}
			if foreign := r.dialect().Streams["orders"].ForeignTotals; foreign != c.foreign {
				t.Errorf("totals of orders not used: %v", foreign)
			}
			list, err := r.engine.Verify(t.Context(), Streams())
			if err != nil {
				t.Fatal(err)
			}
			told := 0
			for _, v := range list {
				for _, d := range v.Differences {
					if d.Kind != DiffTotal {
						t.Errorf("verify found %+v", d)
					}
					told++
				}
			}
			if (told > 0) != (c.promise || c.fails) {
				t.Errorf("verify told of %d totals", told)
			}
		})
	}
}

// A platform that refuses empty lists is read. When it refuses every list, that is an outage, and no
// list counts as empty.
func TestEmptyListsThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusNotFound, http.StatusBadRequest} {
		s := newShelves(120, 0, 60, 70)
		s.empty = status
		r := newRigFor(t, s)
		r.sync(Options{})
		if held := r.held(); held != [2]int64{180, 70} {
			t.Errorf("%d: %v requests and items", status, held)
		}
		r.clock.advance(24 * time.Hour)
		s.set("order updated", nil)
		r.sync(Options{})
		before := r.query("SELECT * FROM _watermarks ORDER BY 1, 2")
		r.clock.advance(24 * time.Hour)
		for _, outage := range []string{"", "lastUpdateAfter"} {
			s.change(func() { s.outage = outage })
			s.spoilWith(func(int, []string) ([]string, int) { return nil, status })
			if _, err := r.trySync(Options{Streams: requestStreams()}); err == nil {
				t.Errorf("%d %s: an outage passed for empty lists", status, outage)
			}
			if d := diff(before, r.query("SELECT * FROM _watermarks ORDER BY 1, 2")); d != "" {
				t.Errorf("%d %s: %s", status, outage, d)
			}
		}
	}
}

// Page sizes, the ends of lists and totals are drawn; every mirror holds all rows, and verify agrees.
func TestDrawnPlatforms(t *testing.T) {
	t.Parallel()
	for seed := range uint64(testsize.Fewer(max(16, *seeds/5))) {
		d := rand.New(rand.NewPCG(seed, 3))
		orders, removed, budgets, items := d.IntN(400), d.IntN(60), d.IntN(200), 1+d.IntN(300)
		s := newShelves(orders, removed, budgets, items)
		sizes := [][]int{nil, {10, 25, 50, 100}, {20, 100}, {50}, {100}, {7}, {10, 20, 30, 40, 50}}[d.IntN(7)]
		up := d.IntN(2) == 0
		s.size = func(limit int) int {
			size := limit
			for _, known := range sizes {
				if known <= limit || size == limit && size != known && up {
					size = known
				}
			}
			if len(sizes) > 0 && limit < sizes[0] {
				size = sizes[0]
			}
			return size
		}
		s.empty = []int{0, 0, 404, 400}[d.IntN(4)]
		if d.IntN(2) == 0 {
			s.total = func(_ string, n int) int { return n }
		}
		r := newRigFor(t, s)
		r.engine.Paging.Limit = []int{20, 50, 100, 130}[d.IntN(4)]
		what := fmt.Sprintf("seed %d: %d orders, %d removed, %d budgets, %d items, sizes %v, up %v, empty %d, totals %v, limit %d",
			seed, orders, removed, budgets, items, sizes, up, s.empty, s.total != nil, r.engine.Paging.Limit)
		if _, err := r.trySync(Options{}); err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if held := r.held(); held != [2]int64{int64(orders + removed + budgets), int64(items)} {
			t.Errorf("%s: %v", what, held)
		}
		list, err := r.engine.Verify(t.Context(), Streams())
		if err != nil {
			t.Error(what, err)
		}
		for _, v := range list {
			if v.Err != nil || len(v.Differences) > 0 {
				t.Errorf("%s: verify found %+v", what, v)
			}
		}
	}
}

// Each stream has its own numbering, and one that changes between two syncs is noticed by the next.
func TestNumberingOfStreams(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, after map[string]int }{
		"budgets from 0":           {before: map[string]int{"order": 1, "budget": 0, "equipments": 1}},
		"equipments from 0":        {before: map[string]int{"order": 1, "budget": 1, "equipments": 0}},
		"all come to count 0":      {before: map[string]int{"order": 1, "budget": 1, "equipments": 1}, after: map[string]int{}},
		"all come to count from 1": {before: map[string]int{}, after: map[string]int{"order": 1, "budget": 1, "equipments": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShelves(140, 10, 130, 60)
			s.first = c.before
			r := newRigFor(t, s)
			r.sync(Options{})
			if held := r.held(); held != [2]int64{280, 60} {
				t.Errorf("%v requests and items", held)
			}
			if c.after == nil {
				return
			}
			r.clock.advance(24 * time.Hour)
			more := records("deal", 140, 70)
			s.set("order", append(records("deal", 0, 140), more...))
			s.set("order updated", more)
			s.change(func() { s.first = c.after })
			r.sync(Options{})
			if held := r.held(); held != [2]int64{350, 60} {
				t.Errorf("after the change %v requests and items", held)
			}
		})
	}
}

// A platform that ends every list after a few pages fails loudly.
func TestCeilingOfPages(t *testing.T) {
	t.Parallel()
	for ceiling := 1; ceiling < 6; ceiling++ {
		s := newShelves(600, 0, 0, 10)
		s.ceiling = ceiling
		r := newRigFor(t, s)
		report, err := r.trySync(Options{})
		if err == nil || report.Streams[0].Err == nil {
			t.Errorf("%d pages: %v of 600 orders, and nothing was noticed", ceiling, r.held()[0])
		}
	}
}
