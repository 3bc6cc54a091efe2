package pull

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"solarmirror/store"
	"solarmirror/store/testsize"
	"solarmirror/sync/platform/platformtest"
	"solarmirror/sync/scan"
)

// A platform whose pages cannot be trusted is noticed every time: every stream fails and says what was seen, no watermark moves, and the
// number of requests is bounded.
func TestUntrustworthyPagesAreNoticed(t *testing.T) {
	t.Parallel()
	for _, c := range testsize.Some([]struct {
		name    string
		dialect platformtest.Dialect
		noticed func(error) bool
	}{
		{"random order", platformtest.Dialect{Cap: 20, Order: platformtest.OrderRandom}, isUnstable},
		{"random order, cap 10", platformtest.Dialect{Order: platformtest.OrderRandom, Cap: 10}, isUnstable},
		{"random order, no totals", platformtest.Dialect{Cap: 20, Order: platformtest.OrderRandom, Total: platformtest.TotalAbsent}, isUnstable},
		{"page numbers ignored", platformtest.Dialect{Cap: 20, Pages: platformtest.PagesIgnored}, as[*scan.RepeatedPageError]},
		{"page numbers ignored, no totals", platformtest.Dialect{Cap: 20, Pages: platformtest.PagesIgnored, Total: platformtest.TotalAbsent}, as[*scan.RepeatedPageError]},
		{"page numbers ignored, a bare array", platformtest.Dialect{Cap: 20, Pages: platformtest.PagesIgnored, Envelope: platformtest.EnvelopeArray, FirstPage: platformtest.FirstPageZero}, as[*scan.RepeatedPageError]},
	}) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n := max(1, *seeds/40)
			for seed := range uint64(n) {
				r := newRig(t, platformtest.Options{Seed: seed, Requests: 300, Equipments: fewItems(), Dialect: c.dialect})
				report, err := r.trySync(Options{})
				if err == nil || report.Outcome != store.Failed {
					t.Fatalf("seed %d: outcome %s, %v", seed, report.Outcome, err)
				}
				for _, s := range report.Streams {
					if !c.noticed(s.Err) {
						t.Errorf("seed %d: %s failed with %v", seed, s.Stream, s.Err)
					}
				}
				if n := r.value("SELECT count(*) FROM _watermarks"); n != int64(0) {
					t.Errorf("seed %d: %v watermarks moved", seed, n)
				}
				limit := c.dialect.Cap
				bound := int64(2 * 3 * 8 * (3*scan.PlannedRequests(300, limit) + 10))
				if served := r.platform.Served(); served > bound {
					t.Errorf("seed %d: %d requests, more than %d", seed, served, bound)
				}
			}
			t.Logf("%-34s noticed in %d of %d syncs, watermarks held", c.name, n, n)
		})
	}
}

func isUnstable(err error) bool { return as[*scan.UnstableError](err) || as[*scan.ChurnError](err) }

// A platform that repeats a page now and then, or sorts what ties in another order each time, is read right or not at all.
func TestShakyPagesAreReadRightOrNotAtAll(t *testing.T) {
	t.Parallel()
	for _, dialect := range testsize.Some([]platformtest.Dialect{
		{Pages: platformtest.PagesRepeat},
		{Pages: platformtest.PagesRepeat, Total: platformtest.TotalAbsent},
		{Order: platformtest.OrderTies},
	}) {
		t.Run(dialect.String(), func(t *testing.T) {
			t.Parallel()
			right, failed := 0, 0
			for seed := range uint64(testsize.Fewer(max(2, *seeds/40))) {
				r := newRig(t, platformtest.Options{Seed: seed, Requests: 200, Equipments: fewItems(), Dialect: dialect})
				report, _ := r.trySync(Options{})
				for i, s := range Streams() {
					if err := report.Streams[i].Err; err == nil {
						right++
						r.mustHoldPresent([]*Stream{s})
					} else if failed++; !isUnstable(err) && !as[*scan.RepeatedPageError](err) {
						t.Errorf("seed %d: %v", seed, err)
					}
				}
			}
			t.Logf("%s: %d streams read right, %d failed and said so", dialect, right, failed)
		})
	}
}

// A platform that ignores dates is found out. Every sync reads it whole, so nothing is missed, and a backfill is refused.
func TestIgnoredFiltersAreNoticed(t *testing.T) {
	t.Parallel()
	r := newRig(t, platformtest.Options{Seed: 8, Requests: 150, Equipments: fewItems(), Dialect: platformtest.Dialect{Filters: platformtest.FiltersIgnored}})
	for range 2 {
		for _, s := range r.sync(Options{}).Streams {
			if !s.Full {
				t.Errorf("%s was not read whole", s.Stream)
			}
		}
		for _, s := range Streams() {
			r.mustHold(s, slices.DeleteFunc(slices.Collect(r.platform.Records(s.Name)), func(rec platformtest.Record) bool { return rec.Removed }))
		}
	}
	if found := r.dialect(); !found.Streams["orders"].IgnoresDates || !found.Streams["budgets"].IgnoresDates || !found.Streams["equipments"].IgnoresDates {
		t.Errorf("found %v", found)
	}
	_, err := r.engine.BackfillWindow(t.Context(), backfillOptions("2024-01-01", "2026-03-10", Month), Stretch{"2024-01-01", "2024-02-01"})
	var ignored *DatesIgnoredError
	if !errors.As(err, &ignored) {
		t.Errorf("the backfill gave %v", err)
	}
	if n := r.value("SELECT count(*) FROM _windows WHERE from_date IS NOT NULL"); n != int64(0) {
		t.Errorf("%s windows were begun", fmt.Sprint(n))
	}
}
