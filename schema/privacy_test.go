package schema_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"solarmirror/schema"
)

func TestPrivacyIsDeclared(t *testing.T) {
	t.Parallel()
	for _, table := range slices.Concat(schema.All(), schema.OutboxTables) {
		for _, c := range table.Columns {
			if c.Privacy == schema.Undeclared {
				t.Errorf("%s.%s does not declare its privacy, so copies mask it: end its declaration with public(), personal() or counted()", table.Name, c.Name)
			}
		}
	}
}

// Not parallel: the tests that are wait until the table is as it was.
func TestUndeclaredColumnIsPersonal(t *testing.T) {
	declared := schema.Requests.Columns
	t.Cleanup(func() { schema.Requests.Columns = declared })
	schema.Requests.Columns = append(slices.Clone(declared), schema.Column{Name: "customer_name_2", Type: schema.Text, Path: "/customerName2", Doc: "Another name.", Label: "Nome"})

	rows := schema.Dictionary()
	isPersonal := slices.Index(schema.Columns.ColumnNames(), "personal")
	found := false
	for i := range rows.Len() {
		row := rows.Row(i)
		found = found || row[1] == "customer_name_2" && row[isPersonal] == int64(1)
	}
	if !found {
		t.Error("the dictionary does not say that it is personal")
	}
	if want := "| customer_name_2 | TEXT |  | Nome | Another name. | yes | `/customerName2` |\n"; !strings.Contains(schema.Markdown(schema.English), want) {
		t.Errorf("DICTIONARY.md has no line %s", want)
	}
	metadata, err := schema.Datasette("solarmirror")
	if want := `"customer_name_2": "Nome. Another name. May hold personal data."`; err != nil || !strings.Contains(string(metadata), want) {
		t.Errorf("%v; Datasette's metadata has no %s", err, want)
	}
}

// A function that is given a column's name or description, or a whole column, serves columns nobody
// has thought of yet.
func TestNoConstructorMakesAColumnPublic(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(os.DirFS("."), "*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	declarations := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Name.Name == "public" {
					return false
				}
				checkConstructor(t, set, n.Recv, n.Type, n.Body)
			case *ast.FuncLit:
				checkConstructor(t, set, nil, n.Type, n.Body)
			case *ast.KeyValueExpr:
				if isIdent(n.Key, "Privacy") {
					t.Errorf("%s: a privacy that is not declared by public(), personal() or counted()", set.Position(n.Pos()))
				}
			case *ast.SelectorExpr:
				if n.Sel.Name == "public" {
					declarations++
				}
			}
			return true
		})
	}
	if declarations < 200 {
		t.Errorf("only %d declarations of public columns were looked at", declarations)
	}
}

func checkConstructor(t *testing.T, set *token.FileSet, receiver *ast.FieldList, kind *ast.FuncType, body *ast.BlockStmt) {
	results := kind.Results
	if results == nil || len(results.List) != 1 || !isIdent(results.List[0].Type, "Column") {
		return
	}
	takesText := slices.ContainsFunc(kind.Params.List, func(p *ast.Field) bool { return isIdent(p.Type, "string") })
	if receiver == nil && !takesText {
		return
	}
	ast.Inspect(body, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok && selector.Sel.Name == "public" || isIdent(n, "Public") {
			t.Errorf("%s: a constructor makes columns public: leave that to their declarations", set.Position(n.Pos()))
		}
		return true
	})
}

func isIdent(n ast.Node, name string) bool {
	ident, ok := n.(*ast.Ident)
	return ok && ident.Name == name
}
