package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
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

// rowNumber reads the argument of a command that is about one row.
func rowNumber(cmd *cobra.Command, arg string) (int64, error) {
	id, err := strconv.ParseInt(arg, 10, 64)
	if err != nil || id < 1 {
		return 0, &usageError{command: cmd.CommandPath(), err: fmt.Errorf("%q is no number of a row; \"solarmirror outbox list\" shows them", arg)}
	}
	return id, nil
}
