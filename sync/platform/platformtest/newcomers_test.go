package platformtest

import (
	"encoding/json"
	"testing"
)

// A created company is the company of later requests, as it was sent; of none that were there before, and never when it was refused.
func TestCreatedCompaniesBuy(t *testing.T) {
	t.Parallel()
	p, server, clock := newPlatform(t, 1, 200)
	before := bought(t, p)
	refused, accepted := validCompany(), validCompany()
	refused["CNPJ"] = "11.222.333/0001-82"
	if status, _ := create(t, server.URL, refused); status != 400 {
		t.Fatalf("status %d", status)
	}
	if status, _ := create(t, server.URL, accepted); status != 200 {
		t.Fatalf("status %d", status)
	}
	created := clock.Now()
	clock.Add(30 * oneDay)
	p.Settle()
	fresh, news := 0, 0
	for id, r := range bought(t, p) {
		if was, known := before[id]; known {
			if r.Company.CNPJ != was.Company.CNPJ {
				t.Errorf("request %s changed hands, from %s to %s", id, was.Company.CNPJ, r.Company.CNPJ)
			}
			continue
		}
		if news++; r.Company.CNPJ != "11.222.333/0001-81" {
			continue
		}
		fresh++
		if c := r.Company; c.MainContact.Email != "ana@example.com" || c.MainContact.Name != "Ana" || c.Address.CEP != "01310-100" || c.Address.Patio != "Avenida Paulista" {
			t.Errorf("request %s comes from %+v", id, c)
		}
		if r.BudgetCreated < created.Format("2006-01-02T15:04:05.000Z") {
			t.Errorf("request %s of %s is older than its company", id, r.BudgetCreated)
		}
	}
	if fresh < news/8 || fresh > news/2 {
		t.Errorf("%d of %d new requests come from the created company, want about a quarter", fresh, news)
	}
	listed := readAll(t, server, "requests/budget", "companyCNPJ=11.222.333/0001-81")
	listed = append(listed, readAll(t, server, "requests/order", "companyCNPJ=11.222.333/0001-81")...)
	for _, removed := range []string{"requests/budget", "requests/order"} {
		listed = append(listed, readAll(t, server, removed, "removed=true&companyCNPJ=11.222.333/0001-81")...)
	}
	if len(listed) != fresh {
		t.Errorf("the filter by CNPJ lists %d requests, want %d", len(listed), fresh)
	}
}

type purchase struct {
	ID            string
	BudgetCreated string
	Company       struct {
		CNPJ        string
		MainContact struct{ Name, Email string }
		Address     struct{ CEP, Patio string }
	}
}

// bought reads all requests by id.
func bought(t *testing.T, p *Platform) map[string]purchase {
	t.Helper()
	all := map[string]purchase{}
	for _, resource := range []string{ResourceOrders, ResourceBudgets} {
		for rec := range p.Records(resource) {
			var r purchase
			if err := json.Unmarshal(rec.JSON, &r); err != nil {
				t.Fatal(err)
			}
			all[r.ID] = r
		}
	}
	return all
}
