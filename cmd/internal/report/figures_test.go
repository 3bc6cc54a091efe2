package report

import (
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"solarmirror/schema"
)

// The months that the tests' clock makes the last ones.
const (
	firstShown = "2024-04" // of 24
	firstOfTop = "2025-04" // of 12
	lastShown  = "2026-03"
	ofTop      = "deal_class = 'won' AND substr(order_date, 1, 7) BETWEEN '" + firstOfTop + "' AND '" + lastShown + "'"
)

// TestFiguresAreThoseOfTheMarts reads the page's tables as people of each language do, and asks the marts the same.
func TestFiguresAreThoseOfTheMarts(t *testing.T) {
	t.Parallel()
	m := syncedMirror(t)
	for language, l := range languages {
		t.Run(language, func(t *testing.T) {
			page := write(t, m, l)
			c := comparison{language: language, db: database(t, m), cards: cards.FindAllStringSubmatch(page, -1), sections: parse(t, page)}
			t.Run("cards", c.head)
			t.Run("months", c.months)
			t.Run("funnel", c.funnel)
			t.Run("rankings", c.rankings)
			t.Run("manufacturers", c.manufacturers)
			t.Run("status", c.status)
			t.Run("stock", c.stock)
			t.Run("freshness", c.freshness)
		})
	}
}

type comparison struct {
	language string
	db       *sql.DB
	cards    [][]string
	sections map[string]*parsedSection
}

func (c comparison) head(t *testing.T) {
	shown := []string{"the cards"}
	for _, card := range c.cards {
		shown = append(shown, card[2])
	}
	const months = " BETWEEN '" + firstOfTop + "' AND '" + lastShown + "'"
	sameRow(t, c.language, shown, ask(t, c.db, `SELECT '', sum(orders), sum(final_value), sum(power_kwp), (
			SELECT sum(final_value) / sum(power_kwp) / 1000 FROM bi_requests WHERE final_value IS NOT NULL AND power_kwp > 0 AND `+ofTop+`), (
			SELECT 1 - sum(final_value) / sum(original_value) FROM bi_requests WHERE final_value IS NOT NULL AND original_value IS NOT NULL AND `+ofTop+`), (
			SELECT 1.0 * sum(won) / sum(budgets) FROM bi_funnel WHERE cohort_month`+months+`)
		FROM bi_revenue_month WHERE month`+months)[0].numbers...)
}

// byMonth compares a table by month with a query of the same by month, and its last line with one of the total. Months the query does not
// know must be zero in what is added up, and unknown in the rest.
func (c comparison) byMonth(t *testing.T, section string, sums int, query, total string) {
	t.Helper()
	rows := c.sections[section].table(t, 0).rows
	lines := map[string][]string{}
	for _, row := range rows[:len(rows)-1] {
		lines[monthOf(t, row[0], c.language)] = row
	}
	if len(lines) != 24+3 {
		t.Fatalf("%d lines, want 24 months and what is earlier, later and without a date: %v", len(lines), lines)
	}
	var outside [2][]float64 // earlier, later
	for _, a := range ask(t, c.db, query) {
		if a.name != "" && (a.name < firstShown || a.name > lastShown) {
			i := 0
			if a.name > lastShown {
				i = 1
			}
			if outside[i] == nil {
				outside[i] = make([]float64, sums)
			}
			for n := range sums {
				if !math.IsNaN(a.numbers[n]) {
					outside[i][n] += a.numbers[n]
				}
			}
			continue
		}
		if lines[a.name] == nil {
			t.Errorf("month %q is missing", a.name)
			continue
		}
		sameRow(t, c.language, lines[a.name], a.numbers...)
		delete(lines, a.name)
	}
	for i, key := range []string{"<" + firstShown, ">" + lastShown} {
		sameRow(t, c.language, lines[key][:sums+1], outside[i]...)
		delete(lines, key)
	}
	if len(lines) == 0 {
		t.Error("no month is without a sale, so that nothing shows what becomes of one")
	}
	for _, line := range lines {
		sameRow(t, c.language, line[:sums+1], make([]float64, sums)...)
		for _, cell := range line[sums+1:] {
			if cell != unknown {
				t.Errorf("%s without a sale has the ratio %s", line[0], cell)
			}
		}
	}
	last := rows[len(rows)-1]
	sameRow(t, c.language, last[:sums+1], ask(t, c.db, total)[0].numbers...)
}

