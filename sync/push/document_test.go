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
		"byte order mark":  {ReadJSON, "\xef\xbb\xbf" + anaJSON, []int{1}},
		"lines":            {ReadJSONLines, anaJSON + "\n\n" + anaJSON, []int{1, 3}},
		"commas":           {ReadCSV, csv(","), []int{2}},
		"semicolons":       {ReadCSV, "\xef\xbb\xbf" + csv(";"), []int{2}},
		"quotes and CRLF":  {ReadCSV, strings.ReplaceAll(strings.ReplaceAll(csv(","), "Ana,", "\"Ana\","), "\n", "\r\n"), []int{2}},
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
		"line, not JSON":    {ReadJSONLines, "canary\n" + anaJSON, "not JSON"},
		"line, two objects": {ReadJSONLines, anaJSON + anaJSON, "follow the JSON object"},
		"no header":         {ReadCSV, "", "column names"},
		"unknown column":    {ReadCSV, "name,phone\n", `column 2 is "phone"`},
		"column twice":      {ReadCSV, "name,Name\n", "stands twice"},
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
