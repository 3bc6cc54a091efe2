// Package query runs one SQL statement on the mirror and prints its result in one of [Formats]. The
// table cuts off long values; the other formats keep them whole. An error about a table or column
// that does not exist suggests the nearest name.
package query

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"solarmirror/cmd/internal/terminal"
	"solarmirror/store"
)

// Vertical is a table that is printed as one line per column.
const Vertical = "vertical"

// Formats are the output formats of Print, except [Vertical].
var Formats = []string{"table", "csv", "json", "json-array"}

// Print runs a statement that only reads, and prints its result in a format.
func Print(ctx context.Context, w io.Writer, mirror *store.Mirror, sql, format string) error {
	result, err := mirror.Query(ctx, sql)
	if err != nil {
		return suggest(ctx, mirror.Reader(), sql, err)
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
	case "json-array":
		return printJSONArray(w, names, result)
	case Vertical:
		return printVertical(w, names, result)
	}
	return printTable(w, names, result)
}

func printTable(w io.Writer, names []string, result *store.Result) error {
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
	if err := t.Write(w); err != nil || t.Len() > 0 {
		return err
	}
	return printNoRows(w)
}

// printNoRows tells an empty result from one that was lost.
func printNoRows(w io.Writer) error {
	_, err := fmt.Fprintln(w, "(0 rows)")
	return err
}

// printVertical prints each row as a heading and one line per column, as psql does after "\x".
// The next lines of a value are indented.
func printVertical(w io.Writer, names []string, result *store.Result) error {
	labels, width := make([]string, len(names)), 0
	for i, name := range names {
		labels[i] = terminal.Harmless(name)
		width = max(width, utf8.RuneCountInString(labels[i]))
	}
	n := 0
	for row, err := range result.Rows() {
		if err != nil {
			return err
		}
		n++
		var text strings.Builder
		fmt.Fprintf(&text, "─[ row %d ]─\n", n)
		for i, v := range row {
			label := labels[i]
			for line := range strings.SplitSeq(terminal.HarmlessLines(terminal.Plain(v)), "\n") {
				text.WriteString(strings.TrimRight(fmt.Sprintf("%-*s  %s", width, label, line), " ") + "\n")
				label = ""
			}
		}
		if _, err := io.WriteString(w, text.String()); err != nil {
			return err
		}
	}
	if n == 0 {
		return printNoRows(w)
	}
	return nil
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

func printJSONLines(w io.Writer, names []string, result *store.Result) error {
	for row, err := range result.Rows() {
		if err != nil {
			return err
		}
		object, err := jsonObject(names, row)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w, object); err != nil {
			return err
		}
	}
	return nil
}

// printJSONArray leaves the array open when it fails, so that no parser takes it for the whole.
func printJSONArray(w io.Writer, names []string, result *store.Result) error {
	before, after := "[\n", "[]\n"
	for row, err := range result.Rows() {
		if err != nil {
			return err
		}
		object, err := jsonObject(names, row)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(w, before+object); err != nil {
			return err
		}
		before, after = ",\n", "\n]\n"
	}
	_, err := io.WriteString(w, after)
	return err
}

// JSONValue is a value of a result as JSON can have it: bytes as text, and null for an infinite
// number.
func JSONValue(v any) any {
	switch typed := v.(type) {
	case []byte:
		return terminal.Plain(typed)
	case float64:
		if math.IsInf(typed, 0) {
			return nil
		}
	}
	return v
}

// jsonObject builds the object itself, because marshaling a map would lose the column order.
func jsonObject(names []string, row []any) (string, error) {
	var members strings.Builder
	for i, v := range row {
		name, err := json.Marshal(names[i])
		if err != nil {
			return "", err
		}
		value, err := json.Marshal(JSONValue(v))
		if err != nil {
			return "", fmt.Errorf("column %s: %w", names[i], err)
		}
		fmt.Fprintf(&members, ",%s:%s", name, value)
	}
	return "{" + strings.TrimPrefix(members.String(), ",") + "}", nil
}
