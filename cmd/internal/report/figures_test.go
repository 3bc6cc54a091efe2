package report

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"html"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"solarmirror/store"
	"solarmirror/store/publish"
)

// variant is a restriction, and the days that follow from it and from the tests' clock, worked out
// by hand.
type variant struct {
	name             string
	r                Restriction
	from, to         string // shown
	before, beforeTo string // one year earlier
	first, last      string // months of a series
	masked           bool
}

func variants(t *testing.T, m *store.Mirror) []variant {
	t.Helper()
	db := database(t, m)
	seller := ask(t, db, "SELECT seller_email, count(*) FROM bi_requests WHERE deal_class = 'won' AND seller_email <> 'zoe@example.com' GROUP BY 1 ORDER BY 2 DESC, 1")[0].name
	state := ask(t, db, "SELECT state, count(*) FROM bi_requests WHERE deal_class = 'won' GROUP BY 1 ORDER BY 2 DESC, 1")[0].name
	year := variant{from: "2025-04-01", to: "2026-03-10", before: "2024-04-01", beforeTo: "2025-03-10", first: "2024-04", last: "2026-03"}
	with := func(name string, r Restriction, v variant) variant {
		v.name, v.r = name, r
		return v
	}
	list := []variant{
		with("none", Restriction{}, year),
		with("seller", Restriction{Seller: " " + strings.ToUpper(seller)}, year),
		with("state", Restriction{State: strings.ToLower(state)}, year),
		with("days", Restriction{Since: "2025-08-15", Until: "2026-02-10"}, variant{
			from: "2025-08-15", to: "2026-02-10", before: "2024-08-15", beforeTo: "2025-02-10", first: "2024-03", last: "2026-02",
		}),
		with("until", Restriction{Until: "2025-12-20"}, variant{
			from: "2025-01-01", to: "2025-12-20", before: "2024-01-01", beforeTo: "2024-12-20", first: "2024-01", last: "2025-12",
		}),
		with("all", Restriction{Seller: "zoe@example.com", State: state, Since: "2025-06-01", Until: "2030-01-01"}, variant{
			from: "2025-06-01", to: "2026-03-10", before: "2024-06-01", beforeTo: "2025-03-10", first: "2024-04", last: "2026-03",
		}),
		with("masked", Restriction{}, year),
		with("masked seller", Restriction{Seller: "p_"}, year),
	}
	for i := range list {
		list[i].masked = strings.HasPrefix(list[i].name, "masked")
	}
	return list
}

// maskedCopy publishes a mirror without names.
func maskedCopy(t *testing.T, m *store.Mirror) *store.Mirror {
	t.Helper()
	dir := t.TempDir()
	key, err := publish.EnsurePseudonymKey(context.Background(), filepath.Join(dir, "key"))
	must(t, err)
	path := filepath.Join(dir, "copy.db")
	_, err = publish.Copy(context.Background(), m.Path(), publish.Options{To: path, Mask: &publish.Masking{Key: key}, KeepVersions: 1})
	must(t, err)
	masked, err := store.OpenReadOnly(context.Background(), path)
	must(t, err)
	t.Cleanup(func() { must(t, masked.Close()) })
	return masked
}

// TestFigures reads the page as people of each language do, and asks the marts the same.
func TestFigures(t *testing.T) {
	t.Parallel()
	whole := syncedMirror(t)
	masked := maskedCopy(t, whole)
	for _, v := range variants(t, whole) {
		m := whole
		if v.masked {
			m = masked
		}
		if v.r.Seller == "p_" {
			v.r.Seller = ask(t, database(t, m), "SELECT seller_email, orders FROM bi_sellers WHERE seller_email IS NOT NULL ORDER BY 2 DESC, 1")[0].name
		}
		for language, l := range languages {
			t.Run(v.name+" "+language, func(t *testing.T) {
				page := writeRestricted(t, m, l, v.r)
				c := comparison{variant: v, language: language, words: wordsOf(l), db: database(t, m), page: page, sections: parse(t, page)}
				t.Run("cards", c.checkCards)
				t.Run("revenue", c.checkRevenue)
				t.Run("margin", c.checkMargin)
				t.Run("funnel", c.checkFunnel)
				t.Run("pipeline", c.checkPipeline)
				t.Run("payments", c.checkPayments)
				t.Run("discounts and freight", c.checkReductions)
				t.Run("prices", c.checkPrices)
				t.Run("rankings", c.checkRankings)
				t.Run("status", c.checkStatus)
				t.Run("stock", c.checkStock)
				t.Run("freshness", c.checkFreshness)
			})
		}
	}
}

