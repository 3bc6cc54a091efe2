package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"solarmirror/schema"
)

func (c comparison) checkPrices(t *testing.T) {
	from, to := "2025-12-11", "2026-03-10" // 90 days
	if c.r.Since != "" {
		from = c.r.Since
	}
	if c.r.Until != "" && c.r.Until < to {
		to = c.r.Until
		if c.r.Since == "" {
			from = "2025-09-22" // 90 days before 20 December
		}
	}
	changes := "FROM bi_price_changes AS p JOIN equipments AS e USING (equipment_key) WHERE is_first = 0 AND datetime(changed_at, '-3 hours') BETWEEN '" + from + "' AND '" + to + " 24'"
	if c.empty(t, "prices", "SELECT '', 1 "+changes) {
		return
	}
	want := ask(t, c.db, `SELECT e.name || '|' || p.product_code || '|' || price_name || '|' || date(changed_at, '-3 hours'), old_value, new_value, change `+changes+`
		ORDER BY abs(change) DESC NULLS LAST, p.product_code, price_name, changed_at`)
	a := ask(t, c.db, "SELECT '', total(change > 0), total(change < 0), count(*) "+changes)[0]
	sameRow(t, c.language, c.answer(t, "prices", c.words.PricesAnswer), a.numbers...)
	rows := c.sections["prices"].table(t, 0).rows
	if len(rows) != min(12, len(want)) {
		t.Fatalf("%d lines of %d", len(rows), len(want))
	}
	for i, row := range rows {
		name := strings.Split(want[i].name, "|")
		which := map[string]string{"base_price": c.words.SalesPrice, "cost_price": c.words.CostPrice}[name[2]]
		if row[0] != name[0] || row[1] != name[1] || row[2] != which || row[6] != c.day(name[3]) {
			t.Errorf("line %d is %q, want %q", i, row, want[i].name)
		}
		sameRow(t, c.language, []string{row[0], row[3], row[4], strings.NewReplacer("+", "", "−", "-").Replace(row[5])}, want[i].numbers...)
	}
	c.says(t, "prices", len(want)-len(rows))
}

// says checks the line that tells how many lines a list leaves out.
func (c comparison) says(t *testing.T, section string, more int) {
	t.Helper()
	if more > 0 && !strings.Contains(c.sections[section].text, fmt.Sprintf(c.words.More, fmt.Sprint(more))) {
		t.Errorf("%s does not say that %d more are left out", section, more)
	}
}

func (c comparison) checkStock(t *testing.T) {
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
	out, soon := classes[0][0], classes[1][0]+classes[2][0]
	sameRow(t, c.language, c.answer(t, "stock", c.words.StockAnswer), out, soon)
	for i, list := range []struct {
		rule string
		all  float64
	}{{"days_of_cover = 0", out}, {"days_of_cover > 0 AND days_of_cover <= 30", soon}} {
		want := ask(t, c.db, `SELECT e.name || '|' || s.center_code || '|' || s.product_code, days_of_cover, max(0, current - coalesce(reserved, 0)), minimum, sold_30d, sold_90d
			FROM bi_stock AS s JOIN equipments AS e USING (equipment_key) WHERE `+list.rule+` ORDER BY days_of_cover, sold_90d DESC, s.product_code, center_code LIMIT 12`)
		rows := c.sections["stock"].table(t, 1+i).rows
		if len(rows) != len(want) {
			t.Fatalf("%d lines, want %d", len(rows), len(want))
		}
		for i, row := range rows {
			if got := row[0] + "|" + row[1] + "|" + row[7]; got != want[i].name {
				t.Errorf("line %d is %s, want %s", i+1, got, want[i].name)
			}
			sameRow(t, c.language, append([]string{row[0]}, row[2:7]...), want[i].numbers...)
		}
		c.says(t, "stock", int(list.all)-len(rows))
	}
}

func (c comparison) checkFreshness(t *testing.T) {
	rows := c.sections["freshness"].table(t, 0).rows
	want := map[string][]string{ // the clock stands at 15:00 UTC, which is noon there
		"pt": {"pedidos", "10/03/2026 12:00", "10/03/2026 12:00", "10/03/2026 12:00", "ok", "0"},
		"en": {"orders", "2026-03-10 12:00", "2026-03-10 12:00", "2026-03-10 12:00", "ok", "0"},
	}[c.language]
	if len(rows) != len(schema.Streams) || !slices.Equal(rows[0], want) {
		t.Errorf("%q, want a line for each stream, of which the first is %q", rows, want)
	}
}
