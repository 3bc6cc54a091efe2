package main

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	"solarmirror/cmd/internal/testtools"
	"solarmirror/schema"
)

// duckDBReader attaches a file and prints each column's type, values and, of numbers, sum. DuckDB fetches its SQLite extension
// from the network at its first use.
const duckDBReader = `
import { DuckDBInstance } from "@duckdb/node-api";
const db = await (await DuckDBInstance.create()).connect();
try {
  await db.run("INSTALL sqlite; LOAD sqlite");
} catch (fault) {
  console.log(JSON.stringify({ Unreachable: String(fault) }));
  process.exit(0);
}
await db.run("ATTACH '" + process.argv[1].replaceAll("'", "''") + "' AS mirror (TYPE sqlite, READ_ONLY)");
const rows = async sql => (await db.runAndReadAll(sql)).getRowObjectsJson();
const Columns = [];
for (const c of await rows("SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE database_name = 'mirror'")) {
  const name = '"' + c.column_name + '"', numeric = ["BIGINT", "DOUBLE"].includes(c.data_type);
  const [found] = await rows("SELECT count(" + name + ") AS n, " + (numeric ? "sum(" + name + ")::DOUBLE" : "NULL::DOUBLE") + " AS total FROM mirror." + c.table_name);
  Columns.push({ Table: c.table_name, Column: c.column_name, Type: c.data_type, Values: Number(found.n), Total: found.total });
}
console.log(JSON.stringify({ Columns }));`

// duckDBType is what DuckDB makes of a declared type; booleans become numbers there.
func duckDBType(declared schema.Type) string {
	switch declared {
	case schema.Text:
		return "VARCHAR"
	case schema.Real:
		return "DOUBLE"
	case schema.BigInt, schema.Surrogate, schema.Boolean:
		return "BIGINT"
	}
	return string(declared)
}

func readWithDuckDB(t *testing.T, file string) {
	var report struct {
		Unreachable string
		Columns     []struct {
			Table, Column, Type string
			Values              int
			Total               *float64 // nil where there is nothing to add
		}
	}
	if err := json.Unmarshal(output(t, testtools.Node(t, "@duckdb/node-api", duckDBReader, file)), &report); err != nil {
		t.Fatal(err)
	}
	if report.Unreachable != "" {
		t.Skipf("DuckDB cannot fetch its SQLite extension from here: %s", report.Unreachable)
	}
	for _, c := range report.Columns {
		declared := schema.Find(c.Table).Column(c.Column).Type
		if c.Type != duckDBType(declared) {
			t.Errorf("%s.%s is %s, in DuckDB %s", c.Table, c.Column, declared, c.Type)
		}
		count, total, _ := strings.Cut(strings.TrimSpace(ownAnswer(t, file, "SELECT count("+c.Column+"), total("+c.Column+") FROM "+c.Table)), "|")
		sum, err := strconv.ParseFloat(total, 64)
		if err != nil {
			t.Fatal(err)
		}
		if count != strconv.Itoa(c.Values) {
			t.Errorf("%s.%s has %d values in DuckDB, want %s", c.Table, c.Column, c.Values, count)
		}
		if c.Total != nil && math.Abs(*c.Total-sum) > 1e-9*math.Abs(sum) {
			t.Errorf("%s.%s has the sum %v in DuckDB, want %v", c.Table, c.Column, *c.Total, sum)
		}
	}
	if len(report.Columns) != schema.Dictionary().Len() {
		t.Errorf("%d columns, want the dictionary's %d", len(report.Columns), schema.Dictionary().Len())
	}
}
