package report

import (
	"fmt"
	"html"
	"math"
	"regexp"
	"strings"
	"testing"
)

func (c comparison) checkCards(t *testing.T) {
	found := cards.FindAllStringSubmatch(html.UnescapeString(c.page), -1)
	span := func(from, to string) answer {
		orders, lines := c.within(from, to), c.within(from, to)
		return ask(t, c.db, fmt.Sprintf(`SELECT '', `+wonValue+`, `+wonOrders+`, `+wonPower+`, `+perWp+`,
			(SELECT `+rateOf+` FROM bi_items WHERE deal_class = 'won' AND %s), avg(final_value) FILTER (WHERE deal_class = 'won'),
			(SELECT 1.0 * sum(won) / sum(budgets) FROM bi_funnel WHERE %s AND cohort_month BETWEEN '%s' AND '%s') FROM bi_requests WHERE %s`,
			lines, c.who(), from[:7], c.matureUpTo(t, from, to), orders))[0]
	}
	now, before := span(c.from, c.to), span(c.before, c.beforeTo)
	if len(found) != 7 {
		t.Fatalf("%d cards, want 7", len(found))
	}
	c.checkSparks(t)
	c.checkRunning(t)
	firstOrder := askAny(t, c.db, "SELECT min(order_date) FROM bi_requests WHERE is_order = 1 AND "+c.who())[0].name
	firstCohort := askAny(t, c.db, "SELECT min(cohort_month) FROM bi_funnel WHERE "+c.who())[0].name
	for i, card := range found {
		sameRow(t, c.language, card[1:3], now.numbers[i])
		comparable := firstOrder <= c.before
		if i == 6 {
			comparable = firstCohort <= c.before[:7]
		}
		then, this := before.numbers[i], now.numbers[i]
		if !comparable || math.IsNaN(then) || math.IsNaN(this) {
			if card[3] != c.words.NoComparison {
				t.Errorf("%s is compared (%s), though it cannot be", card[1], card[3])
			}
			continue
		}
		change, old, _ := strings.Cut(card[3], c.words.Before)
		sameRow(t, c.language, []string{card[1], old}, then)
		change = strings.TrimSpace(change)
		if then == 0 && i != 4 && i != 6 {
			if change != "" {
				t.Errorf("%s is compared with zero: %s", card[1], card[3])
			}
			continue
		}
		want := this/then - 1
		if i == 4 || i == 6 { // differences in percentage points
			want = this - then
			change = strings.Replace(change, c.words.Points, "%", 1)
		}
		sameRow(t, c.language, []string{card[1], strings.Replace(change, "+", "", 1)}, want)
	}
}

// checkRunning compares what the first card says of the running month.
func (c comparison) checkRunning(t *testing.T) {
	t.Helper()
	said := regexp.MustCompile(`<dt>` + c.words.CardValue + `</dt>.*<dd class="change">.*</dd><dd class="change">(?:mar/2026 \(até dia 10\)|Mar.2026 \(to day 10\)): ([^ <]*), ([^<]*)</dd>`).FindStringSubmatch(c.page)
	if running := c.to == "2026-03-10"; !running || said == nil {
		if running || said != nil {
			t.Errorf("the running month is %q", said)
		}
		return
	}
	now := ask(t, c.db, "SELECT '', "+wonValue+" FROM bi_requests WHERE "+c.within("2026-03-01", "2026-03-10"))[0].numbers
	sameRow(t, c.language, said[:2], now...)
	before := ask(t, c.db, "SELECT '', "+wonValue+" FROM bi_requests WHERE "+c.within("2025-03-01", "2025-03-10"))[0].numbers
	if change, old, found := strings.Cut(said[2], c.words.Before); found {
		sameRow(t, c.language, []string{"a year earlier", old}, before...)
		if before[0] > 0 {
			sameRow(t, c.language, []string{"change", strings.TrimSpace(strings.Replace(change, "+", "", 1))}, now[0]/before[0]-1)
		}
	}
}

