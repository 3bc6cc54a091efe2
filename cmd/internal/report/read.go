package report

import (
	"context"
	"io/fs"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"solarmirror/cmd/internal/charts"
	"solarmirror/store"
	"solarmirror/store/publish"
)

// What the report shows of long lists.
const (
	monthsShown   = 24 // of a series, the running month included
	monthsOfTop   = 12 // of cards and rankings
	daysOfChanges = 90 // of price changes
	topRows       = 10 // of a ranking
	listRows      = 12 // of a list of items
)

// figures are everything that the report shows, as read from the marts.
type figures struct {
	scope
	Platform string // host of the platform; "" before the first sync
	Seller   string // name of the seller that the report is restricted to
	Masked   bool   // sellers are pseudonyms
	Built    bool   // the marts exist
	Behind   bool   // records have changed since the marts were updated

	Orders      []group            // by day of the order, see ordersSQL; the restriction's days do not apply
	Lines       []group            // by day of the order, see linesSQL; the restriction's days do not apply
	States      []group            // see ordersSQL
	Sellers     []group            // see ordersSQL; by e-mail address
	SellerNames map[string]string  // by e-mail address
	Makers      map[string][]group // see linesSQL; by product type
	AllMakers   []group            // see linesSQL; of all product types
	Cohorts     []group            // by month, see cohortsSQL; the restriction's days do not apply
	MatureDays  int                // after which a cohort is old enough for its conversion to count
	Pipeline    []queue            // by status
	Payments    []payments
	Stays       []stays
	LeadTimes   [3]leadTime // budget to order, order to billing, budget to billing
	Prices      priceChanges
	Stock       stock
	Streams     []store.Freshness
}

// read reads everything in one snapshot.
func read(ctx context.Context, mirror *store.Mirror, o Options) (*figures, error) {
	r, err := o.Restriction.normalized()
	if err != nil {
		return nil, err
	}
	mode, err := publish.ModeOf(ctx, mirror.Reader(), fs.ModePerm)
	if err != nil {
		return nil, err
	}
	snapshot, err := mirror.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	f := &figures{scope: scope{Restriction: r, zone: o.Zone}, Masked: mode == publish.MaskedMode}
	s := source{snapshot: snapshot}
	s.readState(ctx, f, o)
	s.checkRestriction(ctx, f)
	s.readOrders(ctx, f)
	s.readLines(ctx, f)
	s.readCohorts(ctx, f)
	s.readPipeline(ctx, f)
	s.readPayments(ctx, f)
	s.readStays(ctx, f)
	s.readLeadTimes(ctx, f)
	s.readPriceChanges(ctx, f)
	s.readStock(ctx, f)
	s.readStreams(ctx, f)
	return f, s.err
}

// source is the snapshot and the first error of a query, after which nothing more is read.
type source struct {
	snapshot *store.Snapshot
	err      error
}

// each calls use for every row of a query.
func (s *source) each(ctx context.Context, query string, use func(row), args ...any) {
	if s.err != nil {
		return
	}
	result, err := s.snapshot.Query(ctx, query, args...)
	if err != nil {
		s.err = err
		return
	}
	defer result.Close()
	for values, err := range result.Rows() {
		if err != nil {
			s.err = err
			return
		}
		use(values)
	}
}

// row is one row of a result.
type row []any

// text is "" for NULL. It lacks the marks by which a name turns the words after it around.
func (r row) text(i int) string {
	text, _ := r[i].(string)
	return strings.Map(func(letter rune) rune {
		if unicode.Is(unicode.Bidi_Control, letter) {
			return -1
		}
		return letter
	}, text)
}

// number is Missing for NULL.
func (r row) number(i int) float64 {
	switch v := r[i].(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	}
	return charts.Missing
}

// count is 0 for NULL.
func (r row) count(i int) int64 {
	n, _ := r[i].(int64)
	return n
}

// readState reads what the figures are of. Before there are marts, today is the clock's day.
func (s *source) readState(ctx context.Context, f *figures, o Options) {
	year, month, day := o.Now.In(o.Zone).Date()
	f.today = time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	s.each(ctx, "SELECT as_of FROM _marts", func(r row) {
		if at, err := time.Parse(time.DateOnly, r.text(0)); err == nil {
			f.today, f.Built = at, true
		}
	})
	s.each(ctx, "SELECT EXISTS (SELECT 1 FROM _stale)", func(r row) { f.Behind = f.Built && r.count(0) == 1 })
	s.each(ctx, "SELECT base_url FROM _meta", func(r row) {
		if address, err := url.Parse(r.text(0)); err == nil {
			f.Platform = address.Host
		}
	})
	f.SellerNames = map[string]string{}
	s.each(ctx, "SELECT seller_email, seller_name FROM bi_sellers WHERE seller_name IS NOT NULL", func(r row) {
		f.SellerNames[r.text(0)] = r.text(1)
	})
}

// readStreams reads nothing of a mirror without any run.
func (s *source) readStreams(ctx context.Context, f *figures) {
	if s.err != nil {
		return
	}
	var list []store.Freshness
	list, s.err = s.snapshot.Freshness(ctx)
	if slices.ContainsFunc(list, func(at store.Freshness) bool { return at.LastOutcome != "" || !math.IsNaN(at.Loaded) }) {
		f.Streams = list
	}
}
