package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/config"
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
		ValidArgs: pull.StreamNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			streams, err := pull.ParseStreams(args)
			if err != nil {
				return &usageError{command: cmd.CommandPath(), err: err}
			}
			if f.repair && !f.full {
				command := strings.Join(append([]string{cmd.CommandPath()}, args...), " ") + " --full --repair"
				return &usageError{command: cmd.CommandPath(), err: fmt.Errorf("--repair compares every record and needs --full: run %q", command)}
			}
			return a.sync(cmd.Context(), f, pull.Options{
				Streams: streams, Full: f.full, DryRun: f.dryRun, AcceptDeletions: f.acceptDeletions, Repair: f.repair, Trigger: store.TriggerManual,
			})
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.full, "full", false, "read everything, not only what was updated")
	flags.BoolVar(&f.dryRun, "dry-run", false, "read and compare, write nothing")
	flags.BoolVar(&f.acceptDeletions, "accept-deletions", false, "with --full: mark missing records as gone, however many")
	flags.BoolVar(&f.repair, "repair", false, "with --full: write edited records anew and delete orphans, which verify lists")
	flags.BoolVar(&f.wait, "wait", false, "wait for another run to end instead of failing with exit code 11")
	flags.BoolVar(&f.asJSON, "json", false, "print the result as one JSON object")
	return cmd
}

// streamList is "a, b and c".
func streamList() string {
	names := pull.StreamNames()
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

func (a *app) sync(ctx context.Context, f syncFlags, o pull.Options) error {
	c, err := a.config()
	if err != nil {
		return err
	}
	report := &pull.Report{}
	err = a.withEngine(ctx, c, writeFlags{command: "sync", wait: f.wait, dryRun: f.dryRun}, func(e *pull.Engine) error {
		var err error
		report, err = e.Sync(ctx, o)
		return err
	})
	return errors.Join(err, a.printReport(report, f.asJSON))
}

// withEngine has an engine work on the mirror, under its lock.
func (a *app) withEngine(ctx context.Context, c config.Config, how writeFlags, work func(*pull.Engine) error) error {
	log, err := a.log()
	if err != nil {
		return err
	}
	client, err := newClient(c, log, nil)
	if err != nil {
		return err
	}
	defer client.Close()
	mirror, release, err := openMirror(ctx, c, log, how)
	if err != nil {
		return err
	}
	defer release()
	engine := newEngine(c, log, client, mirror)
	show, done := a.newProgress()
	defer done()
	engine.Progress = show
	return work(engine)
}

// writeFlags say how a command opens the mirror to write to it.
type writeFlags struct {
	command string // as others are told who find the mirror locked
	wait    bool   // for another run to end
	dryRun  bool
	now     func() time.Time // the mirror's clock; nil is time.Now
}

// openMirror takes the mirror's lock, opens it for writing and does what an upgrade left to do; release undoes the first two. A dry
// run before the first sync compares with an empty mirror that is thrown away.
func openMirror(ctx context.Context, c config.Config, log zerolog.Logger, f writeFlags) (*store.Mirror, func(), error) {
	path, cleanUp := c.Mirror.Path, func() {}
	if _, err := os.Stat(path); f.dryRun && errors.Is(err, os.ErrNotExist) {
		dir, err := os.MkdirTemp("", "solarmirror-dry-run-")
		if err != nil {
			return nil, nil, err
		}
		path, cleanUp = filepath.Join(dir, "solarmirror.db"), func() { os.RemoveAll(dir) }
	}
	lock, err := store.AcquireLock(ctx, path, f.command, f.wait)
	if err != nil {
		cleanUp()
		return nil, nil, err
	}
	unlock := func() {
		lock.Release()
		cleanUp()
	}
	mirror, err := store.Open(ctx, path, mirrorOptions(c, f.now, log))
	if err != nil {
		unlock()
		return nil, nil, err
	}
	release := func() {
		if err := mirror.Close(); err != nil {
			log.Warn().Err(err).Msg("closing the mirror")
		}
		unlock()
	}
	if f.dryRun {
		return mirror, release, nil
	}
	if err := pull.Promote(ctx, mirror, log); err != nil {
		release()
		return nil, nil, err
	}
	return mirror, release, nil
}
