package report

import (
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"solarmirror/cmd/internal/charts"
	"solarmirror/cmd/internal/testtools"
	"solarmirror/store"
	"solarmirror/store/marts"
)

// changed is the synced mirror with changes, and marts of them.
func changed(t *testing.T, statements ...string) *store.Mirror {
	t.Helper()
	m := syncedMirror(t)
	change(t, m, append(statements, "DELETE FROM _marts")...)
	must(t, marts.Refresh(t.Context(), m))
	return m
}

// TestFall: days without a sale are compared with those of a year earlier, and no orders are worth 0.
func TestFall(t *testing.T) {
	t.Parallel()
	fallen := writeRestricted(t, syncedMirror(t), charts.Portuguese, Restriction{Since: "2025-12-01", Until: "2025-12-31"})
	allCancelled := write(t, changed(t, "UPDATE requests SET deal_status = 'Cancelado' WHERE request_type = 'order'"), charts.Portuguese)
	for page, want := range map[string]string{fallen: "−100,0% contra ", allCancelled: "contra 0"} {
		found := cards.FindAllStringSubmatch(page, -1)
		if len(found) != 7 {
			t.Fatalf("%d cards, want 7", len(found))
		}
		for _, card := range found[:3] {
			if card[2] != "0" || !strings.HasPrefix(card[3], want) {
				t.Errorf("%s is %s, %s; want 0, %s", card[1], card[2], card[3], want)
			}
		}
		if strings.Contains(page, portuguese.NotCompared[:20]) {
			t.Error("it says that it compares nothing")
		}
	}
	for _, row := range parse(t, allCancelled)["revenue"].table(t, 0).rows {
		if row[1] != "0" || row[2] != "0" || row[5] != "0,0" {
			t.Errorf("no won orders are worth %q", row)
		}
	}
}

// TestSurcharges: prices that went up are above the original, not below it by less than nothing.
func TestSurcharges(t *testing.T) {
	t.Parallel()
	page := write(t, changed(t, "UPDATE requests SET original_value = 0.8 * final_value"), charts.Portuguese)
	if want := "Nos últimos 12 meses, o valor final ficou 25,0% acima do original."; !strings.Contains(page, want) || !strings.Contains(page, "−25,0%") || strings.Contains(page, "-25,0%") {
		t.Errorf("it does not say %q, or has two minus signs", want)
	}
}

// TestSpellings: a state is one however it is spelled, and what is not given is one line.
func TestSpellings(t *testing.T) {
	t.Parallel()
	m := changed(t, "UPDATE request_freights SET address_state = CASE request_key % 4 WHEN 0 THEN 'SP' WHEN 1 THEN 'sp' WHEN 2 THEN 'Sp ' ELSE '' END",
		"UPDATE request_companies SET address_state = CASE WHEN request_key % 8 < 4 THEN 'são paulo' END",
		"UPDATE request_payments SET type = CASE WHEN request_key % 2 = 0 THEN '' END, status = CASE WHEN request_key % 3 = 0 THEN '' END",
		"UPDATE requests SET deal_status = CASE WHEN request_key % 2 = 0 THEN '' END WHERE request_type = 'budget'",
		"UPDATE request_status_history SET deal_status = CASE WHEN request_key % 2 = 0 THEN '' END WHERE request_key IN (SELECT request_key FROM requests WHERE request_type = 'budget')")
	for _, r := range []Restriction{{}, {State: " sP"}, {State: "São Paulo"}} {
		sections := parse(t, writeRestricted(t, m, charts.Portuguese, r))
		for id, table := range map[string]int{"states": 0, "payments": 0, "pipeline": 0} {
			seen := map[string]bool{}
			for _, row := range sections[id].table(t, table).rows {
				name := row[0]
				if id == "payments" {
					name += row[1]
				}
				if folded := strings.ToUpper(strings.TrimSpace(name)); seen[folded] {
					t.Errorf("%+v: %s has %q twice", r, id, row[0])
				} else {
					seen[folded] = true
				}
			}
		}
		if r == (Restriction{}) {
			open := ask(t, database(t, m), "SELECT '', count(*) FROM bi_status_duration WHERE request_type = 'budget' AND coalesce(deal_status, '') = '' AND is_open = 1")[0]
			for _, row := range sections["status"].table(t, 0).rows {
				if row[0] == portuguese.NoStatus && row[1] == portuguese.Budget {
					sameRow(t, "pt", []string{row[0], row[2]}, open.numbers...)
				}
			}
		}
		rows := sections["states"].table(t, 0).rows
		orders := ask(t, database(t, m), "SELECT '', count(*) FROM bi_requests WHERE deal_class = 'won' AND upper(trim(state)) = 'SP' AND order_date BETWEEN '2025-04-01' AND '2026-03-10'")[0]
		if r.State != "São Paulo" && rows[0][0] != "SP" || r.State == " sP" && len(rows) != 2 {
			t.Errorf("%+v: the states are %q", r, rows)
		} else if rows[0][0] == "SP" {
			sameRow(t, "pt", rows[0][:2], orders.numbers...)
		}
	}
}

