// Package query runs one SQL statement on the mirror and prints its result as a table, CSV or JSON
// Lines. The table cuts off long values; CSV and JSON Lines keep them whole.
package query

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"solarmirror/cmd/internal/terminal"
	"solarmirror/store"
)

// Formats are the output formats of Print.
var Formats = []string{"table", "csv", "json"}

// Print runs a statement that only reads, and prints its result in one of Formats.
func Print(ctx context.Context, w io.Writer, mirror *store.Mirror, sql, format string) error {
	result, err := mirror.Query(ctx, sql)
	if err != nil {
		return err
	}
	defer result.Close()
	names := make([]string, len(result.Columns))
	for i, c := range result.Columns {
		names[i] = c.Name
	}
	switch format {
	case "csv":
		return printCSV(w, names, result)
	case "json":
		return printJSONLines(w, names, result)
	}
	t := terminal.NewTable(names...)
	for row, err := range result.Rows() {
		if err != nil {
			return err
		}
		cells := make([]any, len(row))
		for i, v := range row {
			if v != nil {
				cells[i] = terminal.Cell(v)
			}
		}
		t.Add(cells...)
	}
	return t.Write(w)
}

func printCSV(w io.Writer, names []string, result *store.Result) error {
	out := csv.NewWriter(w)
	if err := out.Write(names); err != nil {
		return err
	}
	for row, err := range result.Rows() {
		if err != nil {
			return err
		}
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = terminal.Plain(v)
		}
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// printJSONLines builds each object itself, because marshaling a map would lose the column order.
func printJSONLines(w io.Writer, names []string, result *store.Result) error {
	for row, err := range result.Rows() {
		if err != nil {
			return err
		}
		var line strings.Builder
		for i, v := range row {
			if b, ok := v.([]byte); ok {
				v = terminal.Plain(b)
			}
			name, err := json.Marshal(names[i])
			if err != nil {
				return err
			}
			value, err := json.Marshal(v)
			if err != nil {
				return fmt.Errorf("column %s: %w", names[i], err)
			}
			fmt.Fprintf(&line, ",%s:%s", name, value)
		}
		if _, err := fmt.Fprintf(w, "{%s}\n", strings.TrimPrefix(line.String(), ",")); err != nil {
			return err
		}
	}
	return nil
}
