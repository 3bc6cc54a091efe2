package main

import (
	"bytes"
	"errors"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"solarmirror/store"
	"solarmirror/sync/pull"
	"solarmirror/sync/scan"
)

func TestDialectInWords(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		dialect string
		want    string
	}{
		{"nothing yet", "", "not found yet; the first sync asks"},
		{"the usual", pull.Dialect{Numbering: scan.Numbering{First: 1, Known: true, Limit: 50, Envelope: "items"}}.String(), "first page 1, page limit 50, envelope items"},
		{"empty lists only", pull.Dialect{Numbering: scan.Numbering{First: 1, Limit: 50}}.String(), "first page not known yet, page limit 50"},
		{"everything odd", pull.Dialect{
			Numbering: scan.Numbering{Known: true, Limit: 7, Envelope: "array"},
			Streams: map[string]pull.Traits{
				"orders": {IgnoresDates: true, Sizes: scan.SizesOne}, "budgets": {ForeignTotals: true}, "equipments": {IgnoresDates: true},
			},
		}.String(), "first page 0, page limit 7, envelope array, dates ignored for orders, equipments, totals not used for budgets, pages of one size for orders"},
	} {
		if got := dialectOf(store.Meta{Dialect: tc.dialect}).String(); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestStatusPutsNewFieldsFirst(t *testing.T) {
	t.Parallel()
	p := newTestPatient(t)
	makeMirror(t, p, func(m *store.Mirror) error {
		tx, err := m.Begin(t.Context())
		if err != nil {
			return err
		}
		return errors.Join(
			tx.Drift("budgets", []store.Drift{{Path: "/finalValue", Kind: "type", Occurrences: 3}, {Path: "/profitMargin", Kind: "unknown", Occurrences: 5}}),
			tx.Drift("orders", []store.Drift{{Path: "/structure", Kind: "shape", Occurrences: 2}, {Path: "/totalValue", Kind: "unknown", Occurrences: 7}}),
			tx.Commit())
	})
	p.gather(t.Context())
	s, err := readStatus(t.Context(), p.mirror, doctorTime)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, d := range s.Drift {
		paths = append(paths, d.Path)
	}
	if d := cmp.Diff([]string{"/profitMargin", "/totalValue", "/finalValue", "/structure"}, paths); d != "" {
		t.Error(d)
	}
	var out bytes.Buffer
	if err := newApp(nil, &out, nil).printStatus(s, false); err != nil {
		t.Fatal(err)
	}
	inOrder := regexp.MustCompile(`(?s)Fields the platform sends that no column holds yet: kept in extra\n.*/profitMargin +5 .*/totalValue +7 .*` +
		`Values of another type or shape than documented.*/finalValue +type +3 .*/structure +shape +2 `)
	if !inOrder.Match(out.Bytes()) {
		t.Errorf("printed:\n%s", &out)
	}
}