// TestNames: same names are told apart, and none turns the words around it.
func TestNames(t *testing.T) {
	t.Parallel()
	m := changed(t, "UPDATE requests SET responsible_name = CASE request_key % 4 WHEN 0 THEN 'Ana' WHEN 1 THEN 'Ana' WHEN 2 THEN '\u202eabc\u2066' ELSE 'محمد' END, "+
		"responsible_surname = NULL, responsible_email = 's' || (request_key % 4) || '@example.com'")
	page := write(t, m, charts.Portuguese)
	var names []string
	for _, row := range parse(t, page)["sellers"].table(t, 0).rows {
		names = append(names, row[0])
	}
	for _, want := range []string{"Ana (s0@example.com)", "Ana (s1@example.com)", "abc", "محمد"} {
		if !strings.Contains("|"+strings.Join(names, "|")+"|", "|"+want+"|") {
			t.Errorf("%s is not among the sellers %q", want, names)
		}
	}
	if strings.Contains(page, "\u202e") || strings.Count(page, "\u2068") != strings.Count(page, "\u2069") {
		t.Error("a name turns what follows")
	}
	page = writeRestricted(t, m, charts.Portuguese, Restriction{Seller: "s3@example.com"})
	if !strings.Contains(page, "<h1>Relatório de vendas – \u2068محمد\u2069</h1>") {
		t.Error("the name in the title turns what follows")
	}
}

// TestMaskedNumbers: an order without a seller takes no number.
func TestMaskedNumbers(t *testing.T) {
	t.Parallel()
	m := maskedCopy(t, changed(t, "UPDATE requests SET responsible_email = NULL, responsible_name = NULL, final_value = 1e9 WHERE request_key % 5 = 0"))
	rows := parse(t, write(t, m, charts.Portuguese))["sellers"].table(t, 0).rows
	if rows[0][0] != portuguese.NoSeller || rows[1][0] != "Vendedor 1" {
		t.Errorf("the first sellers are %q and %q", rows[0][0], rows[1][0])
	}
}

// TestFuture: days to come are apart in every table, and wait no negative days.
func TestFuture(t *testing.T) {
	t.Parallel()
	m := changed(t, "UPDATE requests SET order_created = '2026-03-29 12:00:00.000', deal_status = 'Entregue' WHERE request_type = 'order'",
		"UPDATE requests SET budget_created = NULL WHERE request_key % 3 = 0", "UPDATE request_payments SET status = 'requested'")
	sections := parse(t, write(t, m, charts.Portuguese))
	rows := sections["revenue"].table(t, 0).rows
	if row := rows[len(rows)-2]; row[0] != "Depois de 10/03/2026" || row[1] == "0" {
		t.Errorf("the last line is %q", row)
	}
	for _, row := range rows[:len(rows)-2] {
		if row[1] != "0" {
			t.Errorf("orders to come are in %q", row)
		}
	}
	payments := sections["payments"].table(t, 0).rows
	if total := payments[len(payments)-1]; total[5] != "0" {
		t.Errorf("an order to come is %s days old", total[5])
	}
	for _, table := range sections["funnel"].tables[:len(sections["funnel"].tables)-1] {
		for _, row := range table.rows {
			if row[0] == portuguese.Undated {
				t.Errorf("budgets without a date are among %q", table.rows[1])
			}
		}
	}
	for title, r := range map[string]Restriction{
		"até 10/03/2026":          {Until: "2026-06-30"},
		"01/03/2026 a 10/03/2026": {Since: "2026-03-01"},
	} {
		page := writeRestricted(t, m, charts.Portuguese, r)
		if revenue := parse(t, page)["revenue"]; !strings.Contains(page, title+"</h1>") || len(revenue.tables) > 0 {
			t.Errorf("%s: it has orders of later days: %s", title, revenue.text)
		}
	}
}

// TestWidth: long names and large values push nothing off a phone or a sheet of paper.
func TestWidth(t *testing.T) {
	t.Parallel()
	browser := testtools.OpenBrowser(t)
	name := strings.Repeat("Maria Aparecida ", 4) + strings.Repeat("X", 101)
	m := changed(t, "UPDATE requests SET responsible_name = '"+name+"', final_value = 1e6 * final_value, original_value = 1e6 * original_value",
		"UPDATE requests SET deal_status = '"+name+"' WHERE request_type = 'budget'", "UPDATE request_payments SET type = '"+name+"', status = 'requested'")
	file := filepath.Join(t.TempDir(), "report.html")
	must(t, WriteFile(t.Context(), file, m, Options{Language: charts.Portuguese, Zone: saoPaulo(t), Now: now}))
	for _, v := range []testtools.View{{Width: 390, Height: 844}, {Width: 1440, Height: 900}, {Width: paperWidth, Height: 1000, Paper: true}} {
		if sight := browser.Look("report-wide", "file://"+file, v); sight.ContentWidth > v.Width {
			t.Errorf("%d pixels: it is %d wide", v.Width, sight.ContentWidth)
		}
	}
}

// TestSideFiles: an empty file that is no page may be a database's.
func TestSideFiles(t *testing.T) {
	t.Parallel()
	m := syncedMirror(t)
	for name, want := range map[string]string{"mirror.db-wal": "no HTML page", "mirror.db.lock": "no HTML page", "page.htm": "", "page.HTML": ""} {
		path := filepath.Join(t.TempDir(), name)
		must(t, os.WriteFile(path, nil, 0o600))
		err := WriteFile(t.Context(), path, m, Options{Language: charts.English, Zone: saoPaulo(t), Now: now})
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

// TestOneNumber: cards and sentences with the same words have the same figure.
func TestOneNumber(t *testing.T) {
	t.Parallel()
	page := html.UnescapeString(write(t, syncedMirror(t), charts.Portuguese))
	for _, card := range cards.FindAllStringSubmatch(page, -1) {
		switch card[1] {
		case portuguese.CardConversion:
			if want := "Nos últimos 12 meses, " + card[2] + " dos orçamentos"; !strings.Contains(page, want) {
				t.Errorf("the section does not say %q", want)
			}
		case portuguese.CardMargin:
			if want := "Nos últimos 12 meses, a margem foi de " + card[2]; !strings.Contains(page, want) {
				t.Errorf("the section does not say %q", want)
			}
		}
	}
}
