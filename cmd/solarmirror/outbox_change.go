package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/buildinfo"
	"solarmirror/cmd/internal/config"
	"solarmirror/cmd/internal/outboxcmd"
	"solarmirror/store/outbox"
)

// changeRow runs one change of one row, tells the mirror and prints where the row stands.
func (a *app) changeRow(ctx context.Context, id int64, change func(*outbox.Outbox) (outbox.Row, error)) error {
	return a.withOutbox(ctx, func(c config.Config, box *outbox.Outbox) error {
		row, err := change(box)
		if err != nil {
			return err
		}
		a.tell(ctx, c, row)
		_, err = fmt.Fprintf(a.stdout, "Row %d is %s.\n", id, row.State)
		return err
	})
}

func newOutboxRetryCommand(a *app) *cobra.Command {
	var from string
	cmd := &cobra.Command{
		Use:   "retry ID",
		Short: "Make a pending row due at once, or queue a rejected one again",
		Long: `Make a pending row due at once, or queue a rejected one again. A rejected row needs the
corrected company, in the platform's own JSON, from a file or from standard input (-): its
password was erased when it was rejected.

A row in doubt is not tried again this way; see "solarmirror outbox resolve".`,
		Example: "  solarmirror outbox retry 3 --from corrected.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := rowNumber(cmd, args[0])
			if err != nil {
				return err
			}
			correction, err := outboxcmd.ReadCorrection(from, a.stdin)
			if err != nil {
				return err
			}
			return a.changeRow(cmd.Context(), id, func(box *outbox.Outbox) (outbox.Row, error) {
				return outboxcmd.Retry(cmd.Context(), box, id, correction)
			})
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "`file` with the corrected company as JSON; - is standard input")
	return cmd
}

func newOutboxResolveCommand(a *app) *cobra.Command {
	var as string
	var yes bool
	cmd := &cobra.Command{
		Use:   "resolve ID --as done|pending",
		Short: "Settle a doubt: the company exists, or it is to be sent again",
		Long: `Settle a row in doubt, after looking on the platform whether the company exists:
"--as done" when it does, "--as pending" when it does not and is to be sent again. Asks for
confirmation on a terminal and wants --yes elsewhere, because a wrong "pending" creates the
company twice and a wrong "done" never creates it.`,
		Example: "  solarmirror outbox resolve 3 --as done",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := rowNumber(cmd, args[0])
			if err != nil {
				return err
			}
			if as != string(outbox.StateDone) && as != string(outbox.StatePending) {
				return &usageError{command: cmd.CommandPath(), err: fmt.Errorf("--as is %q; it must be done or pending", as)}
			}
			if err := a.confirm(cmd, yes, fmt.Sprintf("Settle row %d as %s?", id, as)); err != nil {
				return err
			}
			return a.changeRow(cmd.Context(), id, func(box *outbox.Outbox) (outbox.Row, error) {
				row, err := box.Resolve(cmd.Context(), id, as == string(outbox.StateDone))
				if err == nil && row.State == outbox.StatePending && !row.HasPassword {
					fmt.Fprintf(a.stderr, "its password was erased; give the company again with \"%s outbox retry %d --from FILE\"\n", buildinfo.Command(), id)
				}
				return row, err
			})
		},
	}
	cmd.Flags().StringVar(&as, "as", "", "`what` it is: done or pending")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

func newOutboxCancelCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "cancel ID",
		Short:   "Give up a pending row",
		Example: "  solarmirror outbox cancel 3",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := rowNumber(cmd, args[0])
			if err != nil {
				return err
			}
			return a.changeRow(cmd.Context(), id, func(box *outbox.Outbox) (outbox.Row, error) {
				return box.Cancel(cmd.Context(), id)
			})
		},
	}
}
