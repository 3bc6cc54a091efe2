package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/config"
	"solarmirror/cmd/internal/outboxcmd"
	"solarmirror/store/outbox"
)

func newOutboxListCommand(a *app) *cobra.Command {
	var asJSON bool
	var states []string
	for _, s := range outbox.States() {
		states = append(states, string(s))
	}
	cmd := &cobra.Command{
		Use:       "list [state…]",
		Short:     "List the rows of the outbox, oldest first",
		Long:      "List the rows of the outbox, oldest first, in all states or in those named:\n" + strings.Join(states, ", ") + ".",
		Example:   "  solarmirror outbox list ambiguous rejected",
		ValidArgs: states,
		RunE: func(cmd *cobra.Command, args []string) error {
			var wanted []outbox.State
			for _, arg := range args {
				if !slices.Contains(states, arg) {
					return &usageError{command: cmd.CommandPath(), err: fmt.Errorf("there is no state %q; did you mean %q?", arg, config.Nearest(arg, states))}
				}
				wanted = append(wanted, outbox.State(arg))
			}
			return a.withOutbox(cmd.Context(), func(_ config.Config, box *outbox.Outbox) error {
				rows, err := box.Rows(cmd.Context(), wanted...)
				if err != nil {
					return err
				}
				return outboxcmd.PrintRows(a.stdout, rows, asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per row: "+outboxcmd.RowFields)
	return cmd
}

func newOutboxShowCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "show ID",
		Short:   "Print one row of the outbox whole, but for its password",
		Example: "  solarmirror outbox show 3",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := rowNumber(cmd, args[0])
			if err != nil {
				return err
			}
			return a.withOutbox(cmd.Context(), func(_ config.Config, box *outbox.Outbox) error {
				row, err := box.Row(cmd.Context(), id)
				if err != nil {
					return err
				}
				attempts, err := box.Attempts(cmd.Context(), id)
				if err != nil {
					return err
				}
				return outboxcmd.PrintRow(a.stdout, row, attempts, asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object: "+outboxcmd.RowFields+", history")
	return cmd
}
