package report

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"solarmirror/cmd/internal/charts"
	"solarmirror/store"
	"solarmirror/store/marts"
)

func TestEmptyMirror(t *testing.T) {
	t.Parallel()
	m := emptyMirror(t)
	for language, l := range languages {
		page := write(t, m, l)
		sections := parse(t, page)
		if len(sections) != 14 || strings.Contains(page, "NaN") {
			t.Errorf("%s: %d sections: %s", language, len(sections), page)
		}
		for id, s := range sections {
			if s.drawings != 0 || id != "freshness" && len(s.tables) != 0 || len(strings.Fields(s.text)) < 5 {
				t.Errorf("%s: %s has %d drawings, %d tables and says %q", language, id, s.drawings, len(s.tables), s.text)
			}
		}
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	m := syncedMirror(t)
	if page := write(t, m, charts.English); strings.Contains(page, `class="warning"`) {
		t.Error("there is a warning of a mirror that lacks nothing")
	}
	change(t, m, "DELETE FROM _watermarks WHERE stream <> 'equipments'",
		"UPDATE _windows SET state = 'running', completed_at = NULL, records = 414, expected = 1000 WHERE stream = 'orders'",
		"UPDATE _windows SET state = 'running', completed_at = NULL, expected = NULL WHERE stream = 'budgets'")
	page := write(t, m, charts.Portuguese)
	for _, want := range []string{"A carga inicial de pedidos ainda não terminou (41%)", "A carga inicial de orçamentos ainda não terminou:"} {
		if !strings.Contains(page, want) {
			t.Errorf("it does not say %q", want)
		}
	}
	if strings.Contains(page, "Dados completos até") {
		t.Error("the data is said to be complete")
	}
	change(t, m, "DELETE FROM _marts")
	if page := write(t, m, charts.English); !strings.Contains(page, "have not been built yet") {
		t.Error("it does not say that there are no marts")
	}
}

// TestNothingForeign: no program, no address of another host, names escaped, no customer.
func TestNothingForeign(t *testing.T) {
	t.Parallel()
	m := syncedMirror(t)
	page := write(t, m, charts.Portuguese)
	for _, refused := range []string{"<script", "https:", "http:", "src=", "@import", "url(", "onload", "ZgotmplZ", "<b>Zo"} {
		if strings.Contains(strings.ReplaceAll(page, "http://www.w3.org/", ""), refused) {
			t.Errorf("it holds %s", refused)
		}
	}
	if !strings.Contains(page, "&lt;b&gt;Zoé&lt;/b&gt; &amp;") {
		t.Error("the seller whose name means something in HTML is not there")
	}
	customers := 0
	for _, column := range []string{"cnpj", "cpf", "fantasy_name", "company_name", "main_contact_email", "main_contact_cellphone"} {
		for _, a := range ask(t, database(t, m), "SELECT DISTINCT "+column+" FROM request_companies WHERE length("+column+") > 5") {
			customers++
			if strings.Contains(page, a.name) {
				t.Errorf("it names the customer %s", a.name)
			}
		}
	}
	if customers < 100 {
		t.Errorf("only %d values of customers were looked for", customers)
	}
}

// TestRestrictionsRefused: an error says what to do, and no page is written.
func TestRestrictionsRefused(t *testing.T) {
	t.Parallel()
	whole := syncedMirror(t)
	masked := maskedCopy(t, whole)
	for want, c := range map[string]struct {
		mirror *store.Mirror
		r      Restriction
	}{
		`--since is "1.2.2026"; write a day as YYYY-MM-DD`:                                   {whole, Restriction{Since: "1.2.2026"}},
		`--until is "2026-02-30"; write a day as YYYY-MM-DD`:                                 {whole, Restriction{Until: "2026-02-30"}},
		`--since 2026-02-02 is after --until 2026-02-01; swap them`:                          {whole, Restriction{Since: "2026-02-02", Until: "2026-02-01"}},
		`--since 2026-03-11 is after 2026-03-10, the last day of the data`:                   {whole, Restriction{Since: "2026-03-11"}},
		`no deal has --seller "a@b.c"; to list them: solarmirror query "SELECT seller_email`: {whole, Restriction{Seller: "A@B.c"}},
		`no deal has --state "XX"; to list them: solarmirror query "SELECT DISTINCT state`:   {whole, Restriction{State: "xx"}},
		`--seller: the sellers of a masked copy are pseudonyms (p_…)`:                        {masked, Restriction{Seller: "zoe@example.com"}},
	} {
		var page bytes.Buffer
		err := Write(t.Context(), &page, c.mirror, Options{Language: charts.English, Zone: saoPaulo(t), Now: now, Restriction: c.r})
		if refused := (*RestrictionError)(nil); !errors.As(err, &refused) || !strings.HasPrefix(err.Error(), want) || page.Len() > 0 {
			t.Errorf("%+v: %v, want %s", c.r, err, want)
		}
	}
}

// TestTitles: the title says what the page is restricted to, and sections without it say so.
func TestTitles(t *testing.T) {
	t.Parallel()
	m := syncedMirror(t)
	state := ask(t, database(t, m), "SELECT state, count(*) FROM bi_requests WHERE seller_email = 'zoe@example.com' GROUP BY 1 ORDER BY 2 DESC")[0].name
	for want, r := range map[string]Restriction{
		"Sales report": {},
		"Sales report – &lt;b&gt;Zoé&lt;/b&gt; &amp; &#39;Cia&#39; – " + state: {Seller: "ZOE@example.com", State: state},
		"Sales report – &lt;b&gt;Zoé&lt;/b&gt; &amp; &#39;Cia&#39;":            {Seller: "zoe@example.com"},
		"Sales report – " + state:                 {State: state},
		"Sales report – 2026-01-01 to 2026-03-10": {Since: "2026-01-01", Until: "2027-01-01"},
		"Sales report – up to 2026-01-31":         {Until: "2026-01-31"},
	} {
		page := writeRestricted(t, m, charts.English, r)
		for _, element := range []string{"title", "h1"} {
			if !strings.Contains(page, "<"+element+">"+want+"</"+element+">") {
				t.Errorf("%+v: the %s is not %s", r, element, want)
			}
		}
		sections := parse(t, page)
		whole := map[string]bool{"stock": r != (Restriction{}), "prices": r.Seller != "" || r.State != ""}
		for id, s := range sections {
			if strings.Contains(s.text, english.Everybodys) != whole[id] {
				t.Errorf("%+v: %s says that it is not restricted, or does not: %s", r, id, s.text)
			}
		}
	}
}

// TestPartialMonths: a month that is not shown whole says which days are, and a running one is hatched.
func TestPartialMonths(t *testing.T) {
	t.Parallel()
	m := syncedMirror(t)
	for want, r := range map[string]Restriction{
		"Mar 2026 (to day 10)":     {},
		"Feb 2026 (days 03 to 27)": {Since: "2026-02-03", Until: "2026-02-27"},
		"Jan 2026 (from day 15)":   {Since: "2026-01-15", Until: "2026-02-28"},
	} {
		page := writeRestricted(t, m, charts.English, r)
		s := parse(t, page)["revenue"]
		found := false
		for _, row := range s.table(t, 0).rows {
			found = found || strings.ReplaceAll(row[0], "\u00a0", " ") == want
		}
		running, cut := r.Until == "", r.Until == "2026-02-27"
		if !found || strings.Contains(s.text, english.Running) != running || strings.Contains(s.text, "not finished yet") != running ||
			strings.Contains(s.text, "up to day 27 only") != cut {
			t.Errorf("%+v: no line %s, or the state of the last month is wrong: %s", r, want, s.text)
		}
	}
}

// TestEmptyStates: what is missing is said in words, with no chart or table about nothing.
func TestEmptyStates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		changes []string
		r       Restriction
		empty   map[string]func(words) string // by section; the others show something
		cards   int
	}{
		{"no orders", []string{"UPDATE requests SET request_type = 'budget' WHERE id NOT IN (SELECT id FROM requests WHERE request_type = 'budget')",
			"DELETE FROM bi_items", "DELETE FROM _marts", "UPDATE requests SET _deleted_at = '2026-01-01 00:00:00.000' WHERE request_type = 'order'"}, Restriction{},
			map[string]func(words) string{
				"revenue": noOrders, "margin": noOrders, "payments": noOrders, "discounts": noOrders, "freight": noOrders,
			}, 0},
		{"no cost", []string{"UPDATE equipments SET cost_price = NULL", "DELETE FROM equipment_price_history", "DELETE FROM _marts"}, Restriction{},
			map[string]func(words) string{"margin": func(w words) string { return w.NoCost }}, 7},
		{"no freight", []string{"DELETE FROM request_freights", "DELETE FROM _marts"}, Restriction{},
			map[string]func(words) string{"freight": func(w words) string { return w.NoFreight }}, 7},
		{"all paid", []string{"UPDATE request_payments SET status = 'received'", "DELETE FROM _marts"}, Restriction{},
			map[string]func(words) string{"payments": func(w words) string { return w.AllPaid }}, 7},
		{"one day without orders", nil, Restriction{Since: "2025-12-07", Until: "2025-12-07"}, map[string]func(words) string{
			"revenue": noOrders, "margin": noOrders, "payments": noOrders, "discounts": noOrders, "freight": noOrders,
		}, 7},
		{"one month", []string{"UPDATE requests SET order_created = '2026-03-04 12:00:00.000' WHERE request_type = 'order'",
			"UPDATE requests SET budget_created = '2026-03-02 12:00:00.000'", "DELETE FROM _marts"}, Restriction{}, nil, 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := syncedMirror(t)
			if len(c.changes) > 0 {
				change(t, m, c.changes...)
				must(t, marts.Refresh(t.Context(), m))
			}
			for language, l := range languages {
				page := writeRestricted(t, m, l, c.r)
				if n := strings.Count(page, "<dt>"); n != c.cards || strings.Contains(page, "NaN") || strings.Contains(page, "%!") {
					t.Errorf("%s: %d cards, want %d; or a number is no number", language, n, c.cards)
				}
				sections := parse(t, page)
				for id, text := range c.empty {
					s := sections[id]
					if want := text(wordsOf(l)); !strings.Contains(s.text, want) || s.drawings+len(s.tables) > 0 {
						t.Errorf("%s: %s says %q with %d drawings, want only %q", language, id, s.text, s.drawings, want)
					}
				}
				for _, id := range []string{"revenue", "margin", "payments", "discounts", "freight"} {
					if c.empty[id] == nil && len(sections[id].tables) == 0 {
						t.Errorf("%s: %s shows nothing: %s", language, id, sections[id].text)
					}
				}
				if c.name != "one month" {
					continue
				}
				if rows := sections["revenue"].table(t, 0).rows; len(rows) != 2 {
					t.Errorf("%s: one month has the lines %q", language, rows)
				}
				for _, card := range cards.FindAllStringSubmatch(page, -1) {
					if card[3] != wordsOf(l).NoComparison {
						t.Errorf("%s: %s is compared with nothing: %s", language, card[1], card[3])
					}
				}
			}
		})
	}
}

func noOrders(w words) string { return w.NoOrders }
