package schema_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"solarmirror/schema"
)

// portugueseTexts are the pairs of portuguese.txt, the English text first.
func portugueseTexts(t *testing.T) (pairs [][2]string) {
	t.Helper()
	english := ""
	for line := range strings.Lines(readFile(t, "portuguese.txt")) {
		line = strings.TrimSuffix(line, "\n")
		text, translated := strings.CutPrefix(line, "= ")
		switch {
		case translated && english != "":
			pairs = append(pairs, [2]string{english, text})
			english = ""
		case translated || english != "":
			t.Errorf("portuguese.txt: not a text with its translation: %q, %q", english, line)
			english = ""
		case line != "" && !strings.HasPrefix(line, "#"):
			english = line
		}
	}
	return pairs
}

func TestEveryTextIsInPortuguese(t *testing.T) {
	sameInBoth := []string{"", "UTC", "kWp", "Wp"}
	needs := func(t *testing.T, what, english string) {
		if schema.Portuguese.Text(english) == english && !slices.Contains(sameInBoth, english) {
			t.Errorf("%s: portuguese.txt lacks a line %q and below it its Portuguese, \"= …\"", what, english)
		}
	}
	eachTable(t, func(t *testing.T, table *schema.Table) {
		needs(t, "the table", table.Doc)
		for _, c := range table.Columns {
			needs(t, c.Name, c.Doc)
			needs(t, c.Name, c.Unit)
		}
	})
}

// A text whose English has changed is found as one that nothing shows any more.
func TestPortugueseTextsAreShownOnce(t *testing.T) {
	t.Parallel()
	shown := strings.NewReplacer(`\|`, "|", `\*`, "*", `\_`, "_", "&lt;", "<").Replace(schema.Markdown(schema.English))
	seen := map[string]bool{}
	for _, pair := range portugueseTexts(t) {
		if !strings.Contains(shown, pair[0]) {
			t.Errorf("portuguese.txt: nothing says %q: has its English changed?", pair[0])
		}
		if seen[pair[0]] {
			t.Errorf("portuguese.txt: %q is there twice", pair[0])
		}
		seen[pair[0]] = true
	}
	if len(seen) == 0 {
		t.Error("no texts")
	}
}

var (
	names  = regexp.MustCompile(`\b\w*_\w+|\[\w+\]|\b[A-Z]{2,}\b|\d+`)
	listed = regexp.MustCompile(`CHECK \(\w+ IN \(('.+')\)\)`)
)

// Tables, columns, keys, numbers and stored values are called alike in both languages.
func TestPortugueseNamesTheSame(t *testing.T) {
	t.Parallel()
	for _, pair := range portugueseTexts(t) {
		for _, name := range names.FindAllString(strings.ReplaceAll(pair[0], "YYYY", "AAAA"), -1) {
			if !strings.Contains(pair[1], name) {
				t.Errorf("%q does not name %s, as %q does", pair[1], name, pair[0])
			}
		}
	}
	for _, table := range schema.All() {
		for _, c := range table.Columns {
			values := listed.FindStringSubmatch(c.Clause)
			if values == nil {
				continue
			}
			for value := range strings.SplitSeq(values[1], ", ") {
				if text := schema.Portuguese.Text(c.Doc); !strings.Contains(text, strings.Trim(value, "'")) {
					t.Errorf("%s.%s: %q does not explain %s", table.Name, c.Name, text, value)
				}
			}
		}
	}
}

// The documents have the same lines in two languages: what both say alike is names.
func TestMarkdownInPortuguese(t *testing.T) {
	t.Parallel()
	english, portuguese := strings.Split(schema.Markdown(schema.English), "\n"), strings.Split(schema.Markdown(schema.Portuguese), "\n")
	if len(english) != len(portuguese) {
		t.Fatalf("%d lines in English, %d in Portuguese", len(english), len(portuguese))
	}
	diagram := false
	for i, line := range portuguese {
		if strings.HasPrefix(line, "```") {
			diagram = line == "```mermaid"
			continue
		}
		if hasWords := strings.ContainsFunc(line, unicode.IsLetter); hasWords && !diagram && line == english[i] && !strings.HasPrefix(line, "### ") {
			t.Errorf("line %d is English: %s", i+1, line)
		}
	}
	for _, want := range []string{
		"## Registros: requests\n", " O que um registro lista está em tabelas ligadas a ele por request_key.\n", " Chave: nenhuma.\n",
		"### requests\n\n*Pedidos e orçamentos.* Uma linha por orçamento ou pedido.", " Chave: request_key; única por request_type, id.\n",
		"| Coluna | Tipo | Unidade | Rótulo | Significado | Pessoal | Origem |\n", " | Nome fantasia. | sim | `/company/fantasyName` |\n",
		"- [Tabelas de análise (marts)](#tabelas-de-análise-marts): [bi_requests]",
		"  requests[\"requests: Pedidos e orçamentos\"] {\n    INTEGER request_key PK\n",
		"| final_value | REAL | não informada pela plataforma | Valor final | Valor final. |  | `/finalValue` |\n",
	} {
		if !strings.Contains(strings.Join(portuguese, "\n"), want) {
			t.Errorf("the document lacks %q", want)
		}
	}
}