func (c comparison) months(t *testing.T) {
	c.byMonth(t, "revenue", 3, `SELECT r.month, sum(r.orders), sum(r.final_value), sum(r.power_kwp), (
			SELECT sum(b.final_value) / sum(b.power_kwp) / 1000 FROM bi_requests AS b
			WHERE b.deal_class = 'won' AND b.final_value IS NOT NULL AND b.power_kwp > 0 AND substr(b.order_date, 1, 7) IS r.month)
		FROM bi_revenue_month AS r GROUP BY r.month`,
		"SELECT '', sum(orders), sum(final_value), sum(power_kwp) FROM bi_revenue_month")
	c.byMonth(t, "discounts", 4, `SELECT substr(order_date, 1, 7), sum(original_value), sum(discount), sum(surcharge), sum(final_value),
			1 - sum(CASE WHEN original_value IS NOT NULL THEN final_value END) / sum(CASE WHEN final_value IS NOT NULL THEN original_value END)
		FROM bi_requests WHERE deal_class = 'won' GROUP BY 1`,
		"SELECT '', sum(original_value), sum(discount), sum(surcharge), sum(final_value) FROM bi_discounts WHERE is_order = 1")
}

func (c comparison) funnel(t *testing.T) {
	lines := map[string][]string{}
	rows := c.sections["funnel"].table(t, 0).rows
	for _, row := range rows[:len(rows)-1] {
		lines[monthOf(t, row[0], c.language)] = row
	}
	for _, a := range ask(t, c.db, "SELECT cohort_month, sum(budgets), sum(won), 1.0 * sum(won) / sum(budgets) FROM bi_funnel WHERE cohort_month >= '"+firstShown+"' GROUP BY 1") {
		if lines[a.name] == nil {
			t.Fatalf("month %q is missing", a.name)
		}
		sameRow(t, c.language, lines[a.name], a.numbers...)
	}
	total := ask(t, c.db, "SELECT '', sum(budgets), sum(won), 1.0 * sum(won) / sum(budgets) FROM bi_funnel")[0]
	sameRow(t, c.language, rows[len(rows)-1], total.numbers...)
}

// ranked compares a ranking: ten lines, the others together, and all. The query gives the groups in order, and the names are compared, too.
func (c comparison) ranked(t *testing.T, table parsedTable, query, total string, nameless string) {
	t.Helper()
	want := ask(t, c.db, query)
	top := want
	if len(want) > topRows+1 {
		top = want[:topRows]
	}
	for i, a := range top {
		if a.name == "" {
			a.name = nameless
		}
		if table.rows[i][0] != a.name {
			t.Errorf("line %d is %q, want %q", i+1, table.rows[i][0], a.name)
		}
		sameRow(t, c.language, table.rows[i], a.numbers...)
	}
	last := table.rows[len(table.rows)-1]
	sameRow(t, c.language, last, ask(t, c.db, total)[0].numbers...)
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
	for column := 1; column <= 2; column++ { // orders or pieces, and the value
		others := 0.0
		for _, a := range want[len(top):] {
			if !math.IsNaN(a.numbers[column-1]) {
				others += a.numbers[column-1]
			}
		}
		if got, half := number(t, rest[0][column], c.language); math.Abs(got-others) > half*1.000001 {
			t.Errorf("%s: %s, the marts say %v", rest[0][0], rest[0][column], others)
		}
	}
}

func (c comparison) rankings(t *testing.T) {
	const figures = `count(*), sum(final_value) AS value, sum(final_value) / (SELECT sum(final_value) FROM bi_requests WHERE ` + ofTop + `), sum(power_kwp),
		sum(CASE WHEN power_kwp > 0 THEN final_value END) / sum(CASE WHEN final_value IS NOT NULL THEN power_kwp END) / 1000,
		1 - sum(CASE WHEN original_value IS NOT NULL THEN final_value END) / sum(CASE WHEN final_value IS NOT NULL THEN original_value END)
		FROM bi_requests WHERE ` + ofTop
	nameless := map[string][2]string{"pt": {"(sem estado)", "(sem vendedor)"}, "en": {"(no state)", "(no seller)"}}[c.language]
	total := "SELECT ''," + figures
	c.ranked(t, c.sections["states"].table(t, 0), "SELECT coalesce(freight_state, company_state) AS state, "+figures+" GROUP BY state ORDER BY value DESC", total, nameless[0])
	c.ranked(t, c.sections["sellers"].table(t, 0), "SELECT max(seller_name), "+figures+" GROUP BY seller_email ORDER BY value DESC", total, nameless[1])

	// By state bi_revenue_month says the same.
	state := c.sections["states"].table(t, 0).rows[0]
	sameRow(t, c.language, state[:3], ask(t, c.db, fmt.Sprintf(`SELECT '', sum(orders), sum(final_value) FROM bi_revenue_month
		WHERE month BETWEEN '%s' AND '%s' AND state = '%s'`, firstOfTop, lastShown, state[0]))[0].numbers...)
}

