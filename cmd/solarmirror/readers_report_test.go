package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"solarmirror/cmd/internal/testtools"
	"solarmirror/schema"
)

// readerReport is what the scripts of readers print about a file.
type readerReport struct {
	Columns []reportedColumn
	Since   []int // orders since a day, by each way of passing it that store/README.md recommends
}

type reportedColumn struct {
	Table, Column, Type string
	Values              int
	Total               float64 // of numbers, booleans too
	First, Last         string  // of dates and times, in the form of the file
}

// readAndCompare runs a script with a file and a day, and compares its report with the file.
// typesOf are the reader's types for a declared one.
func readAndCompare(t *testing.T, cmd *exec.Cmd, file string, typesOf func(schema.Type) []string) {
	t.Helper()
	day := strings.TrimSpace(ownAnswer(t, file, "SELECT ifnull(max(order_date), '2026-01-01') FROM bi_requests"))
	cmd.Args = append(cmd.Args, day)
	var report readerReport
	if err := json.Unmarshal(output(t, cmd), &report); err != nil {
		t.Fatal(err)
	}
	reported := map[string]reportedColumn{}
	for _, c := range report.Columns {
		reported[c.Table+"."+c.Column] = c
	}
	for _, table := range schema.All() {
		var parts []string
		for _, c := range table.Columns {
			total, first, last := "0", "NULL", "NULL"
			switch c.Type {
			case schema.BigInt, schema.Surrogate, schema.Real, schema.Boolean:
				total = "total(" + c.Name + ")"
			case schema.Date, schema.Timestamp:
				first, last = "min("+c.Name+")", "max("+c.Name+")"
			}
			parts = append(parts, fmt.Sprintf("count(%s), %s, ifnull(%s, ''), ifnull(%s, '')", c.Name, total, first, last))
		}
		answer := strings.Split(strings.TrimSuffix(ownAnswer(t, file, "SELECT "+strings.Join(parts, ", ")+" FROM "+table.Name), "\n"), "|")
		for i, c := range table.Columns {
			name, values, total, times := table.Name+"."+c.Name, answer[4*i], answer[4*i+1], answer[4*i+2:4*i+4]
			got := reported[name]
			if want := typesOf(c.Type); !slices.Contains(want, got.Type) {
				t.Errorf("%s is %s, arrives as %q, want %q", name, c.Type, got.Type, want)
			}
			if strconv.Itoa(got.Values) != values || got.First != times[0] || got.Last != times[1] {
				t.Errorf("%s has %d values from %q to %q, want %s from %q to %q", name, got.Values, got.First, got.Last, values, times[0], times[1])
			}
			sum, err := strconv.ParseFloat(total, 64)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(got.Total-sum) > 1e-9*math.Abs(sum) {
				t.Errorf("%s has the sum %v, want %v", name, got.Total, sum)
			}
		}
	}
	orders, err := strconv.Atoi(strings.TrimSpace(ownAnswer(t, file, "SELECT count(*) FROM bi_requests WHERE order_date >= '"+day+"'")))
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Since) == 0 || slices.ContainsFunc(report.Since, func(n int) bool { return n != orders }) {
		t.Errorf("orders since %s: %v, want %d", day, report.Since, orders)
	}
}

func readWithJDBC(t *testing.T, file string) {
	driver := testtools.File(t, "/usr/share/java/sqlite-jdbc.jar", "libxerial-sqlite-jdbc-java")
	testtools.Program(t, "javac", "default-jdk-headless") // "java" alone would not compile the source
	java := testtools.Program(t, "java", "default-jdk-headless")
	cmd := exec.Command(java, "-cp", driver, filepath.Join("testdata", "readers", "Jdbc.java"), file)
	readAndCompare(t, cmd, file, func(declared schema.Type) []string { return []string{string(declared)} })
}

func readWithR(t *testing.T, file string) {
	testtools.File(t, "/usr/lib/R/site-library/RSQLite", "r-cran-rsqlite")
	testtools.File(t, "/usr/lib/R/site-library/hms", "r-cran-hms")
	cmd := exec.Command(testtools.Program(t, "Rscript", "r-cran-rsqlite"), filepath.Join("testdata", "readers", "rsqlite.R"), file)
	readAndCompare(t, cmd, file, func(declared schema.Type) []string {
		return map[schema.Type][]string{
			schema.Text:      {"character"},
			schema.Real:      {"numeric"},
			schema.BigInt:    {"integer", "integer64"},
			schema.Surrogate: {"integer", "integer64"},
			schema.Boolean:   {"integer", "numeric"}, // numeric in a table without rows
			schema.Date:      {"Date"},
			schema.Timestamp: {"POSIXct"},
			schema.Blob:      {"blob"},
		}[declared]
	})
}

// betterSQLite reads every table and prints a readerReport.
const betterSQLite = `
import Database from "better-sqlite3";
const [file, day] = process.argv.slice(1);
const db = new Database(file, { readonly: true, fileMustExist: true });
const Columns = [];
for (const table of db.prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'").pluck().all()) {
  const select = db.prepare("SELECT * FROM " + table), rows = select.all();
  for (const { name, type } of select.columns()) {
    const values = rows.map(row => row[name]).filter(value => value !== null);
    const times = ["DATE", "TIMESTAMP"].includes(type) ? values.sort() : [];
    const Total = values.reduce((sum, value) => typeof value === "number" ? sum + value : sum, 0);
    Columns.push({ Table: table, Column: name, Type: type, Values: values.length, Total, First: times.at(0) ?? "", Last: times.at(-1) ?? "" });
  }
}
const Since = [db.prepare("SELECT count(*) FROM bi_requests WHERE order_date >= ?").pluck().get(day)];
console.log(JSON.stringify({ Columns, Since }));`

func readWithNode(t *testing.T, file string) {
	cmd := testtools.Node(t, "better-sqlite3", betterSQLite, file)
	readAndCompare(t, cmd, file, func(declared schema.Type) []string { return []string{string(declared)} })
}

// readWithOffice uses the types of ODBC's sql.h. Whole numbers arrive as text there, blobs too.
func readWithOffice(t *testing.T, file string) {
	driver := testtools.File(t, "/usr/lib/*/odbc/libsqlite3odbc.so", "libsqliteodbc")
	testtools.File(t, "/usr/lib/libreoffice/program/libodbclo.so", "libreoffice-base-drivers")
	python := testtools.Python(t, "uno", "python3-uno")
	sources := filepath.Join(t.TempDir(), "odbc.ini")
	if err := os.WriteFile(sources, []byte("[solar]\nDriver="+driver+"\nDatabase="+file+"\nBigInt=1\nNoCreat=1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, filepath.Join("testdata", "readers", "office.py"), "solar")
	cmd.Env = append(os.Environ(), "ODBCINI="+sources)
	readAndCompare(t, cmd, file, func(declared schema.Type) []string {
		switch declared {
		case schema.BigInt, schema.Surrogate, schema.Blob:
			declared = schema.Text
		}
		var types []string
		for _, code := range odbcTypes(declared) {
			types = append(types, strconv.Itoa(code))
		}
		return types
	})
}
