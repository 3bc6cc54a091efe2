package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/pullreport"
	"solarmirror/cmd/internal/setup"
	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/sync/pull"
)

// syncFlags are the flags of the sync command.
type syncFlags struct {
	full            bool
	dryRun          bool
	acceptDeletions bool
	repair          bool
	wait            bool
	asJSON          bool
}

func newSyncCommand(a *app) *cobra.Command {
	var f syncFlags
	cmd := &cobra.Command{
		Use:   "sync [stream…]",
		Short: "Bring the mirror up to date",
		Long: `Bring the mirror up to date: read what the platform updated since the last
clean sync, or everything the first time. The streams are ` + streamList() + `;
all of them when none is named.

Equipment can only be asked for new items: --full catches prices and stock. A record
that two full syncs in a row do not find is marked as gone; when too many are
missing at once none is, and the command fails, unless --accept-deletions says
that they are gone indeed.

A sync leaves a record alone that the platform did not change. --full --repair also compares
its rows, and writes the record anew where somebody edited, added or deleted rows by SQL.
It deletes child rows without a root row, lists what it did, and builds the marts from
nothing. Records erased with "forget" stay erased. With --dry-run it lists what it would do.`,
		Example:   "  solarmirror sync\n  solarmirror sync equipments --full\n  solarmirror sync --full --repair --dry-run",
		ValidArgs: pull.StreamNames(), Annotations: map[string]string{goesOn: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			streams, err := pull.ParseStreams(args)
			if err != nil {
				return &usageError{command: cmd.CommandPath(), err: err}
			}
			if f.repair && !f.full {
				command := strings.Join(append([]string{cmd.CommandPath()}, args...), " ") + " --full --repair"
				return &usageError{command: cmd.CommandPath(), err: fmt.Errorf("--repair compares every record and needs --full: run %q", command)}
			}
			o := pull.Options{
				Streams: streams, Full: f.full, DryRun: f.dryRun, AcceptDeletions: f.acceptDeletions, Repair: f.repair, Trigger: store.TriggerManual,
			}
			if f.dryRun {
				return a.sync(cmd.Context(), f, o)
			}
			return a.observed(jobsOf(o), func() error { return a.sync(cmd.Context(), f, o) })
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.full, "full", false, "read everything, not only what was updated")
	flags.BoolVar(&f.dryRun, "dry-run", false, "read and compare, write nothing")
	flags.BoolVar(&f.acceptDeletions, "accept-deletions", false, "with --full: mark missing records as gone, however many")
	flags.BoolVar(&f.repair, "repair", false, "with --full: write edited records anew and delete orphans, which verify lists")
	flags.BoolVar(&f.wait, "wait", false, "wait for another run to end instead of failing with exit code 11")
	flags.BoolVar(&f.asJSON, "json", false, "print the result as one JSON object: "+pullreport.SyncFields)
	return cmd
}

// streamList is "a, b and c".
func streamList() string {
	names := pull.StreamNames()
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// jobsOf names the jobs of the schedule that a sync does; one that does a part of a job has a name of its own.
func jobsOf(o pull.Options) []string {
	if !o.Full && len(o.Streams) == len(pull.Streams()) {
		return []string{"sync"}
	}
	var jobs, names []string
	chosen := map[string]bool{}
	for _, s := range o.Streams {
		names = append(names, s.Name)
		chosen[s.Name] = true
	}
	name := "sync " + strings.Join(names, " ")
	if !o.Full {
		return []string{name}
	}
	for _, job := range []string{schema.FullEquipments, schema.FullRequests} {
		if !slices.ContainsFunc(pull.FullJobStreams(job), func(s *pull.Stream) bool { return !chosen[s.Name] }) {
			jobs = append(jobs, job)
		}
	}
	if jobs == nil {
		jobs = []string{name + " --full"}
	}
	return jobs
}

func (a *app) sync(ctx context.Context, f syncFlags, o pull.Options) error {
	report := &pull.Report{}
	err := a.withEngine(ctx, setup.Writing{Command: "sync", Wait: f.wait, DryRun: f.dryRun}, nil, func(e *pull.Engine) error {
		var err error
		report, err = e.Sync(ctx, o)
		return err
	})
	return errors.Join(err, pullreport.PrintSync(a.stdout, a.stderr, report, f.asJSON))
}
