package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/setup"
	"solarmirror/cmd/internal/terminal"
	"solarmirror/store"
	"solarmirror/sync/pull"
)

func newRejectsReplayCommand(a *app) *cobra.Command {
	var wait bool
	cmd := &cobra.Command{
		Use:   "replay [ID…]",
		Short: "Load rejected records after all, without asking the platform",
		Long: `Run rejected records, those named or all that wait, through the program as it is
now; an upgrade may have taught it to read them. What is accepted is loaded as when
it was first read, never over newer content. The rest stays rejected.`,
		Example: "  solarmirror rejects replay\n  solarmirror rejects replay 3 4",
		RunE: func(cmd *cobra.Command, args []string) error {
			ids, err := rejectIDs(args)
			if err != nil {
				return &usageError{command: cmd.CommandPath(), err: err}
			}
			return a.replay(cmd.Context(), ids, wait)
		},
	}
	cmd.Flags().BoolVar(&wait, "wait", false, "wait for another run to end instead of failing with exit code 11")
	return cmd
}

func (a *app) replay(ctx context.Context, ids []int64, wait bool) error {
	c, err := a.config()
	if err != nil {
		return err
	}
	log, err := a.log()
	if err != nil {
		return err
	}
	if err := store.MustExist(c.Mirror.Path); err != nil {
		return err
	}
	mirror, release, err := setup.Mirror(ctx, c, log, setup.Writing{Command: "rejects replay", Wait: wait})
	if err != nil {
		return err
	}
	defer release()
	report, err := pull.Replay(ctx, mirror, ids)
	return errors.Join(unknownReject(err), a.printReplay(report))
}

// printReplay prints what became of each reject; nothing when the replay never began.
func (a *app) printReplay(r *pull.ReplayReport) error {
	if r.RunID == 0 {
		return nil
	}
	if len(r.Rejects) == 0 {
		_, err := fmt.Fprintln(a.stdout, "No reject waits to be replayed.")
		return err
	}
	t := terminal.NewTable("id", "stream", "became", "reason", "at")
	for _, reject := range r.Rejects {
		if reject.Fate == pull.StillBad {
			t.Add(reject.ID, reject.Stream, reject.Fate, terminal.Cell(reject.Reason), terminal.Cell(reject.Pointer))
			continue
		}
		t.Add(reject.ID, reject.Stream, reject.Fate, nil, nil)
	}
	return t.Write(a.stdout)
}
