package platformtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// validCompany returns the fields of a company that is accepted.
func validCompany() map[string]any {
	return map[string]any{
		"name": "Ana", "surname": "Souza", "email": "ana@example.com", "password": "segredo", "CNPJ": "11.222.333/0001-81",
		"address":   map[string]any{"CEP": "01310-100", "state": "SP", "city": "São Paulo", "patio": "Avenida Paulista", "number": "1", "neighborhood": "Bela Vista", "complement": ""},
		"cellphone": "(11) 91234-5678", "responsible": "nobody@example.com", "hasStateInscription": "nao",
	}
}

func create(t *testing.T, url string, companies ...map[string]any) (int, string) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"create": companies})
	if err != nil {
		t.Fatal(err)
	}
	resp, answer := call(t, "POST", url+"/api/v2/company", string(body))
	return resp.StatusCode, answer
}

const created = `{"data":{"success":true},"error":null}`

func TestCreateCompany(t *testing.T) {
	t.Parallel()
	p, server, clock := newPlatform(t, 1, 10)
	seller := p.world.sellers[3].email
	both, person := validCompany(), validCompany()
	both["CPF"], both["responsible"] = "not even a CPF", seller
	delete(person, "CNPJ")
	delete(person, "address")
	person["CPF"], person["email"] = "529.982.247-25", "outra@example.com"
	alphanumeric := validCompany()
	alphanumeric["CNPJ"], alphanumeric["email"], alphanumeric["hasStateInscription"], alphanumeric["stateInscription"] =
		"12.ABC.345/01DE-35", "c@example.com", "sim", "123456789"

	if status, body := create(t, server.URL, both, person); status != 200 || body != created {
		t.Fatalf("%d %s", status, body)
	}
	if status, body := create(t, server.URL, alphanumeric); status != 200 || body != created {
		t.Fatalf("%d %s", status, body)
	}
	got := p.Companies()
	if len(got) != 3 || got[0].Email != "ana@example.com" || got[1].Email != "outra@example.com" || got[2].CNPJ != "12.ABC.345/01DE-35" {
		t.Fatalf("stored %d companies in the wrong order or form", len(got))
	}
	if got[0].CPF != "" || got[0].CNPJ != "11.222.333/0001-81" {
		t.Errorf("a CPF beside a CNPJ is to be ignored: %q %q", got[0].CPF, got[0].CNPJ)
	}
	if got[0].Responsible != seller || got[1].Responsible != "" {
		t.Errorf("responsible: %q and %q, want %q and none", got[0].Responsible, got[1].Responsible, seller)
	}
	if got[0].Address.Patio != "Avenida Paulista" || got[0].Password != "segredo" || !got[0].CreatedAt.Equal(clock.Now()) {
		t.Error("address, password or time of creation were not stored")
	}
}

func TestRefusedCompanies(t *testing.T) {
	t.Parallel()
	p, server, _ := newPlatform(t, 1, 10)
	for name, c := range map[string]struct {
		change func(map[string]any)
		says   string
	}{
		"neither number":     {func(c map[string]any) { delete(c, "CNPJ") }, "CPF or CNPJ"},
		"bare CNPJ":          {func(c map[string]any) { c["CNPJ"] = "11222333000181" }, "CNPJ"},
		"wrong check digit":  {func(c map[string]any) { c["CNPJ"] = "11.222.333/0001-82" }, "CNPJ"},
		"wrong CPF":          {func(c map[string]any) { delete(c, "CNPJ"); c["CPF"] = "529.982.247-24" }, "CPF"},
		"repeated digit":     {func(c map[string]any) { delete(c, "CNPJ"); c["CPF"] = "111.111.111-11" }, "CPF"},
		"CEP":                {func(c map[string]any) { c["address"].(map[string]any)["CEP"] = "01310100" }, "CEP"},
		"state":              {func(c map[string]any) { c["address"].(map[string]any)["state"] = "XX" }, "state"},
		"cellphone":          {func(c map[string]any) { c["cellphone"] = "11912345678" }, "cellphone"},
		"e-mail":             {func(c map[string]any) { c["email"] = "Ana <ana@example.com>" }, "email"},
		"no name":            {func(c map[string]any) { delete(c, "name") }, "name"},
		"no password":        {func(c map[string]any) { c["password"] = "" }, "password"},
		"state registration": {func(c map[string]any) { c["hasStateInscription"] = "sim" }, "stateInscription"},
		"a number for text":  {func(c map[string]any) { c["name"] = 7 }, "documented JSON"},
	} {
		good, bad := validCompany(), validCompany()
		bad["email"] = "outra@example.com"
		c.change(bad)
		status, body := create(t, server.URL, good, bad)
		if status != 400 || !strings.HasPrefix(body, `{"data":{"success":false},"error":"`) || !strings.Contains(body, c.says) {
			t.Errorf("%s: %d %s", name, status, body)
		}
		if strings.Contains(body, "segredo") {
			t.Errorf("%s: the answer holds the password: %s", name, body)
		}
	}
	for _, body := range []string{`{}`, `{"create":[]}`, `{"create":null}`, `[]`, `{"create":[`, `{"create":[],"create":[]}`, `{"create":[{}]} x`} {
		if resp, answer := call(t, "POST", server.URL+"/api/v2/company", body); resp.StatusCode != 400 {
			t.Errorf("%s: %d %s", body, resp.StatusCode, answer)
		}
	}
	resp, err := http.DefaultClient.Post(server.URL+"/api/v2/company", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 401 {
		t.Errorf("without a token: %d", resp.StatusCode)
	}
	if n := len(p.Companies()); n != 0 {
		t.Errorf("%d companies were stored by refused calls", n)
	}
}

func TestDuplicateCompanies(t *testing.T) {
	t.Parallel()
	p, server, _ := newPlatform(t, 1, 10)
	if status, body := create(t, server.URL, validCompany()); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	var known company // one that the world's requests come from
	for n := 0; known.cnpj == ""; n++ {
		known = p.world.company(n)
	}
	fresh := func(n int) map[string]any {
		c := validCompany()
		delete(c, "CNPJ")
		d := throw(uint64(n))
		c["CPF"], c["email"] = drawCPF(&d, &federativeUnits[0]), fmt.Sprintf("fresh%d@example.com", n)
		return c
	}
	sameNumber, sameEmail, knownNumber, knownEmail := fresh(1), fresh(2), fresh(3), fresh(4)
	sameNumber["CNPJ"] = "11.222.333/0001-81"
	sameEmail["email"] = "ANA@example.com"
	knownNumber["CNPJ"] = known.cnpj
	knownEmail["email"] = known.contact.email
	for name, batch := range map[string][]map[string]any{
		"tax number": {sameNumber}, "e-mail": {sameEmail}, "known tax number": {knownNumber}, "known e-mail": {knownEmail},
		"twice in a call": {fresh(5), fresh(5)}, "good and known": {fresh(6), sameEmail},
	} {
		status, body := create(t, server.URL, batch...)
		if status != 409 || !strings.HasPrefix(body, `{"data":{"success":false},"error":"`) {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	if n := len(p.Companies()); n != 1 {
		t.Errorf("%d companies stored, want the first only", n)
	}
	if status, body := create(t, server.URL, fresh(6)); status != 200 {
		t.Errorf("a company of a refused call cannot be created later: %d %s", status, body)
	}
}
