package main

import (
	"encoding/json"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"solarmirror/cmd/internal/terminal"
	"solarmirror/cmd/internal/testtools"
	"solarmirror/schema"
)

// The types of ODBC's sql.h and sqlext.h that the mirror's columns may have.
const (
	sqlChar, sqlVarchar, sqlLongVarchar    = 1, 12, -1
	sqlWChar, sqlWVarchar, sqlWLongVarchar = -8, -9, -10
	sqlInteger, sqlBigint                  = 4, -5
	sqlDouble, sqlBit                      = 8, -7
	sqlDate, sqlTimestamp                  = 91, 93
	sqlBinary, sqlVarbinary, sqlLongVarbin = -2, -3, -4
)

// odbcTypes are the types of ODBC that are no worse than a declared type: nothing is cut, rounded or left to be guessed.
func odbcTypes(declared schema.Type) []int {
	return map[schema.Type][]int{
		schema.Text:      {sqlChar, sqlVarchar, sqlLongVarchar, sqlWChar, sqlWVarchar, sqlWLongVarchar},
		schema.Real:      {sqlDouble},
		schema.BigInt:    {sqlBigint},
		schema.Surrogate: {sqlBigint},
		schema.Boolean:   {sqlBit},
		schema.Date:      {sqlDate},
		schema.Timestamp: {sqlTimestamp},
		schema.Blob:      {sqlBinary, sqlVarbinary, sqlLongVarbin},
	}[declared]
}

// odbcReport is what testdata/readers/odbc.py prints.
type odbcReport struct {
	Columns []struct {
		Table, Column    string
		TypeName, Python string
		Type             int
		Values, Nulls    int
		Wrong            string
	}
	Sums map[string]struct{ ODBC, File *int64 } // nil is NULL
}

// readWithODBC asks for BigInt=1, as the recipes do. -v prints the report, a line for each column.
func readWithODBC(t *testing.T, file string) {
	report := askODBC(t, file, "BigInt=1;")
	shown := terminal.NewTable("table", "column", "declared", "odbc", "type", "python", "values", "nulls")
	seen := map[string]bool{}
	for _, c := range report.Columns {
		column := schema.Find(c.Table).Column(c.Column)
		seen[c.Table+"."+c.Column] = true
		shown.Add(c.Table, c.Column, string(column.Type), c.TypeName, c.Type, c.Python, c.Values, c.Nulls)
		if !slices.Contains(odbcTypes(column.Type), c.Type) {
			t.Errorf("%s.%s is %s, over ODBC %d (%s)", c.Table, c.Column, column.Type, c.Type, c.TypeName)
		}
		if c.Wrong != "" {
			t.Errorf("%s.%s: %s", c.Table, c.Column, c.Wrong)
		}
	}
	var text strings.Builder
	if err := shown.Write(&text); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + text.String())
	for _, table := range schema.All() {
		for _, c := range table.Columns {
			if !seen[table.Name+"."+c.Name] {
				t.Errorf("%s.%s is not there over ODBC", table.Name, c.Name)
			}
		}
	}
	if diff := wrongSums(report); len(diff) > 0 {
		t.Errorf("sums over ODBC: %v", diff)
	}
	if *report.Sums["count"].File == 0 {
		return
	}
	if sum := *report.Sums["installments"].File; sum <= math.MaxInt32 {
		t.Errorf("the sum is %d, which 32 bits hold", sum)
	}
	// What BigInt=1 is for, and that wrongSums can tell.
	if len(wrongSums(askODBC(t, file, ""))) == 0 {
		t.Error("without BigInt=1 the sums are right as well: the recipes can leave it out")
	}
}

func wrongSums(report odbcReport) (wrong []string) {
	for name, s := range report.Sums {
		if (s.ODBC == nil) != (s.File == nil) || s.ODBC != nil && *s.ODBC != *s.File {
			wrong = append(wrong, name)
		}
	}
	return wrong
}

func askODBC(t *testing.T, file, options string) odbcReport {
	t.Helper()
	driver := testtools.File(t, "/usr/lib/*/odbc/libsqlite3odbc.so", "libsqliteodbc")
	python := testtools.Python(t, "pyodbc", "python3-pyodbc")
	var report odbcReport
	if err := json.Unmarshal(output(t, exec.Command(python, filepath.Join("testdata", "readers", "odbc.py"), driver, file, options)), &report); err != nil {
		t.Fatal(err)
	}
	return report
}