type comparison struct {
	variant
	language string
	words    words
	db       *sql.DB
	page     string
	sections map[string]*parsedSection
}

// who restricts a query to the seller and the state.
func (c comparison) who() string {
	condition := "true"
	if c.r.Seller != "" {
		condition += " AND seller_email = '" + strings.ToLower(strings.TrimSpace(c.r.Seller)) + "'"
	}
	if c.r.State != "" {
		condition += " AND state = '" + strings.ToUpper(c.r.State) + "'"
	}
	return condition
}

// asked restricts it to the days that were asked for, too.
func (c comparison) asked(column string) string {
	condition := c.who()
	if c.r.Since != "" {
		condition += " AND " + column + " >= '" + c.r.Since + "'"
	}
	if c.r.Since+c.r.Until != "" {
		condition += " AND " + column + " <= '" + c.to + "'"
	}
	return condition
}

// within restricts it to the seller, the state and a span.
func (c comparison) within(from, to string) string {
	return c.who() + " AND order_date BETWEEN '" + from + "' AND '" + to + "'"
}

// answer returns the gaps of the first of the sentences that the answers of a section have.
func (c comparison) answer(t *testing.T, section, format string) []string {
	t.Helper()
	gaps := strings.ReplaceAll(regexp.QuoteMeta(format), "%s", "(.+?)") + "( |$)"
	paragraph := regexp.MustCompile(`(?s)<section id="` + section + `".*?<p class="answer">(.*?)</p>`).FindStringSubmatch(c.page)
	if paragraph == nil {
		t.Fatalf("%s answers nothing", section)
	}
	found := regexp.MustCompile(gaps).FindStringSubmatch(html.UnescapeString(paragraph[1]))
	if found == nil {
		t.Fatalf("%s answers %q, want %q", section, paragraph[1], format)
	}
	for i, gap := range found {
		found[i] = manyThings.ReplaceAllString(gap, "$1")
	}
	return found[:len(found)-1]
}

// manyThings is a number of things, such as "20 pedidos".
var manyThings = regexp.MustCompile(`^([0-9.,]+) \pL+$`)

// empty reports whether a section has nothing to show, as it should when the query gives no row.
func (c comparison) empty(t *testing.T, section, query string) bool {
	t.Helper()
	rows := askAny(t, c.db, query)
	tables := len(c.sections[section].tables)
	if (len(rows) == 0) != (tables == 0) {
		t.Fatalf("%s has %d tables, and the marts have %d rows for it", section, tables, len(rows))
	}
	return len(rows) == 0
}

const (
	wonValue   = "CASE WHEN count(*) FILTER (WHERE deal_class = 'won') > 0 THEN sum(final_value) FILTER (WHERE deal_class = 'won') ELSE 0 END"
	wonPower   = "CASE WHEN count(*) FILTER (WHERE deal_class = 'won') > 0 THEN sum(power_kwp) FILTER (WHERE deal_class = 'won') ELSE 0 END"
	wonOrders  = "count(*) FILTER (WHERE deal_class = 'won')"
	perWp      = "sum(CASE WHEN deal_class = 'won' AND power_kwp > 0 THEN final_value END) / sum(CASE WHEN deal_class = 'won' AND final_value IS NOT NULL AND power_kwp > 0 THEN power_kwp END) / 1000"
	reduced    = "1 - sum(CASE WHEN deal_class = 'won' AND original_value IS NOT NULL THEN final_value END) / sum(CASE WHEN deal_class = 'won' AND final_value IS NOT NULL THEN original_value END)"
	costs      = "quantity * coalesce(cost_at_order, unit_cost)"
	marginOf   = "sum(CASE WHEN net_value IS NOT NULL AND " + costs + " IS NOT NULL THEN net_value - " + costs + " END)"
	netOfCost  = "sum(CASE WHEN " + costs + " IS NOT NULL THEN net_value END)"
	rateOf     = marginOf + " / " + netOfCost
	orderMonth = "CASE WHEN order_date <= '2026-03-10' THEN substr(order_date, 1, 7) WHEN order_date IS NOT NULL THEN '9999' END"
)

