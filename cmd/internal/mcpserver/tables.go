package mcpserver

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"solarmirror/cmd/internal/config"
	"solarmirror/schema"
	"solarmirror/store/owntables"
)

const listDoc = `List the tables with what a row of each is. Begin with bi_* (ready for analysis) and my_* (made by this
company's analysts). Others: the platform's records (requests are orders and budgets; equipments), history, and tables
that begin with _ about the mirror itself.`

const describeDoc = `Describe one table: its columns with type, unit, Portuguese label, meaning and the table they refer to.
Call it before you write SQL for a table.`

type noInput struct{}

type tableList struct {
	Tables []tableSummary `json:"tables"`
}

type tableSummary struct {
	Name        string `json:"name"`
	Label       string `json:"label,omitempty" jsonschema:"name for people, in Portuguese"`
	Description string `json:"description,omitempty"`
	Columns     int    `json:"columns" jsonschema:"number of columns"`
}

type describeInput struct {
	Table string `json:"table" jsonschema:"name of a table, as list_tables has it"`
}

type table struct {
	Name        string   `json:"name"`
	Label       string   `json:"label,omitempty" jsonschema:"name for people, in Portuguese"`
	Description string   `json:"description,omitempty"`
	Key         []string `json:"key,omitempty" jsonschema:"columns that tell its rows apart"`
	Columns     []column `json:"columns"`
}

type column struct {
	Name        string `json:"name"`
	Type        string `json:"type" jsonschema:"as declared; DATE and TIMESTAMP are texts that sort, BOOLEAN is 0 or 1"`
	Unit        string `json:"unit,omitempty"`
	Label       string `json:"label,omitempty" jsonschema:"name for people, in Portuguese"`
	Description string `json:"description,omitempty"`
	RefersTo    string `json:"refers_to,omitempty" jsonschema:"table whose key it holds"`
}

const columnsSQL = `SELECT t.name AS "table", c.name, coalesce(d.type, c.type) AS type, coalesce(d.unit, '') AS unit,
	coalesce(d.label_pt, '') AS label, coalesce(d.description, '') AS description
	FROM sqlite_master AS t JOIN pragma_table_info(t.name) AS c LEFT JOIN _columns AS d ON d.table_name = t.name AND d.column_name = c.name
	WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY t.name, c.cid`

// readTables reads what the copy's data dictionary says, the tables for analysis first.
func readTables(ctx context.Context, c copyFile) ([]*table, error) {
	var list []struct {
		Table string
		column
	}
	if err := c.Reader().SelectContext(ctx, &list, columnsSQL); err != nil {
		return nil, fmt.Errorf("read the data dictionary: %w", err)
	}
	tables := map[string]*table{}
	for _, row := range list {
		t := tables[row.Table]
		known := schema.Find(row.Table)
		if t == nil {
			t = &table{Name: row.Table}
			tables[row.Table] = t
		}
		if known != nil {
			t.Label, t.Description, t.Key = known.Label, known.Doc, known.Key
			if declared := known.Column(row.Name); declared != nil {
				row.RefersTo = declared.References()
			}
		}
		t.Columns = append(t.Columns, row.column)
	}
	if err := describeOwn(ctx, c, tables); err != nil {
		return nil, err
	}
	return slices.SortedFunc(maps.Values(tables), func(a, b *table) int {
		return cmp.Or(cmp.Compare(rank(a.Name), rank(b.Name)), cmp.Compare(a.Name, b.Name))
	}), nil
}

// describeOwn adds the descriptions of the tables that analysts made.
func describeOwn(ctx context.Context, c copyFile, tables map[string]*table) error {
	list, err := owntables.Ledger(ctx, c.Reader(), "main")
	for _, own := range list {
		if t := tables[own.Table]; t != nil {
			t.Description = own.Description
		}
	}
	return err
}

// rank orders tables by how useful they are for a first question.
func rank(table string) int {
	for i, prefix := range []string{"bi_", "my_"} {
		if strings.HasPrefix(table, prefix) {
			return i
		}
	}
	if strings.HasPrefix(table, "_") {
		return 3
	}
	return 2
}

func (s *server) listTables(ctx context.Context, c copyFile, _ noInput) (tableList, error) {
	tables, err := readTables(ctx, c)
	list := tableList{Tables: []tableSummary{}}
	for _, t := range tables {
		list.Tables = append(list.Tables, tableSummary{t.Name, t.Label, t.Description, len(t.Columns)})
	}
	return list, err
}

func (s *server) describeTable(ctx context.Context, c copyFile, in describeInput) (table, error) {
	tables, err := readTables(ctx, c)
	if err != nil {
		return table{}, err
	}
	var names []string
	for _, t := range tables {
		if strings.EqualFold(t.Name, in.Table) {
			return *t, nil
		}
		names = append(names, t.Name)
	}
	guess := ""
	if near := config.Near(in.Table, names); near != "" {
		guess = fmt.Sprintf("; did you mean %s?", near)
	}
	return table{}, fmt.Errorf("no such table %q%s The tables are: %s", in.Table, cmp.Or(guess, "."), strings.Join(names, ", "))
}

// dictionary is the data dictionary as a document.
func dictionary(ctx context.Context, c copyFile) (string, error) {
	tables, err := readTables(ctx, c)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("# Data dictionary\n")
	line := strings.NewReplacer("|", `\|`, "\n", " ")
	for _, t := range tables {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| Column | Type | Unit | Label (pt) | Meaning |\n|---|---|---|---|---|\n", t.Name, t.Description)
		for _, c := range t.Columns {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", c.Name, c.Type, line.Replace(c.Unit), line.Replace(c.Label), line.Replace(c.Description))
		}
	}
	return b.String(), nil
}
