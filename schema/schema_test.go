package schema_test

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"solarmirror/schema"
)

var update = flag.Bool("update", false, "write DICTIONARY.md, and the goldens in testdata of versions that have been raised")

// DICTIONARY.md is there to be read where no mirror is at hand.
func TestMarkdown(t *testing.T) {
	t.Parallel()
	if *update {
		writeFile(t, "DICTIONARY.md", schema.Markdown(schema.English))
	}
	if diff := cmp.Diff(readFile(t, "DICTIONARY.md"), schema.Markdown(schema.English)); diff != "" {
		t.Errorf("-DICTIONARY.md +declared; `go test ./schema -update` writes the file:\n%s", diff)
	}
}

// Users choose a mart by the list in README.md.
func TestReadmeNamesEveryMart(t *testing.T) {
	t.Parallel()
	readme := readFile(t, "../README.md")
	for _, table := range schema.MartTables {
		if !strings.Contains(readme, "`"+table.Name+"`") {
			t.Errorf("README.md does not name %s under Query", table.Name)
		}
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func writeFile(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestSnakeCase(t *testing.T) {
	t.Parallel()
	for pointer, want := range map[string]string{
		"/id":                                    "id",
		"/totalPower":                            "total_power",
		"/lenght":                                "length",
		"/baseprice":                             "base_price",
		"/CEP":                                   "cep",
		"/last4digits":                           "last4_digits",
		"/first6digits":                          "first6_digits",
		"/addedBy/name":                          "added_by_name",
		"/address/CEP":                           "address_cep",
		"/patioFormatted":                        "patio_formatted",
		"/differenceWithPaymentConditionApplied": "difference_with_payment_condition_applied",
		"/temInscricaoEstadual":                  "tem_inscricao_estadual",
		"/minimumMPPTVoltage":                    "minimum_mppt_voltage",
		"/mpptAmount":                            "mppt_amount",
		"/stringsPerMPPT":                        "strings_per_mppt",
		"/maximumInputCurrentPerMPPT":            "maximum_input_current_per_mppt",
		"/maximumCurrentDCConnector":             "maximum_current_dc_connector",
		"/maximumConnectedPowerPer2String":       "maximum_connected_power_per_2_string",
	} {
		if got := schema.SnakeCase(pointer, "_"); got != want {
			t.Errorf("SnakeCase(%s) = %s, want %s", pointer, got, want)
		}
	}
	if got, want := schema.SnakeCase("/vendorSpecifications/compatibleInverters", "."), "vendor_specifications.compatible_inverters"; got != want {
		t.Errorf("SnakeCase with dots = %s, want %s", got, want)
	}
}

func eachTable(t *testing.T, check func(t *testing.T, table *schema.Table)) {
	t.Parallel()
	for _, table := range schema.All() {
		t.Run(table.Name, func(t *testing.T) {
			t.Parallel()
			check(t, table)
		})
	}
}

// The flattener and the write path rely on keys standing first and in order.
func TestKeys(t *testing.T) {
	eachTable(t, func(t *testing.T, table *schema.Table) {
		names := table.ColumnNames()
		if !slices.Equal(names[:len(table.Key)], table.Key) {
			t.Errorf("columns %v do not begin with the key %v", names, table.Key)
		}
		if sorted := slices.Sorted(slices.Values(names)); len(slices.Compact(sorted)) != len(names) {
			t.Errorf("a column is there twice: %v", names)
		}
		for _, list := range append(table.Indices, table.Unique) {
			for _, name := range list {
				if table.Column(name) == nil {
					t.Errorf("no column %s to index", name)
				}
			}
		}
		if table.Shape == schema.Root && len(table.Unique) != 2 {
			t.Errorf("the natural key %v is not of two columns", table.Unique)
		}
		if table.Shape == schema.Many || table.Shape == schema.Values {
			if last := table.Key[len(table.Key)-1]; last != "position" {
				t.Errorf("the key ends in %s, not position", last)
			}
		}
	})
}

func TestColumnsAreDeclaredInFull(t *testing.T) {
	types := []schema.Type{schema.Text, schema.Real, schema.BigInt, schema.Boolean, schema.Date, schema.Timestamp, schema.Surrogate, schema.Blob}
	eachTable(t, func(t *testing.T, table *schema.Table) {
		if table.Doc == "" || table.Label == "" {
			t.Error("no description or label")
		}
		for _, c := range table.Columns {
			if c.Doc == "" || c.Label == "" {
				t.Errorf("%s has no description or label", c.Name)
			}
			if !slices.Contains(types, c.Type) {
				t.Errorf("%s is declared %s", c.Name, c.Type)
			}
			if c.Type == schema.Surrogate && !slices.Equal(table.Key, []string{c.Name}) {
				t.Errorf("%s is INTEGER but not the primary key", c.Name)
			}
			if c.Type == schema.Boolean && c.Path != "" && c.Clause != "CHECK ("+c.Name+" IN (0, 1))" {
				t.Errorf("%s is not bounded to 0 and 1: %q", c.Name, c.Clause)
			}
			if hasUnit := c.Unit != ""; c.Type != schema.Date && hasUnit != measures(table, c) {
				t.Errorf("%s %s has the unit %q", c.Name, c.Type, c.Unit)
			}
		}
	})
}

// measures says whether a column's values are amounts or moments; numbers that only name something have no unit.
func measures(t *schema.Table, c schema.Column) bool {
	names := []string{"schema_version", "revision", "outbox_id", "request_key"}
	switch c.Type {
	case schema.Real, schema.Timestamp:
		return true
	case schema.BigInt:
		return !t.IsKey(c.Name) && c.References() == "" && !slices.Contains(names, c.Name)
	}
	return false
}

// What identifies a person, by the last step of its path; the rest is listed by hand in the declarations.
func TestPersonalData(t *testing.T) {
	personal := []string{"surname", "email", "cellphone", "telephone", "cpf", "cnpj", "rg", "ie", "razaoSocial", "nomeFantasia", "fantasyName", "companyName", "holderName",
		"CEP", "patio", "patioFormatted", "number", "complement", "neighborhood", "notes", "answer", "originalName", "."}
	people := []string{"name", "seller_name", "seller_email", "company_name", "company_tax_id"} // in the tables derived from others
	eachTable(t, func(t *testing.T, table *schema.Table) {
		for _, c := range table.Columns {
			last := c.Path[strings.LastIndex(c.Path, "/")+1:]
			derived := table.Shape == schema.Mart || table == schema.Deals
			if c.Privacy == schema.Public && c.Type == schema.Text && (slices.Contains(personal, last) || derived && slices.Contains(people, c.Name)) {
				t.Errorf("%s is declared non-personal", c.Name)
			}
			if c.Privacy == schema.Counted && c.Type != schema.Text {
				t.Errorf("%s has pseudonyms, but is no text", c.Name)
			}
			// A masked copy would hold one and the same key in every row.
			if isKey := table.IsKey(c.Name) || slices.Contains(table.Unique, c.Name); isKey && (c.Privacy == schema.Undeclared || c.Privacy == schema.Personal) {
				t.Errorf("%s is a personal key without pseudonyms", c.Name)
			}
		}
	})
	if schema.Requests.Column("extra").Privacy != schema.Personal || schema.Equipments.Column("extra").Privacy != schema.Personal {
		t.Error("extra can hold anything, but is declared non-personal")
	}
}

func TestSpecificationNames(t *testing.T) {
	t.Parallel()
	var got []string
	for _, a := range schema.Find("equipment_specification_values").Arrays {
		got = append(got, a.Name)
	}
	want := []string{
		"maximum_input_current_per_mppt", "maximum_input_current", "strings_per_mppt", "maximum_current_dc_connector", "maximum_current",
		"vendor_specifications.compatible_inverters", "vendor_specifications.minimum_string_length", "vendor_specifications.maximum_string_length",
		"vendor_specifications.maximum_continuous_power_per_string", "vendor_specifications.maximum_connected_power_per_2_string",
		"vendor_specifications.maximum_connected_power_per_string", "vendor_specifications.maximum_connected_power_per_3_string",
		"vendor_specifications.maximum_connected_power_per_4_string", "input_amount", "output_amount",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func TestFindAndWalk(t *testing.T) {
	t.Parallel()
	for _, table := range schema.All() {
		if schema.Find(table.Name) != table {
			t.Errorf("Find(%s) is another table", table.Name)
		}
	}
	if schema.Find("sqlite_master") != nil || schema.Requests.Column("nothing") != nil {
		t.Error("found what is not there")
	}
	tables := schema.Requests.Tables()
	parent, child := schema.Find("request_files"), schema.Find("request_uploaded_files")
	if slices.Index(tables, parent) < 0 || slices.Index(tables, child) < slices.Index(tables, parent) {
		t.Error("a child comes before its parent")
	}
}

func TestDictionary(t *testing.T) {
	t.Parallel()
	rows := schema.Dictionary()
	n := 0
	for _, table := range schema.All() {
		n += len(table.Columns)
	}
	if rows.Table != schema.Columns || rows.Len() != n {
		t.Fatalf("%d rows of %s, want %d of _columns", rows.Len(), rows.Table.Name, n)
	}
	want := []any{"requests", "final_value", "REAL", "/finalValue", "Final value.", "Valor final", schema.NotStated, int64(0), "Valor final."}
	for i := range rows.Len() {
		if row := rows.Row(i); row[0] == want[0] && row[1] == want[1] {
			if diff := cmp.Diff(want, row); diff != "" {
				t.Errorf("final_value (-want +got):\n%s", diff)
			}
			return
		}
	}
	t.Error("no row for requests.final_value")
}

func TestAddColumnDDL(t *testing.T) {
	t.Parallel()
	got := schema.Requests.AddColumnDDL(*schema.Requests.Column("removed"))
	if want := "ALTER TABLE requests ADD COLUMN removed BOOLEAN CHECK (removed IN (0, 1))"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A stream's declaration fits the table its records go to.
func TestStreamsFitTheirTables(t *testing.T) {
	t.Parallel()
	for _, s := range schema.Streams {
		fits := map[string]bool{
			"a path":                            strings.HasPrefix(s.Path, "/"),
			"both dates":                        s.Dates.From != "" && s.Dates.To != "",
			"a full job":                        s.FullJob == schema.FullRequests || s.FullJob == schema.FullEquipments,
			"a live pass first":                 len(s.Passes) > 0 && s.Passes[0] == schema.Live,
			"the column of removed records":     !slices.Contains(s.Passes, schema.Removed) || s.Root.Column("removed") != nil,
			"a partition where no field has it": (s.Partition == "") == (s.Root.Column(s.Root.Unique[0]).Path != ""),
		}
		for _, name := range s.Created {
			fits["the column "+name] = s.Root.Column(name) != nil
		}
		for what, ok := range fits {
			if !ok {
				t.Errorf("%s has not %s", s.Name, what)
			}
		}
	}
}
