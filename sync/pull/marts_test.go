package pull

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"solarmirror/schema"
	"solarmirror/store"
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
	if err := mirror.RefreshMarts(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	return other.martRows()
}

func (r *rig) mustEqualRebuilt() {
	r.t.Helper()
	want, got := r.rebuilt(), r.martRows()
	for name, rows := range want {
		if d := diff(rows, got[name]); d != "" {
			r.t.Fatalf("%s (-built from nothing +kept in step):\n%s", name, d)
		}
	}
}

// However the platform moves and whichever syncs see it, the marts kept in step hold what building them from nothing gives.
func TestMartsKeepInStep(t *testing.T) {
	t.Parallel()
	for seed := range uint64(max(3, *seeds/10)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			d := rand.New(rand.NewPCG(seed, 7))
			r := newRig(t, platformtest.Options{Seed: seed, Requests: 120, Equipments: someEquipments(seed, 40), Churn: platformtest.Churn{Updates: 0.01}})
			r.sync(Options{})
			changed := 0
			for range 6 {
				r.platform.SetChurn(platformtest.Churn{Inserts: d.Float64(), Updates: 2 * d.Float64(), Removals: d.Float64(), Conversions: d.Float64(), Restores: d.Float64()})
				r.clock.advance(time.Duration(d.IntN(90)) * time.Hour)
				before := r.martRows()
				_, _ = r.engine.Sync(t.Context(), Options{Streams: Streams(), Full: d.IntN(2) == 0, AcceptDeletions: true, Trigger: store.TriggerManual})
				for name, rows := range r.martRows() {
					if diff(before[name], rows) != "" {
						changed++
					}
				}
				r.mustEqualRebuilt()
			}
			if changed < 20 {
				t.Errorf("only %d changes of a mart: that proves little", changed)
			}
		})
	}
}
