package main

import (
	"context"
	"errors"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/config"
	"solarmirror/cmd/internal/progress"
	"solarmirror/cmd/internal/pullreport"
	"solarmirror/cmd/internal/setup"
	"solarmirror/store"
	"solarmirror/sync/platform"
	"solarmirror/sync/pull"
)

func newVerifyCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify [stream…]",
		Short: "Compare the mirror with the platform; changes nothing",
		Long: `Read the streams whole and compare keys, counts, content and rows with the mirror.
Exits with 3 when it finds a difference:

  missing  the platform lists the record, the mirror does not have it
  extra    the mirror has the record, the platform does not list it
  differs  the platform changed the record since the last sync: sync first
  edited   the platform did not change the record; its rows in the mirror are not those
           a sync would write: somebody edited, added or deleted rows by SQL
  orphan   child rows without a root row, named by the surrogate key they hold

"solarmirror sync --full" brings in what is missing or differs, and the second one in a row
marks what is extra as gone. "solarmirror sync --full --repair" also writes edited records
anew and deletes orphans. History, ledger and marts are not compared, nor are the rows of
records erased with "forget"; such a record differs once the platform changes it.`,
		Example:   "  solarmirror verify equipments",
		ValidArgs: pull.StreamNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			streams, err := pull.ParseStreams(args)
			if err != nil {
				return &usageError{command: cmd.CommandPath(), err: err}
			}
			return a.verify(cmd.Context(), streams, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as one JSON object")
	return cmd
}

func (a *app) verify(ctx context.Context, streams []*pull.Stream, asJSON bool) error {
	return a.withClient(nil, func(c config.Config, log zerolog.Logger, client *platform.Client) error {
		return a.withReader(ctx, func(mirror *store.Mirror) error {
			engine := setup.Engine(c, log, client, mirror)
			show, done := progress.Show(a.stderr, a.flags.quiet)
			engine.Progress = show
			list, err := engine.Verify(ctx, streams)
			done()
			if err != nil {
				return err
			}
			return errors.Join(pullreport.PrintVerification(a.stdout, list, asJSON), pullreport.Discrepancy(list))
		})
	})
}
