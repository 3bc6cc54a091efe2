package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/config"
	"solarmirror/cmd/internal/outboxcmd"
	"solarmirror/cmd/internal/terminal"
	"solarmirror/store/outbox"
	"solarmirror/sync/push"
)

const queuedJSON = "print one JSON object per queued company: " + outboxcmd.RowFields

func newOutboxAddCommand(a *app) *cobra.Command {
	var o outboxcmd.QueueOptions
	cmd := &cobra.Command{
		Use:   "add",
		Short: "Queue one company or several, given as JSON on standard input",
		Long: `Queue companies to be created. Standard input holds the platform's own JSON: one
object, an array of them, or the body of its request, {"create":[…]}. On a terminal the
fields are asked for, each again until it is valid, the password without showing it.
Unless all is valid nothing is queued.`,
		Example: `  echo '{"name":"Ana","email":"ana@example.com","password":"…","CNPJ":"11.222.333/0001-81"}' | solarmirror outbox add`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			entries, err := a.readCompanies(cmd.Context())
			if err != nil {
				return err
			}
			return a.queue(cmd.Context(), entries, o)
		},
	}
	cmd.Flags().BoolVar(&o.JSON, "json", false, queuedJSON)
	cmd.Flags().BoolVar(&o.AllowDuplicate, "allow-duplicate", false, "queue it although a company with the same CPF, CNPJ or e-mail is queued, in doubt or created")
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
	var template bool
	var o outboxcmd.QueueOptions
	cmd := &cobra.Command{
		Use:   "import FILE | import --template",
		Short: "Queue the companies of a CSV or JSON file",
		Long: `Queue the companies of a file: CSV, JSON Lines or JSON in the platform's own form. The
first line of CSV names the columns, in Portuguese (nome, e-mail, senha, CNPJ, CEP, …; case
and accents do not count) or as the outbox does (name, email, password, cnpj, address_cep,
…), with commas, semicolons or tabs; --template prints that line with all columns. Empty
lines are skipped. "-" reads standard input. All are queued or none, unless --skip-invalid leaves out those that are not
valid.`,
		Example: "  solarmirror outbox import --template > companies.csv\n  solarmirror outbox import companies.csv --dry-run",
		Args: func(cmd *cobra.Command, args []string) error {
			if template {
				return cobra.NoArgs(cmd, args)
			}
			return cobra.ExactArgs(1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if template {
				_, err := io.WriteString(a.stdout, push.Template())
				return err
			}
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
	flags.BoolVar(&template, "template", false, "print a CSV file without companies to fill in, with Portuguese columns")
	flags.BoolVar(&o.JSON, "json", false, queuedJSON)
	flags.BoolVar(&o.DryRun, "dry-run", false, "validate and report line by line, queue nothing")
	flags.BoolVar(&o.SkipInvalid, "skip-invalid", false, "queue the valid ones although others are not")
	flags.BoolVar(&o.AllowDuplicate, "allow-duplicate", false, "queue companies although others with the same CPF, CNPJ or e-mail are queued, in doubt or created")
	cmd.MarkFlagsMutuallyExclusive("json", "dry-run")
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
		if o.JSON {
			return outboxcmd.PrintRows(a.stdout, rows, true)
		}
		return outboxcmd.PrintQueued(a.stdout, rows)
	})
}