// byMonth compares a table by month with the figures of a query by month, and its last line with
// those of all.
func (c comparison) byMonth(t *testing.T, section string, index int, from, figures string) {
	t.Helper()
	first := max(c.first, min(c.last, askAny(t, c.db, "SELECT min(month) FROM "+from)[0].name))
	rows := c.sections[section].table(t, index).rows
	lines := map[string][]string{}
	for _, row := range rows[:len(rows)-1] {
		lines[monthOf(t, row[0], c.language)] = row
	}
	line := fmt.Sprintf("CASE WHEN month IS NULL THEN '' WHEN month < '%[1]s' THEN '<%[1]s' WHEN month > '%[2]s' THEN '>' ELSE month END", first, c.last)
	for _, a := range ask(t, c.db, "SELECT "+line+", "+figures+" FROM "+from+" GROUP BY 1") {
		if lines[a.name] == nil {
			t.Errorf("the line %q is missing", a.name)
			continue
		}
		sameRow(t, c.language, lines[a.name], a.numbers...)
		delete(lines, a.name)
	}
	for month, line := range lines { // without rows
		if month < first || month > c.last {
			t.Errorf("there is a line %q", line)
		}
		for _, cell := range line[1:] {
			if v, _ := number(t, cell, c.language); v != 0 && !math.IsNaN(v) {
				t.Errorf("a month without rows says %q", line)
			}
		}
	}
	sameRow(t, c.language, rows[len(rows)-1], ask(t, c.db, "SELECT '', "+figures+" FROM "+from)[0].numbers...)
}

// orders are the rows of bi_requests that count, with their month.
func (c comparison) orders(conditions string) string {
	return "(SELECT *, " + orderMonth + " AS month FROM bi_requests WHERE " + conditions + " AND " + c.asked("order_date") + ")"
}

func (c comparison) checkRevenue(t *testing.T) {
	from := c.orders("is_order = 1")
	if c.empty(t, "revenue", "SELECT '', 1 FROM "+from) {
		return
	}
	figures := wonOrders + ", " + wonValue + ", count(*) FILTER (WHERE deal_class = 'cancelled'), " +
		"CASE WHEN count(*) FILTER (WHERE deal_class = 'cancelled') > 0 THEN sum(final_value) FILTER (WHERE deal_class = 'cancelled') ELSE 0 END, " +
		wonPower + ", " + perWp
	c.byMonth(t, "revenue", 0, from, figures)
	if c.name == "none" { // the published summary says the same
		rows := c.sections["revenue"].table(t, 0).rows
		sameRow(t, c.language, rows[len(rows)-1][:6], ask(t, c.db,
			"SELECT '', sum(orders), sum(final_value), sum(cancelled_orders), sum(cancelled_value), sum(power_kwp) FROM bi_revenue_month")[0].numbers...)
	}
	month := max(c.to[:8]+"01", c.r.Since)
	gaps := c.answer(t, "revenue", c.words.RevenueAnswer)
	if want := c.to[8:]; c.to[5:7] != "12" && !strings.Contains(gaps[1], want) {
		t.Errorf("%s does not say that the days end on %s", gaps[1], want)
	}
	sameRow(t, c.language, gaps[1:4], ask(t, c.db, "SELECT '', "+wonValue+", "+wonOrders+" FROM bi_requests WHERE is_order = 1 AND "+c.within(month, c.to))[0].numbers...)
	lost := ask(t, c.db, "SELECT '', sum(final_value), count(*), sum(final_value) / (SELECT sum(final_value) FROM bi_requests WHERE is_order = 1 AND "+c.within(c.from, c.to)+
		") FROM bi_requests WHERE deal_class = 'cancelled' AND "+c.within(c.from, c.to))[0].numbers
	if lost[1] > 0 {
		sameRow(t, c.language, c.answer(t, "revenue", c.words.CancelledAnswer)[1:], lost...)
	}
	earlier := fmt.Sprintf("%d%s", int(c.to[3]-'0')+2020-1, c.to[4:])
	if first := ask(t, c.db, "SELECT min(order_date), 0 FROM bi_requests WHERE is_order = 1 AND "+c.who())[0].name; first > earlier[:4]+month[4:] {
		if strings.Contains(c.sections["revenue"].text, c.words.RevenueBefore[:10]) {
			t.Errorf("it is compared with days before the first order, %s", first)
		}
		return
	}
	sameRow(t, c.language, c.answer(t, "revenue", c.words.RevenueBefore), ask(t, c.db,
		"SELECT '', "+wonValue+", "+wonOrders+" FROM bi_requests WHERE is_order = 1 AND "+c.within(earlier[:4]+month[4:], earlier))[0].numbers...)
}

