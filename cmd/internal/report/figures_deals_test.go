package report

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func (c comparison) checkFunnel(t *testing.T) {
	months := c.who()
	if c.r.Since != "" {
		months += " AND cohort_month >= '" + c.r.Since[:7] + "'"
	}
	if c.r.Until != "" {
		months += " AND cohort_month <= '" + c.r.Until[:7] + "'"
	}
	if c.empty(t, "funnel", "SELECT '', 1 FROM bi_funnel WHERE "+months) {
		return
	}
	const figures = "sum(budgets), sum(won), sum(lost), sum(open), sum(cancelled), 1.0 * sum(won) / sum(budgets)"
	mature := c.mature(t)
	old := "(SELECT *, cohort_month AS month FROM bi_funnel WHERE " + months + " AND cohort_month <= '" + mature + "')"
	young := "(SELECT *, cohort_month AS month FROM bi_funnel WHERE " + months + " AND cohort_month > '" + mature + "')"
	index := 0
	all := c
	if len(askAny(t, c.db, "SELECT '', 1 FROM "+old)) > 0 {
		c.last = min(c.last, mature)
		c.byMonth(t, "funnel", 0, old, figures)
		index++
	}
	shown := c.who() + " AND cohort_month BETWEEN '" + c.from[:7] + "' AND '" + min(c.to[:7], mature) + "'" // as the card
	if a := ask(t, c.db, "SELECT '', 1.0 * sum(won) / sum(budgets), sum(won), sum(budgets) FROM bi_funnel WHERE "+shown)[0]; a.numbers[2] > 0 {
		sameRow(t, c.language, c.answer(t, "funnel", c.words.FunnelAnswer)[1:], a.numbers...)
	}
	if len(askAny(t, c.db, "SELECT '', 1 FROM "+young)) > 0 {
		all.byMonth(t, "funnel", index, young, figures)
		index++
	}
	if undated := askAny(t, c.db, "SELECT '', "+figures+" FROM bi_funnel WHERE cohort_month IS NULL AND "+months+" GROUP BY 1"); len(undated) > 0 {
		sameRow(t, c.language, c.sections["funnel"].table(t, index).rows[0], undated[0].numbers...)
	}
	if note := c.sections["funnel"].text; !strings.Contains(note, fmt.Sprintf(" %d d", c.matureDays(t))) {
		t.Errorf("it does not say after how many days a cohort is old enough: %s", note)
	}
}

func (c comparison) matureDays(t *testing.T) int {
	t.Helper()
	list := ask(t, c.db, "SELECT '', days_to_order FROM bi_lead_time WHERE days_to_order IS NOT NULL ORDER BY 2")
	return int(list[(9*len(list)+9)/10-1].numbers[0]) + 1
}

func (c comparison) checkPipeline(t *testing.T) {
	from := "bi_requests AS b JOIN bi_status_duration AS s ON s.request_key = b.request_key AND s.is_open = 1 WHERE b.deal_class = 'open'"
	condition := regexp.MustCompile(`\b(seller_email|state)\b`).ReplaceAllString(c.asked("b.budget_date"), "b.$1")
	query := "SELECT b.deal_status, b.final_value, b.power_kwp, s.days FROM " + from + " AND " + condition
	if c.empty(t, "pipeline", query) {
		return
	}
	type waiting struct {
		deals, value, power, oldest float64
		days                        []float64
	}
	byStatus, all := map[string]*waiting{}, &waiting{}
	for _, a := range ask(t, c.db, query) {
		if byStatus[a.name] == nil {
			byStatus[a.name] = &waiting{}
		}
		for _, w := range []*waiting{byStatus[a.name], all} {
			w.deals++
			w.value, w.power = plus(w.value, a.numbers[0]), plus(w.power, a.numbers[1])
			w.oldest, w.days = max(w.oldest, a.numbers[2]), append(w.days, a.numbers[2])
		}
	}
	rows := c.sections["pipeline"].table(t, 0).rows
	if len(rows) != len(byStatus)+1 {
		t.Errorf("%d lines for %d statuses", len(rows)-1, len(byStatus))
	}
	for _, row := range rows[:len(rows)-1] {
		w := byStatus[row[0]]
		sameRow(t, c.language, append(row[:4:4], row[5]), w.deals, w.value, w.power, w.oldest)
		c.sameMedian(t, row[4], w.days)
	}
	total := rows[len(rows)-1]
	sameRow(t, c.language, append(total[:4:4], total[5]), all.deals, all.value, all.power, all.oldest)
	sameRow(t, c.language, c.answer(t, "pipeline", c.words.PipelineAnswer), all.value, all.deals, all.oldest)
	if c.name == "none" {
		sameRow(t, c.language, total[:4], ask(t, c.db, "SELECT '', sum(deals), sum(value), sum(power_kwp) FROM bi_pipeline")[0].numbers...)
	}
}

// sameMedian compares a median; of fewer than five the cell says so.
func (c comparison) sameMedian(t *testing.T, cell string, of []float64) {
	t.Helper()
	if n := len(of); n > 0 && n < 5 {
		if cell != c.words.TooFew {
			t.Errorf("the median of %d is %s", n, cell)
		}
		return
	}
	sameRow(t, c.language, []string{"median", cell}, median(of))
}

