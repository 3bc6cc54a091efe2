// Package martstest computes the marts a second time, in Go, from the tables of records and
// history, and compares. It shares no code with package marts: what both say alike is what the
// declarations in package schema say.
//
// A table is expected as one [row] per key. Sums of money are added up unrounded, and the mart must
// hold them in whole cents, rounded to the nearest.
package martstest

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/dealclass"
	"solarmirror/store/sqlitefile"
)

// Result is the outcome of [Reconcile].
type Result struct {
	Rows        map[string]int // the rows that were expected, by table
	Differences []string       // the first ones of each table
}

// row is a row by column: nil, a string, an int64, a float64, or an expectation of a number.
type row map[string]any

// cents is an expected number of whole cents, before it is rounded.
type cents float64

// derived is an expected value that follows from other columns of the same row.
type derived func(got row) any

// mart is how a table is computed. Rows with equal values in the columns of group are one row.
type mart struct {
	table *schema.Table
	group []string
	rows  func(*books) map[string]row
}

var marts = []mart{
	{schema.BiRequests, schema.BiRequests.Key, (*books).requestRows},
	{schema.BiItems, schema.BiItems.Key, (*books).itemRows},
	{schema.BiLeadTime, schema.BiLeadTime.Key, (*books).leadTimeRows},
	{schema.BiStatusDuration, schema.BiStatusDuration.Key, (*books).stayRows},
	{schema.BiPriceChanges, schema.BiPriceChanges.Key, (*books).priceChangeRows},
	{schema.Deals, schema.Deals.Key, (*books).dealRows},
	{schema.BiRevenueMonth, []string{"month", "state", "kind"}, (*books).revenueRows},
	{schema.BiRevenueSellerMonth, []string{"month", "seller_email"}, (*books).sellerRevenueRows},
	{schema.BiMargin, []string{"month", "product_type", "manufacturer"}, (*books).marginRows},
	{schema.BiFunnel, []string{"cohort_month", "seller_email", "state"}, (*books).funnelRows},
	{schema.BiPipeline, []string{"seller_email", "state", "deal_status"}, (*books).pipelineRows},
	{schema.BiStatuses, []string{"deal_status", "deal_class"}, (*books).statusRows},
	{schema.BiPayments, []string{"payment_type", "payment_status", "payment_condition", "transaction_status"}, (*books).paymentRows},
	{schema.BiDiscounts, []string{"seller_email", "company_tax_id", "is_order"}, (*books).discountRows},
	{schema.BiSellers, []string{"seller_email"}, (*books).sellerRows},
	{schema.BiCustomers, []string{"company_tax_id"}, (*books).customerRows},
	{schema.BiStock, schema.BiStock.Key, (*books).stockRows},
}

// books are the tables of records, and what was computed from them.
type books struct {
	zone     *time.Location
	lists    dealclass.Lists
	perKWp   float64
	today    string // in zone
	midnight time.Time

	deals  []*deal // all rows of requests, by key
	items  []*item
	byCode map[string]*item // by type and product code
}

// Reconcile compares the marts of a mirror, which were brought up to date today, with the tables of
// records. unit is the unit of totalPower.
func Reconcile(ctx context.Context, m *store.Mirror, unit store.PowerUnit) (Result, error) {
	b := &books{zone: m.Zone(), lists: m.Deals(), perKWp: 1, today: m.Now().In(m.Zone()).Format(time.DateOnly), byCode: map[string]*item{}}
	if unit == store.Wp {
		b.perKWp = 1000
	}
	var err error
	if b.midnight, err = time.ParseInLocation(time.DateOnly, b.today, b.zone); err != nil {
		return Result{}, err
	}
	if err := b.read(ctx, m); err != nil {
		return Result{}, err
	}
	result := Result{Rows: map[string]int{}}
	known := map[*schema.Table]bool{}
	for _, mart := range marts {
		known[mart.table] = true
		got, err := readTable(ctx, m, mart.table)
		if err != nil {
			return Result{}, err
		}
		want := mart.rows(b)
		result.Rows[mart.table.Name] = len(want)
		result.Differences = append(result.Differences, mart.compare(want, got)...)
	}
	for _, t := range schema.Derived() {
		if !known[t] {
			result.Differences = append(result.Differences, "package martstest does not compute "+t.Name)
		}
	}
	return result, nil
}