func (c comparison) manufacturers(t *testing.T) {
	for i, kind := range []string{"module", "inverter"} {
		where := " FROM bi_items WHERE " + ofTop + " AND product_type = '" + kind + "'"
		figures := "sum(quantity), sum(total_price) AS value, sum(total_price) / (SELECT sum(total_price)" + where + ")"
		if kind == "module" {
			figures += ", sum(power_kwp)"
		}
		nameless := map[string]string{"pt": "(fora do catálogo)", "en": "(not in the catalogue)"}[c.language]
		c.ranked(t, c.sections["manufacturers"].table(t, i), "SELECT manufacturer, "+figures+where+" GROUP BY manufacturer ORDER BY value DESC",
			"SELECT '', "+figures+where, nameless)
	}
}

// median is worked out here in the plain way.
func median(list []float64) float64 {
	if len(list) == 0 {
		return math.NaN()
	}
	slices.Sort(list)
	return (list[(len(list)-1)/2] + list[len(list)/2]) / 2
}

func (c comparison) status(t *testing.T) {
	order := map[string]string{"pt": "Pedido", "en": "Order"}[c.language]
	type key struct {
		order  bool
		status string
	}
	open, ended, unobserved := map[key][]float64{}, map[key][]float64{}, map[key]float64{}
	for _, a := range ask(t, c.db, "SELECT deal_status, request_type = 'order', is_open, is_inferred, days FROM bi_status_duration") {
		k := key{a.numbers[0] == 1, a.name}
		if a.numbers[1] == 1 {
			open[k] = append(open[k], a.numbers[3])
		} else {
			ended[k] = append(ended[k], a.numbers[3])
			unobserved[k] += a.numbers[2]
		}
	}
	seen := 0
	for _, row := range c.sections["status"].table(t, 0).rows {
		k := key{row[1] == order, row[0]}
		seen += len(open[k]) + len(ended[k])
		sameRow(t, c.language, append([]string{row[0]}, row[2:]...),
			float64(len(open[k])), median(open[k]), float64(len(ended[k])), median(ended[k]), unobserved[k])
	}
	if all := int(ask(t, c.db, "SELECT '', count(*) FROM bi_status_duration")[0].numbers[0]); seen != all {
		t.Errorf("the lines are about %d stays of %d", seen, all)
	}
	for i, days := range []string{"days_to_order", "days_to_billing", "days_in_all"} {
		var list []float64
		for _, a := range ask(t, c.db, "SELECT '', "+days+" FROM bi_lead_time WHERE substr(order_date, 1, 7) BETWEEN '"+firstOfTop+"' AND '"+lastShown+"'") {
			if !math.IsNaN(a.numbers[0]) {
				list = append(list, a.numbers[0])
			}
		}
		sameRow(t, c.language, c.sections["status"].table(t, 1).rows[i], float64(len(list)), median(list))
	}
}

func (c comparison) stock(t *testing.T) {
	classes := make([][2]float64, 6)
	for _, a := range ask(t, c.db, "SELECT '', days_of_cover, current < minimum FROM bi_stock WHERE days_of_cover IS NOT NULL") {
		i, _ := slices.BinarySearch([]float64{0, 15, 30, 60, 90}, a.numbers[0])
		classes[i][0]++
		if a.numbers[1] == 1 {
			classes[i][1]++
		}
	}
	for i, row := range c.sections["stock"].table(t, 0).rows {
		sameRow(t, c.language, row, classes[i][0], classes[i][1])
	}
	for i, ordered := range []string{
		"days_of_cover > 0 ORDER BY days_of_cover, sold_90d DESC, s.product_code, center_code LIMIT 15",
		"days_of_cover = 0 ORDER BY sold_90d DESC, s.product_code, center_code LIMIT 10",
	} {
		want := ask(t, c.db, `SELECT e.name || '|' || s.center_code || '|' || s.product_code, days_of_cover, max(0, current - coalesce(reserved, 0)), minimum, sold_30d, sold_90d
			FROM bi_stock AS s JOIN equipments AS e USING (equipment_key) WHERE `+ordered)
		rows := c.sections["stock"].table(t, 1+i).rows
		if len(rows) != len(want) {
			t.Fatalf("%d lines, want %d", len(rows), len(want))
		}
		for i, row := range rows {
			if got := row[0] + "|" + row[6] + "|" + row[7]; got != want[i].name {
				t.Errorf("line %d is %s, want %s", i+1, got, want[i].name)
			}
			sameRow(t, c.language, row[:6], want[i].numbers...)
		}
	}
}

func (c comparison) freshness(t *testing.T) {
	rows := c.sections["freshness"].table(t, 0).rows
	want := map[string][]string{ // the clock stands at 15:00 UTC, which is noon there
		"pt": {"pedidos", "10/03/2026 12:00", "10/03/2026 12:00", "10/03/2026 12:00", "ok", "0"},
		"en": {"orders", "2026-03-10 12:00", "2026-03-10 12:00", "2026-03-10 12:00", "ok", "0"},
	}[c.language]
	if len(rows) != len(schema.Streams) || !slices.Equal(rows[0], want) {
		t.Errorf("%q, want a line for each stream, of which the first is %q", rows, want)
	}
}