func (c comparison) checkPayments(t *testing.T) {
	waiting := "FROM bi_requests WHERE deal_class = 'won' AND payment_status IS NOT 'received' AND " + c.asked("order_date")
	if c.empty(t, "payments", "SELECT '', 1 "+waiting) {
		return
	}
	rows := c.sections["payments"].table(t, 0).rows
	want := ask(t, c.db, "SELECT coalesce(payment_type, '') || '|' || coalesce(payment_status, '') || '|' || coalesce(min(order_date), ''), count(*), sum(final_value) AS value, julianday('2026-03-10') - julianday(min(order_date)) "+
		waiting+" GROUP BY payment_type, payment_status ORDER BY value DESC, payment_type, payment_status")
	if len(rows) != len(want)+1 {
		t.Fatalf("%d lines, want %d", len(rows)-1, len(want))
	}
	for i, a := range want {
		name := strings.Split(a.name, "|")
		kind := cmp.Or(c.words.PaymentTypes[name[0]], name[0], c.words.NoStatus)
		status := cmp.Or(c.words.PaymentStatuses[name[1]], name[1], c.words.NoStatus)
		if rows[i][0] != kind || rows[i][1] != status || rows[i][4] != c.day(name[2]) {
			t.Errorf("%q, want %s, %s, %s", rows[i], kind, status, name[2])
		}
		sameRow(t, c.language, []string{kind, rows[i][2], rows[i][3], rows[i][5]}, a.numbers...)
	}
	all := ask(t, c.db, "SELECT '', count(*), sum(final_value) "+waiting)[0]
	sameRow(t, c.language, append([]string{"all"}, rows[len(want)][2:4]...), all.numbers...)
	if c.name == "none" {
		sum := ask(t, c.db, "SELECT '', sum(deals), sum(value) FROM bi_payments WHERE payment_status IS NOT 'received'")[0]
		sameRow(t, c.language, append([]string{"all"}, rows[len(want)][2:4]...), sum.numbers...)
	}
	sold := ask(t, c.db, "SELECT '', sum(final_value) FROM bi_requests WHERE deal_class = 'won' AND "+c.asked("order_date"))[0]
	gaps := c.answer(t, "payments", c.words.PaymentsAnswer)
	sameRow(t, c.language, gaps[:4], all.numbers[1], all.numbers[0], all.numbers[1]/sold.numbers[0])
	of := c.words.OfAllOrders
	switch {
	case c.r.Since != "":
		of = fmt.Sprintf(c.words.OfSoldBetween, c.day(c.from), c.day(c.to))
	case c.r.Until != "":
		of = fmt.Sprintf(c.words.OfSoldUpTo, c.day(c.to))
	}
	if gaps[4] != of {
		t.Errorf("the share is that %s, want %s", gaps[4], of)
	}
}

// day writes a day as the language does.
func (c comparison) day(day string) string {
	switch {
	case day == "":
		return unknown
	case c.language == "pt":
		return day[8:] + "/" + day[5:7] + "/" + day[:4]
	}
	return day
}

// median is worked out here in the plain way.
func median(list []float64) float64 {
	if len(list) == 0 {
		return math.NaN()
	}
	slices.Sort(list)
	return (list[(len(list)-1)/2] + list[len(list)/2]) / 2
}

func (c comparison) checkStatus(t *testing.T) {
	type key struct {
		order  bool
		status string
	}
	condition := c.who()
	if c.r.Since != "" {
		condition += " AND (is_open = 1 OR datetime(ended_at, '-3 hours') >= '" + c.r.Since + "')"
	}
	if c.r.Until != "" {
		condition += " AND (is_open = 1 OR date(ended_at, '-3 hours') <= '" + c.r.Until + "')"
	}
	query := "SELECT deal_status, request_type = 'order', is_open, is_inferred, days FROM bi_status_duration WHERE " + condition
	if c.empty(t, "status", query) {
		return
	}
	open, ended, unobserved := map[key][]float64{}, map[key][]float64{}, map[key]float64{}
	for _, a := range ask(t, c.db, query) {
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
		k := key{row[1] == c.words.Order, row[0]}
		seen += len(open[k]) + len(ended[k])
		sameRow(t, c.language, []string{row[0], row[2], row[4], row[6]}, float64(len(open[k])), float64(len(ended[k])), unobserved[k])
		c.sameMedian(t, row[3], open[k])
		c.sameMedian(t, row[5], ended[k])
	}
	if all := len(ask(t, c.db, query)); seen != all {
		t.Errorf("the lines are about %d stays of %d", seen, all)
	}
	for i, days := range []string{"days_to_order", "days_to_billing", "days_in_all"} {
		var list []float64
		for _, a := range askAny(t, c.db, "SELECT '', "+days+" FROM bi_lead_time WHERE "+days+" IS NOT NULL AND "+c.within(c.from, c.to)) {
			list = append(list, a.numbers[0])
		}
		row := c.sections["status"].table(t, 1).rows[i]
		sameRow(t, c.language, row[:2], float64(len(list)))
		c.sameMedian(t, row[2], list)
	}
}
