package main

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/config"
	"solarmirror/cmd/internal/outboxcmd"
	"solarmirror/cmd/internal/setup"
	"solarmirror/cmd/internal/terminal"
	"solarmirror/store/outbox"
	"solarmirror/sync/platform"
	"solarmirror/sync/push"
)

func newPushCommand(a *app) *cobra.Command {
	var wait, dryRun, asJSON bool
	cmd := &cobra.Command{
		Use:   "push",
		Short: "Send what is due in the outbox",
		Long: `Ask the platform to create the companies that are due in the outbox, one by one and
each at most once. What has no clear answer is in doubt and never sent again by itself.

With --dry-run each pending row is validated and named with what would become of it, and
the exit code is 1 when one would be rejected or put in doubt. The platform is not asked.

The exit code is 3 when some rows were decided and others were not, 1 when none was.`,
		Example: "  solarmirror push --dry-run\n  solarmirror push --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dryRun {
				return a.forecastPush(cmd.Context(), asJSON)
			}
			return a.observed([]string{"push"}, func() error { return a.push(cmd.Context(), wait, asJSON) })
		},
	}
	cmd.Flags().BoolVar(&wait, "wait", false, "wait for another push to end instead of failing with exit code 11")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "say what would be sent; send and write nothing")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as one JSON object: done, rejected, ambiguous, postponed, unsent, doubted, confirmed, purged, outbox (rows by state); with --dry-run, one per row: id, tax_id_masked, name, state, would_be, reason")
	cmd.MarkFlagsMutuallyExclusive("dry-run", "wait")
	return cmd
}

func (a *app) forecastPush(ctx context.Context, asJSON bool) error {
	c, log, err := a.configAndLog()
	if err != nil {
		return err
	}
	forecast, err := setup.Forecast(ctx, c, log, time.Now)
	if err != nil {
		return err
	}
	return outboxcmd.PrintForecast(a.stdout, forecast, asJSON)
}

func (a *app) push(ctx context.Context, wait, asJSON bool) error {
	return a.withClient(nil, func(c config.Config, log zerolog.Logger, client *platform.Client) error {
		pusher := &push.Pusher{Client: client, Now: time.Now, Log: log}
		return setup.WithPusher(ctx, c, pusher, wait, func() error {
			report, err := pusher.Push(ctx)
			return errors.Join(err, a.printPush(ctx, report, pusher.Outbox, asJSON))
		})
	})
}

// pushJSON is the result of a push as --json prints it.
type pushJSON struct {
	Done      int                    `json:"done"`
	Rejected  int                    `json:"rejected"`
	Ambiguous int                    `json:"ambiguous"`
	Postponed int                    `json:"postponed"`
	Unsent    int                    `json:"unsent"`
	Doubted   int                    `json:"doubted"`   // found half done, or forgotten by a backup
	Confirmed int                    `json:"confirmed"` // doubts settled by evidence
	Purged    int64                  `json:"purged"`
	Outbox    map[outbox.State]int64 `json:"outbox"` // all rows, by state
}

// printPush says what a push did and what the outbox holds after it.
func (a *app) printPush(ctx context.Context, r *push.Report, outbox *outbox.Outbox, asJSON bool) error {
	counts, err := outbox.Counts(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	if asJSON {
		return json.NewEncoder(a.stdout).Encode(pushJSON{
			Done: r.Done, Rejected: r.Rejected, Ambiguous: r.Ambiguous, Postponed: r.Postponed, Unsent: r.Unsent,
			Doubted: r.Doubted, Confirmed: r.Confirmed, Purged: r.Purged, Outbox: counts,
		})
	}
	t := terminal.NewTable("this push", "companies")
	for _, line := range []struct {
		what string
		n    int
	}{
		{"created", r.Done}, {"rejected", r.Rejected}, {"now in doubt", r.Ambiguous + r.Doubted}, {"doubts settled", r.Confirmed},
		{"to be sent later", r.Postponed + r.Unsent}, {"deleted as old", int(r.Purged)},
	} {
		if line.n > 0 {
			t.Add(line.what, line.n)
		}
	}
	if t.Len() == 0 {
		t.Add("nothing was due", 0)
	}
	return t.Write(a.stdout)
}
