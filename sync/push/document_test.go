package push

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"solarmirror/store/outbox"
)

const anaJSON = `{"name":"Ana","email":"ana@example.com","password":"canary","CNPJ":"11222333000181","address":{"CEP":"01310100","state":"sp"},"stateInscription":null}`

func ana() outbox.Company {
	return outbox.Company{Name: "Ana", Email: "ana@example.com", Password: "canary", CNPJ: "11.222.333/0001-81", CEP: "01310-100", State: "SP"}
}

func TestReadDocuments(t *testing.T) {
	t.Parallel()
	csv := func(sep string) string {
		return strings.ReplaceAll("email,name,password,CNPJ,address_cep,address_state\nana@example.com,Ana,canary,11222333000181,01310100,sp\n", ",", sep)
	}
	for name, c := range map[string]struct {
		read  func(io.Reader) ([]Entry, error)
		text  string
		lines []int
	}{
		"object":           {ReadJSON, anaJSON, []int{1}},
		"object, spaced":   {ReadJSON, "\n\n " + anaJSON + "\n", []int{3}},
		"array":            {ReadJSON, "[" + anaJSON + ",\n\n" + anaJSON + "]\n", []int{1, 3}},
		"body":             {ReadJSON, `{"create":[` + anaJSON + ",\n" + anaJSON + "]}\n", []int{1, 2}},
		"empty body":       {ReadJSON, `{"create":[]}`, nil},
		"byte order mark":  {ReadJSON, "\xef\xbb\xbf" + anaJSON, []int{1}},
		"lines":            {ReadJSONLines, anaJSON + "\n\n" + anaJSON, []int{1, 3}},
		"commas":           {ReadCSV, csv(","), []int{2}},
		"semicolons":       {ReadCSV, "\xef\xbb\xbf" + csv(";"), []int{2}},
		"quotes and CRLF":  {ReadCSV, strings.ReplaceAll(strings.ReplaceAll(csv(","), "Ana,", "\"Ana\","), "\n", "\r\n"), []int{2}},
		"Portuguese":       {ReadCSV, "E-MAIL;Nome;senha;cnpj;CEP;Estado\nana@example.com;Ana;canary;11222333000181;01310100;sp\n", []int{2}},
		"empty lines":      {ReadCSV, "\n \r\n,,,,,\n" + csv(",") + ",,,,,\n\n , ,,,,\n", []int{5}},
		"empty column":     {ReadCSV, strings.ReplaceAll(csv(";"), "\n", "; \n"), []int{2}},
		"sep=;":            {ReadCSV, "\xef\xbb\xbfsep=;\r\n" + csv(";"), []int{3}},
		"SEP=,":            {ReadCSV, "SEP=,\n" + csv(","), []int{3}},
		"tabs":             {ReadCSV, csv("\t"), []int{2}},
		"CR":               {ReadCSV, strings.ReplaceAll(csv(";"), "\n", "\r"), []int{2}},
		"empty array":      {ReadJSON, "[]", nil},
		"nothing in lines": {ReadJSONLines, "\n", nil},
	} {
		entries, err := c.read(strings.NewReader(c.text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var want []Entry
		for _, line := range c.lines {
			want = append(want, Entry{Line: line, Company: ana()})
		}
		if d := cmp.Diff(want, entries); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestFaultyDocuments(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		read func(io.Reader) ([]Entry, error)
		text string
		want string // of the whole, or of the first entry
	}{
		"not JSON":          {ReadJSON, "canary", "not JSON at byte"},
		"cut":               {ReadJSON, anaJSON[:40], "ends too early"},
		"cut array":         {ReadJSON, "[" + anaJSON, "ends too early"},
		"two objects":       {ReadJSON, anaJSON + anaJSON, "as an array"},
		"array and more":    {ReadJSON, "[" + anaJSON + "] x", "follow the JSON array"},
		"name twice":        {ReadJSON, `{"password":"canary","password":"canary"}`, "twice"},
		"not an object":     {ReadJSON, `["canary"]`, "must be a JSON object"},
		"unknown field":     {ReadJSON, strings.Replace(anaJSON, "name", "nome", 1), "nome is no field of a company; name is missing"},
		"other case":        {ReadJSON, strings.Replace(anaJSON, "CNPJ", "cnpj", 1), "cnpj is written CNPJ; CPF is missing"},
		"unknown address":   {ReadJSON, strings.Replace(anaJSON, "CEP", "zip", 1), "address.zip is no field"},
		"number":            {ReadJSON, strings.Replace(anaJSON, `"Ana"`, "7", 1), "name must be a text"},
		"address a text":    {ReadJSON, strings.Replace(anaJSON, `{"CEP":"01310100","state":"sp"}`, `"canary"`, 1), "address must be an object"},
		"body, cut":         {ReadJSON, `{"create":[` + anaJSON, "ends too early"},
		"body, and more":    {ReadJSON, `{"create":[]} x`, "follow the JSON object"},
		"body of one":       {ReadJSON, `{"create":` + anaJSON + `}`, "create must be an array"},
		"body of null":      {ReadJSON, `{"create":null}`, "create must be an array"},
		"body, beside":      {ReadJSON, `{"dryRun":"canary","create":[],"x":1}`, "dryRun, x beside create"},
		"body, of others":   {ReadJSON, `{"create":["canary"]}`, "must be a JSON object"},
		"line, not JSON":    {ReadJSONLines, "canary\n" + anaJSON, "not JSON"},
		"line, two objects": {ReadJSONLines, anaJSON + anaJSON, "follow the JSON object"},
		"no header":         {ReadCSV, "", "column names"},
		"unknown column":    {ReadCSV, "phone,name,fax\n", `no columns of a company: "phone", "fax"`},
		"column twice":      {ReadCSV, "nome,CPF,Name\n", `columns 1 ("nome") and 3 ("Name") are the same field, name`},
		"two of one field":  {ReadCSV, "rua;endereço\n", `are the same field, address_patio`},
		"not UTF-8":         {ReadCSV, "n\xfamero\n", "CSV UTF-8"},
		"unnamed column":    {ReadCSV, "name,\nAna,canary\n", "a column without a name"},
		"unnamed in middle": {ReadCSV, "name,,email\n", `no columns of a company: ""`},
		"too few values":    {ReadCSV, "name,email\ncanary\n", "1 values, and there are 2 columns"},
		"stray quote":       {ReadCSV, "name\nca\"nary\n", "line 2"},
		"faults of a line":  {ReadCSV, "name,cpf\nAna,52998224724\n", "password is missing; email is missing; CPF has wrong check digits"},
	} {
		entries, err := c.read(strings.NewReader(c.text))
		if err == nil && len(entries) > 0 {
			err = entries[0].Err
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

func TestColumnNames(t *testing.T) {
	t.Parallel()
	for name, field := range map[string]string{
		"nome": "name", "Sobrenome": "surname", " E-mail ": "email", "EMAIL": "email", "SENHA": "password", "cpf": "CPF", "Cnpj": "CNPJ", "cep": "address.CEP",
		"uf": "address.state", "Estado": "address.state", "Cidade": "address.city", "RUA": "address.patio", "endereco": "address.patio", "Logradouro": "address.patio",
		"Numero": "address.number", "nu\u0301mero": "address.number", "bairro": "address.neighborhood", "Complemento": "address.complement", "Celular": "cellphone",
		"telefone": "cellphone", "responsavel": "responsible", "Inscrição  Estadual": "stateInscription", "TEM INSCRICAO ESTADUAL?": "hasStateInscription",
		"address_cep": "address.CEP", "address.CEP": "address.CEP", "has_state_inscription": "hasStateInscription",
	} {
		got, err := readHeader([]string{name})
		if err != nil || got[0] != field {
			t.Errorf("%q is %v, %v; want %s", name, got, err, field)
		}
	}
	portuguese, ours := ColumnNames()
	for _, name := range append(portuguese, ours...) {
		if _, err := readHeader([]string{name}); err != nil {
			t.Error(err)
		}
	}
	if want := len(fieldsByName(&outbox.Company{})); len(columns) != want {
		t.Errorf("%d columns, and a company has %d fields", len(columns), want)
	}
	if entries, err := ReadCSV(strings.NewReader(Template())); err != nil || len(entries) != 0 {
		t.Errorf("the template: %v, %v", entries, err)
	}
	values := strings.Repeat("x;", len(columns)-1) + "x\n"
	entries, err := ReadCSV(strings.NewReader(Template() + values))
	if err != nil || len(entries) != 1 {
		t.Fatalf("the template, filled in: %v, %v", entries, err)
	}
	for name, value := range fieldsByName(&entries[0].Company) {
		if !strings.EqualFold(*value, "x") {
			t.Errorf("the template has no column for %s", name)
		}
	}
}
