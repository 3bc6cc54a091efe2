package main

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/buildinfo"
	"solarmirror/cmd/internal/status"
	"solarmirror/store"
)

func newRunsCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "runs",
		Short:   "Look at what ran, and why it failed",
		Example: "  solarmirror runs list",
	}
	cmd.AddCommand(newRunsListCommand(a), newRunsShowCommand(a))
	return cmd
}

// runFields are the names of the table _runs, and what belongs to a backfill.
const runFields = "run_id, runs, command, trigger, started_at, finished_at, outcome, streams, pages, records, inserted, changed, unchanged, deleted, rejected, error, windows"

func newRunsListCommand(a *app) *cobra.Command {
	var limit int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the runs, newest first, with their errors",
		Long: `List the runs, newest first, with their errors. A backfill makes a run for each of its
windows and one for the end; "solarmirror status" shows them as one.`,
		Example: "  solarmirror runs list --limit 100\n  solarmirror runs list --limit 0 --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 0 {
				return &usageError{command: cmd.CommandPath(), err: fmt.Errorf("--limit is %d; it must not be negative", limit)}
			}
			return a.withReader(cmd.Context(), func(mirror *store.Mirror) error {
				runs, err := mirror.Runs(cmd.Context(), limit)
				if err != nil {
					return err
				}
				list := make([]status.Run, len(runs))
				for i, r := range runs {
					list[i] = status.NewRun(r, nil)
				}
				return a.printRuns(list, asJSON)
			})
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 20, "most `runs` to list; 0 lists all")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per run: "+runFields)
	return cmd
}

func (a *app) printRuns(list []status.Run, asJSON bool) error {
	if asJSON {
		out := json.NewEncoder(a.stdout)
		for _, r := range list {
			if err := out.Encode(r); err != nil {
				return err
			}
		}
		return nil
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(a.stdout, "Nothing ran yet.")
		return err
	}
	if err := status.PrintRuns(a.stdout, list); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.stdout, "See one whole with \"%s runs show %d\".\n", buildinfo.Command(), list[0].RunID)
	return err
}

func newRunsShowCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "show N",
		Short:   "Print all of one run: what it did, its error, its windows",
		Example: "  solarmirror runs show 12",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil {
				return &usageError{command: cmd.CommandPath(), err: fmt.Errorf("%q is no number of a run", args[0])}
			}
			return a.withReader(cmd.Context(), func(mirror *store.Mirror) error {
				r, found, err := mirror.Run(cmd.Context(), id)
				if err != nil {
					return err
				}
				if !found {
					return fmt.Errorf("there is no run %d; \"%s runs list\" shows those there are", id, buildinfo.Command())
				}
				windows, err := mirror.Windows(cmd.Context())
				if err != nil {
					return err
				}
				run := status.NewRun(r, windows)
				if asJSON {
					return json.NewEncoder(a.stdout).Encode(run)
				}
				return status.PrintRun(a.stdout, run)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object: "+runFields)
	return cmd
}
