package store

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"solarmirror/schema"
	"solarmirror/store/sqlitefile"
)

func indicesOf(t *testing.T, m *Mirror) (n int) {
	t.Helper()
	missing, err := m.missingIndices(t.Context())
	must(t, err)
	return allIndices() - len(missing)
}

func allIndices() (n int) {
	for _, root := range schema.Roots() {
		root.Walk(func(t *schema.Table) { n += len(t.Indices) })
	}
	return n
}

// A new file gets the indices of its record tables when it is asked for, once, and whatever writes it goes on writing.
func TestIndicesComeAfterTheLoad(t *testing.T) {
	t.Parallel()
	m := openMirror(t, mirrorPath(t))
	_, err := writePage(t.Context(), m, sqlitefile.FormatTime(start), somePage(1, 200))
	must(t, err)
	if n := indicesOf(t, m); n != 0 {
		t.Fatalf("%d indices before the load is over", n)
	}
	must(t, m.MakeIndices(t.Context()))
	if n := indicesOf(t, m); n != allIndices() {
		t.Fatalf("%d indices", n)
	}
	version := func() (n int) {
		must(t, m.conn.GetContext(t.Context(), &n, "PRAGMA schema_version"))
		return n
	}
	before := version()
	must(t, m.MakeIndices(t.Context()))
	_, err = writePage(t.Context(), m, sqlitefile.FormatTime(start), somePage(2, 200))
	must(t, err)
	if version() != before {
		t.Error("the indices were made again")
	}
	soundFile(t, m)
	if plan := planOf(t, m, "SELECT * FROM request_products WHERE product_code = 'x'"); !strings.Contains(plan, "request_products_product_code") {
		t.Errorf("plan %s", plan)
	}
	if plan := planOf(t, m, recordCountSQL(schema.Requests)); strings.Count(plan, "COVERING INDEX") != 2 || !strings.Contains(plan, "requests__deleted_at") {
		t.Errorf("plan %s", plan)
	}
}

// A context that has ended leaves no index half made, and the turn to the next writer.
func TestIndicesAreInterrupted(t *testing.T) {
	t.Parallel()
	m := openMirror(t, mirrorPath(t))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := m.MakeIndices(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	_, err := writePage(t.Context(), m, sqlitefile.FormatTime(start), somePage(1, 5))
	must(t, err)
	must(t, m.MakeIndices(t.Context()))
}

// Opening makes the indices that a finished load lacks, and none while the first reading of anything is to be gone on with.
func TestOpenCatchesUpOnIndices(t *testing.T) {
	t.Parallel()
	path := mirrorPath(t)
	reopened := func(what string, want int, change func(tx *Tx) error) {
		m, err := Open(t.Context(), path, Options{Now: fixedClock})
		must(t, err)
		defer func() { must(t, m.Close()) }()
		if n := indicesOf(t, m); n != want {
			t.Errorf("%s: %d indices, want %d", what, n, want)
		}
		must(t, m.Update(t.Context(), change))
	}
	orders := Window{Stream: "orders", Pass: "live", StartedAt: start}
	reopened("new", 0, func(tx *Tx) error { return tx.SaveWindow(&orders) })
	reopened("first reading begun", 0, func(tx *Tx) error {
		return tx.SetWatermark(Watermark{Stream: "equipments", Pass: "live", Watermark: "2026-03-01"})
	})
	reopened("another stream read", 0, func(tx *Tx) error {
		orders.CompletedAt = start.Add(time.Hour)
		must(t, tx.SaveWindow(&orders))
		return tx.SetWatermark(Watermark{Stream: "orders", Pass: "live", Watermark: "2026-03-01"})
	})
	reopened("read", allIndices(), func(tx *Tx) error {
		_, err := tx.Exec("drop", "DROP INDEX "+schema.Requests.Name+"_code")
		return err
	})
	reopened("read, with one index dropped", allIndices(), func(*Tx) error { return nil })
}
