package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"solarmirror/cmd/internal/testtools"
	"solarmirror/schema"
)

// askDuckDB runs each query in DuckDB and returns its rows, all of text or null.
func askDuckDB(t *testing.T, queries []string) [][][]any {
	t.Helper()
	cmd := testtools.Node(t, "@duckdb/node-api", `
		import { DuckDBInstance } from "@duckdb/node-api";
		let text = "";
		for await (const chunk of process.stdin) text += chunk;
		const db = await (await DuckDBInstance.create()).connect();
		for (const query of JSON.parse(text)) {
			const rows = await (await db.runAndReadAll(query)).getRowsJson();
			process.stdout.write(JSON.stringify(rows) + "\n");
		}`)
	text, err := json.Marshal(queries)
	must(t, err)
	var faults bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(text), &faults
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, faults.String())
	}
	var answers [][][]any
	for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
		var rows [][]any
		must(t, decoder.Decode(&rows))
		answers = append(answers, rows)
	}
	if len(answers) != len(queries) {
		t.Fatalf("%d answers to %d queries", len(answers), len(queries))
	}
	return answers
}

// duckTypes is what DuckDB calls the types of the mirror, and how to write a value as text without loss.
var duckTypes = map[schema.Type][2]string{
	schema.Text: {"VARCHAR", "%s"}, schema.Real: {"DOUBLE", "%s::VARCHAR"}, schema.BigInt: {"BIGINT", "%s::VARCHAR"}, schema.Surrogate: {"BIGINT", "%s::VARCHAR"},
	schema.Boolean: {"BOOLEAN", "%s::INTEGER::VARCHAR"}, schema.Date: {"DATE", "%s::VARCHAR"}, schema.Blob: {"BLOB", "lower(hex(%s))"},
	schema.Timestamp: {"TIMESTAMP WITH TIME ZONE", "strftime(make_timestamp(epoch_us(%s)), '%%Y-%%m-%%d %%H:%%M:%%S.%%g')"},
}

// TestDuckDBReadsParquet: every value of every table, typed, is SQLite's, and months are what their names say.
func TestDuckDBReadsParquet(t *testing.T) {
	t.Parallel()
	m, dir := syncedMirror(t), t.TempDir()
	mustExport(t, m, Options{Dir: dir, Format: Parquet})
	manifest := manifestOf(t, dir)
	var queries []string
	for i, table := range schema.All() {
		var values []string
		for _, c := range table.Columns {
			values = append(values, fmt.Sprintf(duckTypes[c.Type][1], `"`+c.Name+`"`))
		}
		pattern := filepath.Join(dir, table.Name, "part.parquet")
		if manifest.Tables[i].PartitionedBy != "" {
			pattern = filepath.Join(dir, table.Name, "*", "part.parquet")
		}
		queries = append(queries,
			fmt.Sprintf("SELECT column_name, column_type FROM (DESCRIBE FROM read_parquet('%s', hive_partitioning = false))", pattern),
			fmt.Sprintf("SELECT %s FROM read_parquet('%s', hive_partitioning = false)", strings.Join(values, ", "), pattern))
	}
	queries = append(queries, fmt.Sprintf(`SELECT count(*)::VARCHAR, count(month)::VARCHAR, count(DISTINCT month)::VARCHAR, count(*) FILTER (month IS DISTINCT FROM strftime(
		make_timestamp(epoch_us(CASE request_type WHEN 'order' THEN coalesce(order_created, budget_created) ELSE coalesce(budget_created, order_created) END)), '%%Y-%%m'))::VARCHAR
		FROM read_parquet('%s', hive_partitioning = true)`, filepath.Join(dir, "requests", "*", "*.parquet")))
	answers := askDuckDB(t, queries)
	for i, table := range schema.All() {
		var types [][]any
		for _, c := range table.Columns {
			name := duckTypes[c.Type][0]
			if c.Local {
				name = "TIMESTAMP"
			}
			types = append(types, []any{c.Name, name})
		}
		if d := cmp.Diff(types, answers[2*i]); d != "" {
			t.Errorf("types of %s:\n%s", table.Name, d)
		}
		if d := cmp.Diff(lines(asDuckDB(stored(t, m, table))), lines(withNumbers(t, table, answers[2*i+1]))); d != "" {
			t.Errorf("%s (- mirror, + DuckDB):\n%s", table.Name, d)
		}
	}
	months := answers[len(answers)-1][0]
	total := int64(len(stored(t, m, schema.Requests)))
	if months[0] != fmt.Sprint(total) || months[1] == "0" || months[1] == months[0] || months[3] != "0" {
		t.Errorf("%d requests; DuckDB counts all, with a month, months, in a wrong month: %v", total, months)
	}
}

// TestDuckDBReadsCSV: so does the plain style, NULL and the empty text apart.
func TestDuckDBReadsCSV(t *testing.T) {
	t.Parallel()
	m, dir := syncedMirror(t), t.TempDir()
	mustExport(t, m, Options{Dir: dir, Format: CSV})
	var queries []string
	for _, table := range schema.All() {
		queries = append(queries, fmt.Sprintf(`FROM read_csv('%s', all_varchar = true, header = true, auto_detect = false, delim = ',', quote = '"', escape = '"',
			nullstr = '', allow_quoted_nulls = false, max_line_size = 10000000, columns = {%s})`, filepath.Join(dir, table.Name+".csv"), csvColumns(table)))
	}
	answers := askDuckDB(t, queries)
	for i, table := range schema.All() {
		if d := cmp.Diff(lines(asDuckDB(stored(t, m, table))), lines(withNumbers(t, table, answers[i]))); d != "" {
			t.Errorf("%s (- mirror, + DuckDB):\n%s", table.Name, d)
		}
	}
}

func csvColumns(table *schema.Table) string {
	var list []string
	for _, c := range table.Columns {
		list = append(list, fmt.Sprintf("'%s': 'VARCHAR'", c.Name))
	}
	return strings.Join(list, ", ")
}

// asDuckDB writes integers and bytes as DuckDB was asked to.
func asDuckDB(rows [][]any) [][]any {
	for _, row := range rows {
		for i, v := range row {
			switch v := v.(type) {
			case int64:
				row[i] = fmt.Sprint(v)
			case []byte:
				row[i] = fmt.Sprintf("%x", v)
			}
		}
	}
	return rows
}

// withNumbers reads the REAL columns of an answer: their text has more than one form.
func withNumbers(t *testing.T, table *schema.Table, rows [][]any) [][]any {
	t.Helper()
	for i, c := range table.Columns {
		for _, row := range rows {
			if text, ok := row[i].(string); ok && c.Type == schema.Real {
				number, err := strconv.ParseFloat(text, 64)
				must(t, err)
				row[i] = number
			}
		}
	}
	return rows
}