// readTable reads a whole table. The plus signs keep the driver from converting values.
func readTable(ctx context.Context, m *store.Mirror, t *schema.Table) ([]row, error) {
	rows, err := m.Reader().QueryxContext(ctx, fmt.Sprintf("SELECT +%s FROM %s ORDER BY %s",
		strings.Join(t.ColumnNames(), ", +"), t.Name, strings.Join(append(slices.Clone(t.Key), "1"), ", ")))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []row
	for rows.Next() {
		values, err := rows.SliceScan()
		if err != nil {
			return nil, err
		}
		r := row{}
		for i, c := range t.Columns {
			r[c.Name] = values[i]
		}
		all = append(all, r)
	}
	return all, rows.Err()
}

const mostDifferences = 10 // of a table

func (m mart) compare(want map[string]row, rows []row) (differences []string) {
	differ := func(format string, args ...any) {
		differences = append(differences, m.table.Name+" "+fmt.Sprintf(format, args...))
	}
	left := maps.Clone(want)
	for _, got := range rows {
		key := got.key(m.group)
		expected, ok := left[key]
		delete(left, key)
		if !ok {
			differ("%s: a row too many: %v", key, got)
			continue
		}
		for _, c := range m.table.Columns {
			value, ok := expected[c.Name]
			switch {
			case !ok && !slices.Contains(m.group, c.Name):
				differ("%s: %s is not computed", key, c.Name)
			case ok && !equal(value, got[c.Name], got):
				differ("%s: %s is %v, want %v", key, c.Name, got[c.Name], value)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(left)) {
		differ("%s: missing, want %v", key, left[key])
	}
	return differences[:min(len(differences), mostDifferences)]
}

// key names a row by the columns of its group.
func (r row) key(group []string) string {
	parts := make([]string, len(group))
	for i, column := range group {
		parts[i] = fmt.Sprint(r[column])
	}
	return strings.Join(parts, "|")
}

func equal(want, got any, in row) bool {
	switch want := want.(type) {
	case derived:
		return equal(want(in), got, in)
	case cents:
		x, ok := got.(float64)
		noise := 1e-6 + 1e-15*math.Abs(x) // of adding up in another order
		return ok && math.Abs(x-float64(want)) < 0.005+noise && math.Abs(x-math.Round(100*x)/100) < noise
	case float64:
		x, ok := got.(float64)
		return ok && math.Abs(x-want) < 1e-6+1e-9*math.Abs(want) // marts round to a millionth
	case int:
		return got == int64(want)
	default:
		return want == got
	}
}

// text returns a text, "" for NULL.
func (r row) text(column string) string {
	s, _ := r[column].(string)
	return s
}

// given returns a text, nil for NULL and "".
func (r row) given(column string) any {
	if s := r.text(column); s != "" {
		return s
	}
	return nil
}

// number returns a number, and whether there is one.
func (r row) number(column string) (float64, bool) {
	switch v := r[column].(type) {
	case float64:
		return v, true
	case int64:
		return float64(v), true
	}
	return 0, false
}

// flag returns a BOOLEAN.
func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// sum adds up the numbers that are known. Of none it is NULL.
type sum struct {
	of    float64
	known bool
}

func (s *sum) add(r row, column string) {
	if v, ok := r.number(column); ok {
		s.of, s.known = s.of+v, true
	}
}

func (s *sum) money() any {
	if !s.known {
		return nil
	}
	return cents(s.of)
}

func (s *sum) exact() any {
	if !s.known {
		return nil
	}
	return s.of
}

// median returns the middle of some numbers, or nil.
func median(list []float64) any {
	if len(list) == 0 {
		return nil
	}
	slices.Sort(list)
	return (list[(len(list)-1)/2] + list[len(list)/2]) / 2
}

// day returns the day of a TIMESTAMP in the zone, or nil.
func (b *books) day(timestamp string) any {
	at, err := sqlitefile.ParseTime(timestamp)
	if err != nil {
		return nil
	}
	return at.In(b.zone).Format(time.DateOnly)
}

// month returns the month of a day, or nil.
func month(day any) any {
	if day, ok := day.(string); ok {
		return day[:len("2006-01")]
	}
	return nil
}

// days returns the time between two TIMESTAMPs, or nil.
func days(from, to string) any {
	a, errA := sqlitefile.ParseTime(from)
	b, errB := sqlitefile.ParseTime(to)
	if errA != nil || errB != nil {
		return nil
	}
	return b.Sub(a).Hours() / 24
}

// calendarDays returns the number of days between two DATEs, or nil.
func calendarDays(from, to any) any {
	a, errA := time.Parse(time.DateOnly, fmt.Sprint(from))
	b, errB := time.Parse(time.DateOnly, fmt.Sprint(to))
	if errA != nil || errB != nil {
		return nil
	}
	return int64(b.Sub(a).Hours() / 24)
}
