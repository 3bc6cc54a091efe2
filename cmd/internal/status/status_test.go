package status

import (
	"bytes"
	"database/sql"
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"solarmirror/store"
	"solarmirror/store/dealclass"
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
		if got := DialectOf(store.Meta{Dialect: tc.dialect}).String(); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestNewFieldsComeFirst(t *testing.T) {
	t.Parallel()
	m := newMirror(t)
	tx, err := m.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(
		tx.Drift("budgets", []store.Drift{{Path: "/finalValue", Kind: "type", Occurrences: 3}, {Path: "/profitMargin", Kind: "unknown", Occurrences: 5}}),
		tx.Drift("orders", []store.Drift{{Path: "/structure", Kind: "shape", Occurrences: 2}, {Path: "/totalValue", Kind: "unknown", Occurrences: 7}}),
		tx.Commit()); err != nil {
		t.Fatal(err)
	}
	s, text := readAndPrint(t, m)
	var paths []string
	for _, d := range s.Drift {
		paths = append(paths, d.Path)
	}
	if d := cmp.Diff([]string{"/profitMargin", "/totalValue", "/finalValue", "/structure"}, paths); d != "" {
		t.Error(d)
	}
	inOrder := regexp.MustCompile(`(?s)Fields the platform sends that no column holds yet: kept in extra\n.*/profitMargin +5 .*/totalValue +7 .*` +
		`Values of another type or shape than documented.*/finalValue +type +3 .*/structure +shape +2 `)
	if !inOrder.MatchString(text) {
		t.Errorf("printed:\n%s", text)
	}
}

// TestPendingErasure: status names an erasure that a reader has blocked.
func TestPendingErasure(t *testing.T) {
	t.Parallel()
	for due, want := range map[string]string{
		"NULL":                      "",
		"'2026-05-05 10:20:30.000'": "\nold copies of rows erased at 2026-05-05 10:20 (UTC) may still be in the file: " + FinishErasure + "\n",
	} {
		m := newMirror(t)
		db, err := sql.Open("sqlite", m.Path())
		if err != nil {
			t.Fatal(err)
		}
		_, err = db.ExecContext(t.Context(), "UPDATE _meta SET erasure_due_since = "+due)
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		_, text := readAndPrint(t, m)
		if want == "" && strings.Contains(text, "erased") || !strings.Contains(text, want) {
			t.Errorf("%s:\n%s", due, text)
		}
	}
}

// TestUndecidedStatuses: all of them in JSON, the most frequent in the text, which says nothing without any.
func TestUndecidedStatuses(t *testing.T) {
	t.Parallel()
	m := newMirror(t)
	s, text := readAndPrint(t, m)
	if encoded := asJSON(t, s); strings.Contains(text, "deal statuses") || !strings.Contains(encoded, `"undecided_statuses":[]`) {
		t.Errorf("without deals:\n%s%s", text, encoded)
	}

	db, err := sql.Open("sqlite", m.Path())
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 14)
		INSERT INTO bi_statuses (deal_status, deal_class, deals)
		SELECT CASE WHEN i = 1 THEN 'Sem' || char(27) || ' retorno, "frio"' WHEN i = 2 THEN 'SEM' || char(27) || ' retorno, "frio"' WHEN i = 3 THEN 'Entregue' ELSE 'S' || printf('%02d', i) END, 'won', 1 FROM n`)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	s, text = readAndPrint(t, m)
	want := "\ndeal statuses in no list of [marts], so neither lost, cancelled nor closed: " +
		`"SEM\x1b retorno, \"frio\"" 2, "S04" 1, "S05" 1, "S06" 1, "S07" 1, "S08" 1, "S09" 1, "S10" 1, "S11" 1, "S12" 1 and 2 more` + "\n\n"
	if !strings.Contains(text, want) {
		t.Errorf("no %s in:\n%s", want, text)
	}
	if encoded := asJSON(t, s); !strings.Contains(encoded, `{"status":"S13","deals":1},{"status":"S14","deals":1}]`) || strings.Contains(encoded, "Entregue") {
		t.Error(encoded)
	}
}

func asJSON(t *testing.T, s *Status) string {
	t.Helper()
	var out bytes.Buffer
	if err := s.Print(&out, true); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func newMirror(t *testing.T) *store.Mirror {
	t.Helper()
	m, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "mirror.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func readAndPrint(t *testing.T, m *store.Mirror) (*Status, string) {
	t.Helper()
	s, err := Read(t.Context(), m, dealclass.Default(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := s.Print(&out, false); err != nil {
		t.Fatal(err)
	}
	return s, out.String()
}
