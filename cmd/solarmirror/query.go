package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/terminal"
	"solarmirror/store"
)

// queryFormats are the forms a result is printed in.
var queryFormats = []string{"table", "csv", "json"}

func newQueryCommand(a *app) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   `query "SQL"`,
		Short: "Ask the mirror in SQL; reads only",
		Long: `Run one SQL statement that reads, and print its result: as a table for people, as
CSV (empty for NULL), or as JSON, one object per line.`,
		Example: `  solarmirror query "SELECT deal_status, count(*) FROM requests GROUP BY 1"`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(queryFormats, format) {
				return &usageError{command: cmd.CommandPath(), err: fmt.Errorf("--format is %q; it must be one of %s", format, strings.Join(queryFormats, ", "))}
			}
			return a.withReader(cmd.Context(), func(mirror *store.Mirror) error {
				return printQuery(cmd.Context(), a.stdout, mirror, args[0], format)
			})
		},
	}
	cmd.Flags().StringVar(&format, "format", "table", "`form` of the result: table, csv or json")
	return cmd
}

// printQuery runs a query and prints its result.
func printQuery(ctx context.Context, w io.Writer, mirror *store.Mirror, sql, format string) error {
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

// printJSONLines keeps the columns' order, which a map would lose.
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
