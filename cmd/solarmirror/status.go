package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/status"
	"solarmirror/store"
)

func newStatusCommand(a *app) *cobra.Command {
	var asJSON bool
	var maxAge time.Duration
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say how fresh the mirror is, what ran, and what was left out",
		Long: `Say up to when each stream is complete, how the platform was found to answer, what ran
last, what was rejected or differs from the platform's documentation, and which deal
statuses are in no list of [marts]. With --max-age the exit code is 12 when a stream is
older than that.`,
		Example: "  solarmirror status --max-age 2h",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if maxAge < 0 {
				return &usageError{command: cmd.CommandPath(), err: fmt.Errorf("--max-age is %s; it must not be negative", maxAge)}
			}
			c, err := a.config()
			if err != nil {
				return err
			}
			return a.withReader(cmd.Context(), func(mirror *store.Mirror) error {
				s, err := status.Read(cmd.Context(), mirror, c.Marts.Deals, time.Now())
				if err != nil {
					return err
				}
				if err := s.Print(a.stdout, asJSON); err != nil {
					return err
				}
				return s.Stale(maxAge)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object: path, base_url, schema_version, erasure_due_since, dialect, streams (stream, complete_through, age_seconds, last_full_scan_at, rejected, promise), tables, last_runs, drift, undecided_statuses, marts_behind")
	cmd.Flags().DurationVar(&maxAge, "max-age", 0, "greatest `age` of every stream, such as 2h; 0 accepts any")
	return cmd
}
