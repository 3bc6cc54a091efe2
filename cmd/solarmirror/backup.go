package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/buildinfo"
	"solarmirror/cmd/internal/setup"
	"solarmirror/cmd/internal/words"
	"solarmirror/store/publish"
)

func newBackupCommand(a *app) *cobra.Command {
	var to string
	var keep int
	var wait bool
	cmd := &cobra.Command{
		Use:   "backup --to DIR",
		Short: "Copy mirror and outbox, whole and checked",
		Long: `Copy mirror and outbox to DIR, under names with the present time. The mirror keeps what the
platform has forgotten (status, price and stock history, records that are gone): that cannot
be fetched again. Sync and push may go on meanwhile.

The copies are read through before they count. DIR is made private (mode 0700) and must stay so:
the copies hold all personal data, and that of the outbox the passwords still to be sent, as
they are there: sealed when [outbox] key_file is set, plain otherwise. The mirror holds no passwords.
Keys are not copied; keep them elsewhere. Neither is the log of what was sent
(outbox.db.sends): after a restore it must be the one that was there last, or companies might be
created twice. "solarmirror restore" puts the copies back and leaves the log where it is.`,
		Example: "  solarmirror backup --to /var/backups/solarmirror\n  solarmirror backup --to /var/backups/solarmirror --keep 7",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if to == "" {
				return &usageError{command: cmd.CommandPath(), err: errors.New("--to DIR is missing: say where the copies go")}
			}
			if keep < 0 {
				return &usageError{command: cmd.CommandPath(), err: fmt.Errorf("--keep %d: a number of copies, or 0 to keep them all", keep)}
			}
			return a.backup(cmd.Context(), publish.BackupOptions{To: to, Keep: keep, Wait: wait})
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "`directory` the copies go to")
	cmd.Flags().IntVar(&keep, "keep", 0, "keep the newest `n` copies of each file there and remove older ones (default: all)")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait for another backup to the same directory to end instead of failing with exit code 11")
	return cmd
}

func (a *app) backup(ctx context.Context, o publish.BackupOptions) error {
	c, log, err := a.configAndLog()
	if err != nil {
		return err
	}
	o.Mirror, o.Outbox, o.Now = c.Mirror.Path, c.Outbox.Path, time.Now()
	if err := setup.FinishRestore(ctx, c, log, o.Wait); err != nil {
		return err
	}
	done, err := publish.Backup(ctx, o)
	if done == nil {
		return err
	}
	for _, b := range []struct {
		what, path, from string
		size             int64
	}{
		{"mirror", done.Mirror, c.Mirror.Path, done.MirrorSize},
		{"outbox", done.Outbox, c.Outbox.Path, done.OutboxSize},
	} {
		switch {
		case b.path != "":
			fmt.Fprintf(a.stdout, "Copied the %s to %s: %s, checked.\n", b.what, b.path, words.Bytes(b.size))
		case err == nil:
			fmt.Fprintf(a.stdout, "There is no %s at %s.\n", b.what, b.from)
		}
	}
	if err != nil {
		return err // of the other copy, or of removing earlier ones
	}
	_, err = fmt.Fprintf(a.stdout, "\nTo restore, stop \"solarmirror run\", then:\n\n  %s restore --from %s\n", buildinfo.Command(), words.ShellWord(o.To))
	return err
}
