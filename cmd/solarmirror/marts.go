package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/buildinfo"
	"solarmirror/cmd/internal/config"
	"solarmirror/cmd/internal/setup"
	"solarmirror/cmd/internal/terminal"
	"solarmirror/cmd/internal/words"
	"solarmirror/store"
	"solarmirror/store/marts/own"
	"solarmirror/store/owntables"
	"solarmirror/store/sqlitefile"
)

func newMartsCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "marts",
		Short: "Look at your own marts, and build them",
		Long: `Your own marts are files NAME.sql in the directory [marts] own_dir. Each holds one SELECT over the
mirror and becomes the table my_NAME, computed anew when a sync has changed something.`,
		Example: "  solarmirror marts check",
	}
	cmd.AddCommand(newMartsListCommand(a), newMartsCheckCommand(a), newMartsBuildCommand(a))
	return cmd
}

func newMartsListCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List your own marts: rows, time taken, last error",
		Example: "  solarmirror marts list",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withReader(cmd.Context(), func(mirror *store.Mirror) error { return a.listMarts(cmd.Context(), mirror, asJSON) })
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per mart, with the names of the table _own_marts: table_name, description, row_count, duration_ms, built_at, tried_at, error")
	return cmd
}

func (a *app) listMarts(ctx context.Context, mirror *store.Mirror, asJSON bool) error {
	list, err := owntables.Ledger(ctx, mirror.Reader(), "main")
	if err != nil {
		return err
	}
	type martJSON struct {
		Table       string     `json:"table_name"`
		Description string     `json:"description"`
		Rows        *int64     `json:"row_count"`
		DurationMS  int64      `json:"duration_ms"`
		BuiltAt     *time.Time `json:"built_at"`
		TriedAt     *time.Time `json:"tried_at"`
		Error       *string    `json:"error"`
	}
	t := terminal.NewTable("table", "rows", "took", "built (UTC)", "error")
	var rows []martJSON
	for _, o := range list {
		row := martJSON{Table: o.Table, Description: o.Description, Rows: o.Rows, DurationMS: o.DurationMS, TriedAt: storedTime(&o.TriedAt), BuiltAt: storedTime(o.BuiltAt), Error: notEmpty(o.Error)}
		rows = append(rows, row)
		var count any
		if o.Rows != nil {
			count = *o.Rows
		}
		t.Add(o.Table, count, (time.Duration(o.DurationMS) * time.Millisecond).String(), words.MinuteOrNil(row.BuiltAt), terminal.Cell(o.Error))
	}
	switch {
	case asJSON:
		return encodeLines(a.stdout, rows)
	case len(rows) == 0:
		_, err := fmt.Fprintln(a.stdout, "No mart of your own was built yet.")
		return err
	}
	return t.Write(a.stdout)
}

func storedTime(text *string) *time.Time {
	if text == nil {
		return nil
	}
	at, err := sqlitefile.ParseTime(*text)
	if err != nil {
		return nil
	}
	return &at
}

func newMartsCheckCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Name everything that is wrong with your own marts, without building them",
		Long: `Read the files of [marts] own_dir and try each SELECT on the present tables, without computing it.
The exit code is 2 when something is wrong. How long a mart takes, and whether its values have the
types that it declares, only building it tells.`,
		Example: "  solarmirror marts check",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.ownMartsConfig()
			if err != nil {
				return err
			}
			return a.checkMarts(cmd.Context(), c)
		},
	}
}

// ownMartsConfig returns the configuration, which must name a directory.
func (a *app) ownMartsConfig() (config.Config, error) {
	c, err := a.config()
	if err == nil && c.Marts.OwnDir == "" {
		err = &config.Error{Problems: []string{"marts.own_dir is not set: give SOLARMIRROR_MARTS_OWN_DIR, or own_dir under [marts] in config.toml"}}
	}
	return c, err
}

func (a *app) checkMarts(ctx context.Context, c config.Config) error {
	var list []*own.Mart
	check := func(q sqlitefile.Querier) (err error) {
		list, err = own.Check(ctx, c.Marts.OwnDir, q)
		return err
	}
	var err error
	if _, missing := os.Stat(c.Mirror.Path); errors.Is(missing, os.ErrNotExist) {
		err = check(nil)
	} else {
		err = a.withReader(ctx, func(mirror *store.Mirror) error { return check(mirror.Reader()) })
	}
	if err != nil {
		return err
	}
	var faults []string
	for _, m := range list {
		if m.Err != nil {
			faults = append(faults, fmt.Sprintf("%s: %v", m.File, m.Err))
		}
	}
	if len(faults) > 0 {
		return &martFaultsError{faults}
	}
	_, err = fmt.Fprintf(a.stdout, "No fault found in %d files.\n", len(list))
	return err
}

// martFaultsError lists files that make no mart.
type martFaultsError struct{ faults []string }

func (e *martFaultsError) Error() string { return strings.Join(e.faults, "\n") }

func newMartsBuildCommand(a *app) *cobra.Command {
	var wait bool
	cmd := &cobra.Command{
		Use:   "build",
		Short: "Build your own marts now",
		Long: `Build all marts of [marts] own_dir now, and drop the tables of files that are gone. One that fails
keeps its last rows; then the exit code is 1.`,
		Example: "  solarmirror marts build",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := a.ownMartsConfig(); err != nil {
				return err
			}
			return a.buildMarts(cmd.Context(), wait)
		},
	}
	cmd.Flags().BoolVar(&wait, "wait", false, "wait for another run to end instead of failing with exit code 11")
	return cmd
}

func (a *app) buildMarts(ctx context.Context, wait bool) error {
	c, log, err := a.configAndLog()
	if err != nil {
		return err
	}
	if err := sqlitefile.MustExist(c.Mirror.Path); err != nil {
		return err
	}
	mirror, release, err := setup.Mirror(ctx, c, log, setup.Writing{Command: "marts build", Wait: wait})
	if err != nil {
		return err
	}
	defer release()
	if err := own.Build(ctx, mirror); err != nil {
		return err
	}
	if err := a.listMarts(ctx, mirror, false); err != nil {
		return err
	}
	failed, err := owntables.Failed(ctx, mirror.Reader())
	if err == nil && len(failed) > 0 {
		err = fmt.Errorf("failed, and kept with their last rows: %s; see \"%s marts check\"", strings.Join(failed, ", "), buildinfo.Command())
	}
	return err
}
