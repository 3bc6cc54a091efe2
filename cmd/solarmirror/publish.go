package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/setup"
	"solarmirror/cmd/internal/words"
	"solarmirror/store"
)

func newPublishCommand(a *app) *cobra.Command {
	var to string
	var wait bool
	cmd := &cobra.Command{
		Use:   "publish",
		Short: "Put a copy of the mirror in place for readers",
		Long: `Copy the mirror as it is at this moment to one SQLite file that needs no WAL, so that it
can be read from a share, a read-only mount or another machine. The copy is made beside its
place, checked, and put there in one step: a reader finds the old file or the new one, never
half of one. A program that has the old file open goes on reading the old data until it opens
the file again. A sync may go on meanwhile; its WAL grows until the copy is made.

Unless [publish] mask_personal_data is false, the copy holds no personal data: e-mail addresses,
CPFs and CNPJs become pseudonyms (p_…), the same in every table and every copy, so that counts
and joins still work; names, streets, notes, extra, errors and raw records are left empty. Cities,
states, amounts, dates and products stay. The copy's _columns table says what is masked.
Pseudonyms are made with a key, which must stay secret: who has it and the copy can tell whose
pseudonym a CPF has. Every user may read a new masked copy; a full one has [mirror] file_mode.`,
		Example: "  solarmirror publish\n  solarmirror publish --to /srv/bi/solarmirror.db",
		Args:    cobra.NoArgs, Annotations: map[string]string{goesOn: "yes"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("to") && to == "" {
				return &usageError{command: cmd.CommandPath(), err: fmt.Errorf("--to names no file")}
			}
			return a.publish(cmd.Context(), to, wait)
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "`file` to put in place (default [publish] path)")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait for another publish to the same file to end instead of failing with exit code 11")
	return cmd
}

func (a *app) publish(ctx context.Context, to string, wait bool) error {
	c, log, err := a.configAndLog()
	if err != nil {
		return err
	}
	if to != "" {
		c.Publish.Path = to
	}
	begun := time.Now()
	published, err := setup.Publish(ctx, c, log, wait)
	if err != nil {
		return err
	}
	if err := a.withReader(ctx, func(m *store.Mirror) error { return a.warnOfMarts(ctx, m) }); err != nil {
		return err
	}
	masked := "with all personal data"
	if c.Publish.MaskPersonalData {
		masked = "personal data masked"
	}
	fmt.Fprintf(a.stdout, "Published %s: %s, %s, in %.1f s.\n", published.Path, words.Bytes(published.Size), masked, time.Since(begun).Seconds())
	if published.Earlier > 0 {
		fmt.Fprintf(a.stdout, "%d earlier lie beside it.\n", published.Earlier)
	}
	return nil
}
