package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/query"
	"solarmirror/store"
)

func newQueryCommand(a *app) *cobra.Command {
	var format, file string
	var vertical, asJSON bool
	cmd := &cobra.Command{
		Use:   `query "SQL" | query - | query --file FILE`,
		Short: "Ask the mirror in SQL; reads only",
		Long: `Run one SQL statement that reads, and print its result: as a table for people, as
CSV (empty for NULL), as JSON with one object per line, or as one JSON array; an infinite
number is null in JSON. "-" reads the statement from standard input.`,
		Example: `  solarmirror query "SELECT deal_status, count(*) FROM requests GROUP BY 1"
  solarmirror query --vertical "SELECT * FROM requests LIMIT 1"
  solarmirror query --format csv --file revenue.sql`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 || (len(args) == 1) == (file != "") {
				return errors.New("give one statement in quotes, or - for standard input, or --file")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(query.Formats, format) {
				return &usageError{command: cmd.CommandPath(), err: fmt.Errorf("--format is %q; it must be one of %s", format, strings.Join(query.Formats, ", "))}
			}
			switch {
			case vertical:
				format = query.Vertical
			case asJSON:
				format = "json"
			}
			sql, err := a.readStatement(args, file)
			if err != nil {
				return fmt.Errorf("read the statement: %w", err)
			}
			return a.withReader(cmd.Context(), func(mirror *store.Mirror) error {
				return query.Print(cmd.Context(), a.stdout, mirror, sql, format)
			})
		},
	}
	cmd.Flags().StringVar(&format, "format", "table", "`form` of the result: "+strings.Join(query.Formats, ", "))
	cmd.Flags().StringVar(&file, "file", "", "read the statement from a `file`")
	cmd.Flags().BoolVar(&vertical, "vertical", false, "print a table as one line per column, with whole values")
	cmd.Flags().BoolVar(&asJSON, "json", false, "the same as --format json: one object per row, with the columns of the statement")
	cmd.MarkFlagsMutuallyExclusive("vertical", "format", "json")
	return cmd
}

// readStatement returns the statement of the file, of standard input, or of the command line.
func (a *app) readStatement(args []string, file string) (string, error) {
	var text []byte
	var err error
	switch {
	case file != "":
		text, err = os.ReadFile(file)
	case args[0] == "-":
		text, err = io.ReadAll(a.stdin)
	default:
		return args[0], nil
	}
	return strings.TrimPrefix(string(text), "\ufeff"), err
}
