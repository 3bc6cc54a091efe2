package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/query"
	"solarmirror/store"
)

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
			if !slices.Contains(query.Formats, format) {
				return &usageError{command: cmd.CommandPath(), err: fmt.Errorf("--format is %q; it must be one of %s", format, strings.Join(query.Formats, ", "))}
			}
			return a.withReader(cmd.Context(), func(mirror *store.Mirror) error {
				return query.Print(cmd.Context(), a.stdout, mirror, args[0], format)
			})
		},
	}
	cmd.Flags().StringVar(&format, "format", "table", "`form` of the result: table, csv or json")
	return cmd
}