// checkSparks compares what the lines of the cards say: their highest, lowest and last month.
func (c comparison) checkSparks(t *testing.T) {
	t.Helper()
	last := c.to[:7]
	first := ask(t, c.db, "SELECT strftime('%Y-%m', '"+last+"-01', '-11 months'), 0")[0].name
	where := " WHERE " + c.who() + " AND order_date BETWEEN '" + first + "-01' AND '" + c.to + "'"
	byMonth := func(query string) map[string][]float64 {
		months := map[string][]float64{}
		for _, a := range askAny(t, c.db, query+" GROUP BY 1") {
			months[a.name] = a.numbers
		}
		return months
	}
	orders := byMonth("SELECT " + orderMonth + ", " + wonValue + ", " + wonOrders + ", " + wonPower + ", " + perWp +
		", avg(final_value) FILTER (WHERE deal_class = 'won') FROM bi_requests" + where + " AND is_order = 1")
	margins := byMonth("SELECT " + orderMonth + ", " + rateOf + " FROM bi_items" + where + " AND deal_class = 'won'")
	cohorts := byMonth("SELECT cohort_month, 1.0 * sum(won) / sum(budgets) FROM bi_funnel WHERE " + c.who() + " AND cohort_month BETWEEN '" + first + "' AND '" + min(last, c.mature(t)) + "'")
	running := c.to == "2026-03-10"
	for i, of := range []struct {
		months map[string][]float64
		column int
		sum    bool // 0 without orders
	}{{orders, 0, true}, {orders, 1, true}, {orders, 2, true}, {orders, 3, false}, {margins, 0, false}, {orders, 4, false}, {cohorts, 0, false}} {
		highest, lowest, latest, known := math.Inf(-1), math.Inf(1), math.NaN(), 0
		seen := false
		for n := range 12 {
			month := ask(t, c.db, fmt.Sprintf("SELECT strftime('%%Y-%%m', '%s-01', '+%d months'), 0", first, n))[0].name
			v := math.NaN()
			if numbers := of.months[month]; numbers != nil {
				seen, v = true, numbers[of.column]
			} else if seen && of.sum {
				v = 0
			}
			if math.IsNaN(v) {
				continue
			}
			latest = v
			if known++; !running || month != last || i == 6 {
				highest, lowest = max(highest, v), min(lowest, v)
			}
		}
		if known < 3 || math.IsInf(highest, 0) {
			continue // too few for a line
		}
		name := []string{c.words.CardValue, c.words.CardOrders, c.words.CardPower, c.words.CardPrice, c.words.CardMargin, c.words.CardTicket, c.words.CardConversion}[i]
		said := regexp.MustCompile(`<svg class="spark"[^>]*><title>` + regexp.QuoteMeta(name) + `</title><desc>[^:]*: [^,]*, (\S+); [^:]*: [^,]*, (\S+); [^:]*: [^,]*, (\S+)\.[ <]`).FindStringSubmatch(html.UnescapeString(c.page))
		if said == nil {
			t.Errorf("%s has no line", name)
			continue
		}
		said[0] = name + ": highest, lowest and last month"
		sameRow(t, c.language, said, highest, lowest, latest)
	}
}

// matureUpTo is the last month of a span whose cohort is old enough, a year earlier for an earlier
// span.
func (c comparison) matureUpTo(t *testing.T, from, to string) string {
	month := min(c.to[:7], c.mature(t))
	if from == c.before {
		return fmt.Sprintf("%04d%s", int(month[3]-'0')+2020-1, month[4:])
	}
	return month
}

// mature is the last month that ended nine of ten times days_to_order ago.
func (c comparison) mature(t *testing.T) string {
	t.Helper()
	return ask(t, c.db, fmt.Sprintf("SELECT strftime('%%Y-%%m', '2026-03-10', '-%d days', 'start of month', '-1 day'), 0", c.matureDays(t)))[0].name
}