func (c comparison) checkMargin(t *testing.T) {
	from := "(SELECT *, " + orderMonth + " AS month FROM bi_items WHERE deal_class = 'won' AND " + c.asked("order_date") + ")"
	if c.empty(t, "margin", "SELECT '', 1 FROM "+from) {
		return
	}
	figures := "sum(net_value), coalesce(" + netOfCost + ", 0) / sum(net_value), " + marginOf + ", " + rateOf
	c.byMonth(t, "margin", 0, from, figures)
	if c.name == "none" {
		rows := c.sections["margin"].table(t, 0).rows
		sameRow(t, c.language, rows[len(rows)-1], ask(t, c.db,
			"SELECT '', sum(net_value), sum(net_value_with_cost) / sum(net_value), sum(margin), sum(margin) / sum(net_value_with_cost) FROM bi_margin")[0].numbers...)
	}
	of := "bi_items WHERE deal_class = 'won' AND " + c.within(c.from, c.to)
	c.ranked(t, "margin", 1, "SELECT manufacturer, "+figures+" FROM "+of+" GROUP BY 1", 2, figures+" FROM "+of, c.words.NoMaker)
	a := ask(t, c.db, "SELECT '', "+rateOf+", "+marginOf+", coalesce("+netOfCost+", 0) / sum(net_value) FROM "+of)[0]
	sameRow(t, c.language, c.answer(t, "margin", c.words.MarginAnswer)[1:], a.numbers...)
}

func (c comparison) checkReductions(t *testing.T) {
	from := c.orders("is_order = 1")
	if len(askAny(t, c.db, "SELECT '', 1 FROM "+from+" WHERE deal_class = 'won'")) == 0 {
		return
	}
	of := func(column string) string {
		return "CASE WHEN count(*) FILTER (WHERE deal_class = 'won') > 0 THEN sum(" + column + ") FILTER (WHERE deal_class = 'won') ELSE 0 END"
	}
	c.byMonth(t, "discounts", 0, from, strings.Join([]string{of("original_value"), of("discount"), of("surcharge"), of("final_value"), reduced}, ", "))
	const share = "sum(CASE WHEN deal_class = 'won' AND final_value IS NOT NULL THEN freight_price END) / sum(CASE WHEN deal_class = 'won' AND freight_price IS NOT NULL THEN final_value END)"
	c.byMonth(t, "freight", 0, from, strings.Join([]string{of("freight_price"), of("final_value"), share}, ", "))
	for section, a := range map[string]struct{ figure, format string }{"discounts": {reduced, c.words.DiscountsAnswer}, "freight": {share, c.words.FreightAnswer}} {
		want := ask(t, c.db, "SELECT '', "+a.figure+" FROM bi_requests WHERE is_order = 1 AND "+c.within(c.from, c.to))[0]
		if want.numbers[0] < 0 && section == "discounts" {
			a.format, want.numbers[0] = c.words.SurchargesAnswer, -want.numbers[0]
		}
		sameRow(t, c.language, c.answer(t, section, a.format)[1:], want.numbers...)
	}
	if c.name == "none" {
		rows := c.sections["discounts"].table(t, 0).rows
		sameRow(t, c.language, rows[len(rows)-1][:5], ask(t, c.db,
			"SELECT '', sum(original_value), sum(discount), sum(surcharge), sum(final_value) FROM bi_discounts WHERE is_order = 1")[0].numbers...)
		rows = c.sections["freight"].table(t, 0).rows
		sameRow(t, c.language, rows[len(rows)-1][:3], ask(t, c.db, "SELECT '', sum(freight_price), sum(final_value) FROM bi_revenue_month")[0].numbers...)
	}
}

