package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/buildinfo"
	"solarmirror/cmd/internal/config"
	"solarmirror/store"
	"solarmirror/sync/push"
)

// changeRow runs one change of one row, tells the mirror and prints where the row stands.
func (a *app) changeRow(ctx context.Context, id int64, change func(*store.Outbox) (store.OutboxRow, error)) error {
	return a.withOutbox(ctx, func(c config.Config, outbox *store.Outbox) error {
		row, err := change(outbox)
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
			correction, err := a.readCorrection(from)
			if err != nil {
				return err
			}
			return a.changeRow(cmd.Context(), id, func(outbox *store.Outbox) (store.OutboxRow, error) {
				if correction == nil {
					if err := a.needsNoCorrection(cmd.Context(), outbox, id); err != nil {
						return store.OutboxRow{}, err
					}
				}
				return outbox.Retry(cmd.Context(), id, correction)
			})
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "`file` with the corrected company as JSON; - is standard input")
	return cmd
}

// readCorrection reads the one company of --from; nil without.
func (a *app) readCorrection(from string) (*store.Company, error) {
	if from == "" {
		return nil, nil
	}
	entries, err := a.readImport(from, "json")
	if err != nil {
		return nil, err
	}
	if len(entries) != 1 {
		return nil, fmt.Errorf("%s holds %d companies; one is wanted", from, len(entries))
	}
	if entries[0].Err != nil {
		return nil, fmt.Errorf("%s: %w", from, entries[0].Err)
	}
	return &entries[0].Company, nil
}

// needsNoCorrection refuses a row that the next push would only reject.
func (a *app) needsNoCorrection(ctx context.Context, outbox *store.Outbox, id int64) error {
	row, err := outbox.Row(ctx, id)
	if err != nil {
		return err
	}
	if row.State != store.StateRejected && row.State != store.StatePending {
		return nil // Retry says what can be done
	}
	company := push.Normalise(row.Company)
	company.Password = "is not read here"
	err = push.Validate(company)
	switch {
	case err != nil:
		return fmt.Errorf("row %d is not valid: %w; correct it with `solarmirror outbox retry %d --from FILE`", id, err, id)
	case !row.HasPassword:
		return fmt.Errorf("the password of row %d was erased; give the company again with `solarmirror outbox retry %d --from FILE`", id, id)
	}
	return nil
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
			if as != string(store.StateDone) && as != string(store.StatePending) {
				return &usageError{command: cmd.CommandPath(), err: fmt.Errorf("--as is %q; it must be done or pending", as)}
			}
			if err := a.confirm(cmd, yes, fmt.Sprintf("Settle row %d as %s?", id, as)); err != nil {
				return err
			}
			return a.changeRow(cmd.Context(), id, func(outbox *store.Outbox) (store.OutboxRow, error) {
				row, err := outbox.Resolve(cmd.Context(), id, as == string(store.StateDone))
				if err == nil && row.State == store.StatePending && !row.HasPassword {
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
			return a.changeRow(cmd.Context(), id, func(outbox *store.Outbox) (store.OutboxRow, error) {
				return outbox.Cancel(cmd.Context(), id)
			})
		},
	}
}

func newOutboxPurgeCommand(a *app) *cobra.Command {
	olderThan := -1
	cmd := &cobra.Command{
		Use:   "purge",
		Short: "Delete rows that were finished long ago",
		Long: `Delete the done, rejected and cancelled rows that were finished more than
[outbox] keep_days ago, or another number of days. What became of them stays in the mirror's
company_creations, and their companies still count as created. Every push does the same.`,
		Example: "  solarmirror outbox purge --older-than 30",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withOutbox(cmd.Context(), func(c config.Config, outbox *store.Outbox) error {
				keep := c.Outbox.KeepDays
				switch {
				case cmd.Flags().Changed("older-than") && olderThan < 0:
					return &usageError{command: cmd.CommandPath(), err: fmt.Errorf("--older-than is %d; it must not be negative", olderThan)}
				case cmd.Flags().Changed("older-than"):
					keep = olderThan
				case keep == 0:
					return &usageError{command: cmd.CommandPath(), err: errors.New("[outbox] keep_days keeps rows for ever; say --older-than")}
				}
				purged, err := outbox.Purge(cmd.Context(), time.Now().Add(-time.Duration(keep)*24*time.Hour))
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(a.stdout, "Deleted %d finished rows.\n", purged)
				return err
			})
		},
	}
	cmd.Flags().IntVar(&olderThan, "older-than", -1, "`days` since they were finished, in place of [outbox] keep_days")
	return cmd
}

func newOutboxKeygenCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "keygen FILE",
		Short: "Make a key that seals passwords",
		Long: `Make a private file with a new key. Name it in [outbox] key_file: from then on passwords
wait in the outbox sealed with AES-256-GCM, those there already included. Keep the key apart
from backups of the outbox; without it sealed passwords are lost.`,
		Example: "  solarmirror outbox keygen /run/secrets/outbox.key",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := store.GenerateKey(args[0]); err != nil {
				return err
			}
			_, err := fmt.Fprintf(a.stdout, "Made %s. Name it in the configuration:\n\n[outbox]\nkey_file = %q\n", args[0], args[0])
			return err
		},
	}
}
