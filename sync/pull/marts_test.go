package pull

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/marts"
	"solarmirror/store/testsize"
	"solarmirror/sync/platform/platformtest"
)

// martRows is everything the marts say, by table, but for how fresh the streams are.
func (r *rig) martRows() map[string][][]any {
	r.t.Helper()
	all := map[string][][]any{}
	for _, table := range append(schema.MartTables[:len(schema.MartTables):len(schema.MartTables)], schema.Deals) {
		if table == schema.BiFreshness {
			continue
		}
		var columns []string
		for _, name := range table.ColumnNames() {
			columns = append(columns, "+"+name)
		}
		list := strings.Join(columns, ", ")
		all[table.Name] = r.query(fmt.Sprintf("SELECT %s FROM %s ORDER BY %[1]s", list, table.Name))
	}
	return all
}

// rebuilt is what the marts say when they are built from nothing, in a copy of the mirror.
func (r *rig) rebuilt() map[string][][]any {
	r.t.Helper()
	path := filepath.Join(r.t.TempDir(), "copy.db")
	r.exec(fmt.Sprintf("VACUUM INTO '%s'", path))
	other := &rig{t: r.t, path: path, clock: r.clock}
	other.exec("DELETE FROM _marts", "UPDATE bi_requests SET final_value = -1", "DELETE FROM bi_funnel")
	mirror, err := store.Open(r.t.Context(), path, r.storeOptions())
	if err != nil {
		r.t.Fatal(err)
	}
	defer mirror.Close()
	if err := marts.Refresh(r.t.Context(), mirror); err != nil {
		r.t.Fatal(err)
	}
	return other.martRows()
}

func (r *rig) mustEqualRebuilt() {
	r.t.Helper()
	want, got := r.rebuilt(), r.martRows()
	for name, rows := range want {
		if !reflect.DeepEqual(rows, got[name]) { // diff takes long where nothing differs
			d := diff(rows, got[name])
			r.t.Fatalf("%s (-built from nothing +kept in step):\n%s", name, d)
		}
	}
}

// However the platform moves, whichever syncs see it, and wherever they are cut off before the marts are told, the marts kept in step hold what
// building them from nothing gives.
func TestMartsKeepInStep(t *testing.T) {
	t.Parallel()
	for seed := range uint64(testsize.Fewer(max(2, *seeds/5))) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			d := rand.New(rand.NewPCG(seed, 7))
			r := newRig(t, platformtest.Options{Seed: seed, Requests: testsize.Fewer(80), Equipments: someEquipments(seed, 30), Churn: platformtest.Churn{Updates: 0.01}})
			r.sync(Options{})
			changed := map[string]bool{}
			for range 6 {
				r.platform.SetChurn(platformtest.Churn{Inserts: d.Float64(), Updates: 2 * d.Float64(), Removals: d.Float64(), Conversions: d.Float64(), Restores: d.Float64()})
				r.clock.advance(time.Duration(d.IntN(90)) * time.Hour)
				before := r.martRows()
				if d.IntN(3) == 0 {
					r.cutOff(d.IntN(4))
					if got := r.martRows(); !reflect.DeepEqual(before, got) {
						t.Fatal("a run that was cut off changed the marts")
					}
				}
				_, _ = r.engine.Sync(t.Context(), Options{Streams: Streams(), Full: d.IntN(2) == 0, AcceptDeletions: true, Trigger: store.TriggerManual})
				for name, rows := range r.martRows() {
					changed[name] = changed[name] || !reflect.DeepEqual(before[name], rows)
				}
				r.mustEqualRebuilt()
				r.reconcile()
			}
			for name := range r.martRows() {
				if !changed[name] {
					t.Errorf("%s never changed: that proves little", name)
				}
			}
		})
	}
}

// cutOff syncs until some slices are committed, and stops there. What they changed is on file, and the marts do not know.
func (r *rig) cutOff(slices int) {
	ctx, cancel := context.WithCancel(r.t.Context())
	defer cancel()
	r.engine.Progress = func(Progress) {
		if slices--; slices < 0 {
			cancel()
		}
	}
	defer func() { r.engine.Progress = nil }()
	_, _ = r.engine.Sync(ctx, Options{Streams: Streams(), Full: true, Trigger: store.TriggerManual})
	if n := r.value("SELECT count(*) FROM _runs WHERE outcome = 'interrupted'"); n == int64(0) {
		r.t.Error("no run was interrupted")
	}
}

// The row of each stream says how far it can be trusted: how much of a first load is done, then how old it is, and what became of it last.
func TestFreshness(t *testing.T) {
	t.Parallel()
	r := newRig(t, platformtest.Options{Seed: 2, Requests: 300, Equipments: someEquipments(2, 30)})
	fresh := func() [][]any {
		return r.query("SELECT stream, coalesce(initial_load_percent > 0 AND initial_load_percent <= 100, 'done'), age_hours, last_outcome FROM bi_freshness ORDER BY 1")
	}
	r.engine.Paging.Limit = 20
	r.cutOff(6)
	loading := 0
	for _, row := range fresh() {
		if row[1] == int64(1) {
			loading++
		}
	}
	if loading == 0 {
		t.Errorf("no stream says how much of its first load is done: %v; %v", fresh(), r.query("SELECT stream, pass, state, records, expected FROM _windows"))
	}
	if n := r.value("SELECT count(*) FROM bi_requests"); n != int64(0) {
		t.Errorf("%v rows in bi_requests before the first load is done", n)
	}
	r.sync(Options{})
	if d := diff([][]any{{"budgets", "done", 0.0, "ok"}, {"equipments", "done", 0.0, "ok"}, {"orders", "done", 0.0, "ok"}}, fresh()); d != "" {
		t.Error(d)
	}
	r.clock.advance(3 * time.Hour)
	orders, _ := ParseStreams([]string{"orders"})
	r.sync(Options{Streams: orders})
	if d := diff([][]any{{"budgets", "done", 3.0, "ok"}, {"equipments", "done", 3.0, "ok"}, {"orders", "done", 0.0, "ok"}}, fresh()); d != "" {
		t.Error(d)
	}
}