// ranked compares a ranking by one of its figures: ten lines, the others together, and all.
func (c comparison) ranked(t *testing.T, section string, index int, query string, by int, total, nameless string) {
	t.Helper()
	table := c.sections[section].table(t, index)
	want := ask(t, c.db, query)
	slices.SortStableFunc(want, func(a, b answer) int { return -cmp.Compare(a.numbers[by], b.numbers[by]) })
	top := want
	if len(want) > topRows+1 {
		top = want[:topRows]
	}
	for i, a := range top {
		if a.name = cmp.Or(a.name, nameless); nameless != "" && table.rows[i][0] != a.name {
			t.Errorf("line %d is %q, want %q", i+1, table.rows[i][0], a.name)
		}
		sameRow(t, c.language, table.rows[i][:len(a.numbers)+1], a.numbers...)
	}
	all := ask(t, c.db, "SELECT '', "+total)[0].numbers
	sameRow(t, c.language, table.rows[len(table.rows)-1][:len(all)+1], all...)
	rest := table.rows[len(top) : len(table.rows)-1]
	if len(top) == len(want) {
		if len(rest) != 0 {
			t.Errorf("%q: there is nothing else", rest)
		}
		return
	}
	if len(rest) != 1 || !strings.HasSuffix(rest[0][0], fmt.Sprintf("(%d)", len(want)-len(top))) {
		t.Fatalf("%q: want one line for %d others", rest, len(want)-len(top))
	}
	if n := strings.Count(strings.ReplaceAll(c.sections[section].text, "\u00a0", " "), rest[0][0]); n < 3 { // once in each drawing
		t.Errorf("%s stands %d times, not in table and charts alike", rest[0][0], n)
	}
	others := 0.0
	for _, a := range want[len(top):] {
		others = plus(others, a.numbers[by])
	}
	sameRow(t, c.language, []string{"others", rest[0][by+1]}, others)
}

func (c comparison) checkRankings(t *testing.T) {
	of := "FROM bi_requests WHERE deal_class = 'won' AND " + c.within(c.from, c.to)
	all := "(SELECT sum(final_value) " + of + ")"
	figures := "count(*), sum(final_value), sum(final_value) / " + all + ", sum(power_kwp), " + perWp + ", " + reduced
	names := map[string]string{"states": "state", "sellers": "seller_email"}
	for section, column := range names {
		if c.empty(t, section, "SELECT '', 1 "+of) {
			continue
		}
		nameless := c.words.NoState
		if section == "sellers" {
			nameless = "" // compared below
		}
		table := c.sections[section].table(t, 0)
		c.ranked(t, section, 0, "SELECT "+column+", "+figures+" "+of+" GROUP BY 1 ORDER BY 1", 1, figures+" "+of, nameless)
		if section == "states" {
			continue
		}
		first := ask(t, c.db, "SELECT seller_email, sum(final_value) "+of+" GROUP BY 1 ORDER BY 2 DESC")[0].name
		switch shown := table.rows[0]; {
		case c.name == "masked":
			if want := fmt.Sprintf(c.words.SellerNumber, 1); shown[0] != want || shown[7] != first {
				t.Errorf("the first seller is %q, want %s with the code %s", shown, want, first)
			}
		case c.masked:
			if shown[0] != first || !strings.Contains(c.page, "<h1>"+c.words.Title+" – "+first) {
				t.Errorf("the seller is %q, want %s, also in the title", shown, first)
			}
		default:
			name := cmp.Or(ask(t, c.db, "SELECT max(seller_name), 0 FROM bi_sellers WHERE seller_email = '"+first+"'")[0].name, c.words.NoSeller)
			if shown[0] != name {
				t.Errorf("the first seller is %q, want %s", shown, name)
			}
		}
	}
	for i, kind := range []string{"module", "inverter"} {
		of := " FROM bi_items WHERE deal_class = 'won' AND product_type = '" + kind + "' AND " + c.within(c.from, c.to)
		figures := "sum(quantity), sum(total_price), sum(total_price) / (SELECT sum(total_price)" + of + ")"
		if kind == "module" {
			figures += ", sum(power_kwp)"
		}
		if len(askAny(t, c.db, "SELECT '', 1"+of)) == 0 {
			return // one section for both
		}
		c.ranked(t, "manufacturers", i, "SELECT manufacturer, "+figures+of+" GROUP BY 1 ORDER BY 1", 1, figures+of, c.words.NoMaker)
	}
}
