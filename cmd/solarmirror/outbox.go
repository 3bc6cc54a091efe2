package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/config"
	"solarmirror/cmd/internal/setup"
	"solarmirror/store/outbox"
	"solarmirror/store/sqlitefile"
)

func newOutboxCommand(a *app) *cobra.Command {
	group := &cobra.Command{
		Use:   "outbox",
		Short: "Queue companies to create on the platform, and look after the queue",
		Long: `The outbox is a private file of companies to create on the platform. "solarmirror push"
sends what is due. Programs of the same user may also insert rows by SQL:

  INSERT INTO company_outbox (name, email, password, cnpj)
  VALUES ('Ana', 'ana@example.com', '…', '11.222.333/0001-81');

Such rows are validated when they are sent, and their passwords sealed as soon as a
command with a key opens the outbox. A company with the CPF, CNPJ or e-mail of another that
waits, is in doubt or was created is rejected, unless the row says allow_duplicate = 1.`,
		Example: "  solarmirror outbox add < company.json\n  solarmirror outbox list ambiguous",
	}
	group.AddCommand(
		newOutboxAddCommand(a), newOutboxImportCommand(a), newOutboxListCommand(a), newOutboxShowCommand(a), newOutboxRetryCommand(a),
		newOutboxResolveCommand(a), newOutboxCancelCommand(a), newOutboxPurgeCommand(a), newOutboxKeygenCommand(a),
	)
	return group
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
			return a.withOutbox(cmd.Context(), func(c config.Config, box *outbox.Outbox) error {
				keep := c.Outbox.KeepDays
				switch {
				case cmd.Flags().Changed("older-than") && olderThan < 0:
					return &usageError{command: cmd.CommandPath(), err: fmt.Errorf("--older-than is %d; it must not be negative", olderThan)}
				case cmd.Flags().Changed("older-than"):
					keep = olderThan
				case keep == 0:
					return &usageError{command: cmd.CommandPath(), err: errors.New("[outbox] keep_days keeps rows for ever; say --older-than")}
				}
				purged, err := box.Purge(cmd.Context(), time.Now().Add(-time.Duration(keep)*24*time.Hour))
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
			if err := sqlitefile.GenerateKey(args[0]); err != nil {
				return err
			}
			_, err := fmt.Fprintf(a.stdout, "Made %s. Name it in the configuration:\n\n[outbox]\nkey_file = %q\n", args[0], args[0])
			return err
		},
	}
}

// rowNumber reads the argument of a command that is about one row.
func rowNumber(cmd *cobra.Command, arg string) (int64, error) {
	id, err := strconv.ParseInt(arg, 10, 64)
	if err != nil || id < 1 {
		return 0, &usageError{command: cmd.CommandPath(), err: fmt.Errorf("%q is no number of a row; \"solarmirror outbox list\" shows them", arg)}
	}
	return id, nil
}

// tell tells the mirror, if there is one, the state of rows. A mirror that cannot be told is no
// failure: the next push does it.
func (a *app) tell(ctx context.Context, c config.Config, rows ...outbox.Row) {
	creations, err := setup.Creations(ctx, c)
	if err == nil && creations != nil {
		err = errors.Join(creations.Record(ctx, rows...), creations.Close())
	}
	if err != nil {
		fmt.Fprintf(a.stderr, "the mirror was not told, and the next push does it: %v\n", err)
	}
}
