package report

import (
	"strings"
	"testing"

	"solarmirror/cmd/internal/charts"
)

func TestEmptyMirror(t *testing.T) {
	t.Parallel()
	m := emptyMirror(t)
	for language, l := range languages {
		page := write(t, m, l)
		sections := parse(t, page)
		if len(sections) != 9 || strings.Contains(page, "NaN") {
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
