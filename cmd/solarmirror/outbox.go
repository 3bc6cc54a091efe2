package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/buildinfo"
	"solarmirror/cmd/internal/config"
	"solarmirror/cmd/internal/outboxcmd"
	"solarmirror/cmd/internal/setup"
	"solarmirror/cmd/internal/terminal"
	"solarmirror/store/outbox"
	"solarmirror/store/sqlitefile"
	"solarmirror/sync/push"
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

func newOutboxAddCommand(a *app) *cobra.Command {
	var allowDuplicate bool
	cmd := &cobra.Command{
		Use:   "add",
		Short: "Queue one company or several, given as JSON on standard input",
		Long: `Queue companies to be created. Standard input holds the platform's own JSON, one
object or an array of them; on a terminal the fields are asked for, each again until it is
valid, the password without showing it. Unless all is valid nothing is queued.`,
		Example: `  echo '{"name":"Ana","email":"ana@example.com","password":"…","CNPJ":"11.222.333/0001-81"}' | solarmirror outbox add`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			entries, err := a.readCompanies(cmd.Context())
			if err != nil {
				return err
			}
			return a.queue(cmd.Context(), entries, outboxcmd.QueueOptions{AllowDuplicate: allowDuplicate})
		},
	}
	cmd.Flags().BoolVar(&allowDuplicate, "allow-duplicate", false, "queue it although a company with the same CPF, CNPJ or e-mail is queued, in doubt or created")
	return cmd
}

// readCompanies reads what add is given.
func (a *app) readCompanies(ctx context.Context) ([]push.Entry, error) {
	if terminal.Is(a.stdin) {
		return outboxcmd.Ask(ctx, terminal.NewDialogue(a.stdin, a.stderr))
	}
	return push.ReadJSON(a.stdin)
}

func newOutboxImportCommand(a *app) *cobra.Command {
	var format string
	var o outboxcmd.QueueOptions
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Queue the companies of a CSV or JSON file",
		Long: `Queue the companies of a file: CSV whose first line names the columns as the outbox does
(name, email, password, cnpj, address_cep, …; with commas or semicolons), JSON Lines or
JSON in the platform's own form. "-" reads standard input. All are queued or none, unless
--skip-invalid leaves out those that are not valid.`,
		Example: "  solarmirror outbox import companies.csv --dry-run",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			format, err := outboxcmd.FileFormat(args[0], format)
			if err != nil {
				return &usageError{command: cmd.CommandPath(), err: err}
			}
			entries, err := outboxcmd.ReadFile(args[0], format, a.stdin)
			if err != nil {
				return err
			}
			return a.queue(cmd.Context(), entries, o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&format, "format", "", "`form` of the file: csv, jsonl or json (default: by its name)")
	flags.BoolVar(&o.DryRun, "dry-run", false, "validate and report line by line, queue nothing")
	flags.BoolVar(&o.SkipInvalid, "skip-invalid", false, "queue the valid ones although others are not")
	flags.BoolVar(&o.AllowDuplicate, "allow-duplicate", false, "queue companies although others with the same CPF, CNPJ or e-mail are queued, in doubt or created")
	return cmd
}

// queue queues the valid entries, tells the mirror and prints the rows.
func (a *app) queue(ctx context.Context, entries []push.Entry, o outboxcmd.QueueOptions) error {
	batch, err := outboxcmd.NewBatch(entries, o, a.stderr)
	if err != nil {
		return err
	}
	return a.withOutbox(ctx, func(c config.Config, box *outbox.Outbox) error {
		if o.DryRun {
			return batch.DryRun(ctx, box, a.stdout, a.stderr)
		}
		rows, err := batch.Queue(ctx, box)
		if err != nil {
			return err
		}
		a.tell(ctx, c, rows...)
		return outboxcmd.PrintQueued(a.stdout, rows)
	})
}

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
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per row")
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
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

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
