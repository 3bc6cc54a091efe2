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
		Short: "Compare the mirror with the platform; changes no record",
		Long: `Read the streams whole and compare keys, counts, content and rows with the mirror:

  missing  the platform lists the record, the mirror does not have it
  extra    the mirror has the record, the platform does not list it
  differs  the platform changed the record since a sync read it
  edited   the platform did not change the record; its rows in the mirror are not those
           a sync would write: somebody edited, added or deleted rows by SQL
  orphan   child rows without a root row, named by the surrogate key they hold
  total    the platform counts more records than it lists

A difference is pending while something is expected to settle it: the next sync, when the
platform lists the record as updated since the last one; the next full read, of equipment;
two full reads, of what is extra. All others are unexplained, and so is one that the last
verification has found in the same way, but for a budget that has become an order, or the
other way round. Only those make verify exit with 3. The table _findings holds what the
last verification found.

"solarmirror sync --full" brings in what is missing or differs, and the second one in a row
marks what is extra as gone. "solarmirror sync --full --repair" also writes edited records
anew and deletes orphans. History, ledger and marts are not compared, nor are the rows of
records erased with "forget"; such a record differs once the platform changes it.`,
		Example:   "  solarmirror verify equipments",
		ValidArgs: pull.StreamNames(), Annotations: map[string]string{goesOn: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			streams, err := pull.ParseStreams(args)
			if err != nil {
				return &usageError{command: cmd.CommandPath(), err: err}
			}
			if len(args) > 0 {
				return a.verify(cmd.Context(), streams, asJSON)
			}
			return a.observed([]string{"verify"}, func() error { return a.verify(cmd.Context(), streams, asJSON) })
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as one JSON object: at, streams (stream, platform, mirror, rejected, erased, differences, error)")
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
