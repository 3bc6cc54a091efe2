package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/buildinfo"
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
created twice.

To restore: stop every solarmirror, remove the -wal, -shm and -journal files beside the two
databases, copy the backups over them (the outbox with mode 0600), leave outbox.db.sends where
it is, and run "solarmirror sync". What may have been sent since the backup is then in doubt
("solarmirror outbox list ambiguous"). A backup prints these steps with the names filled in.`,
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
	c, err := a.config()
	if err != nil {
		return err
	}
	o.Mirror, o.Outbox, o.Now = c.Mirror.Path, c.Outbox.Path, time.Now()
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
	return a.sayHowToRestore(done, c.Mirror.Path, c.Outbox.Path, c.Mirror.FileMode)
}

func (a *app) sayHowToRestore(done *publish.Backups, mirror, outbox string, mode fs.FileMode) error {
	fmt.Fprint(a.stdout, "\nTo restore, stop every solarmirror that uses them, then:\n\n")
	if done.Mirror != "" {
		fmt.Fprintf(a.stdout, "  rm -f %s %s\n  install -D -m %o %s %s\n",
			words.ShellWord(mirror+"-wal"), words.ShellWord(mirror+"-shm"), mode, words.ShellWord(done.Mirror), words.ShellWord(mirror))
	}
	if done.Outbox != "" {
		fmt.Fprintf(a.stdout, "  rm -f %s\n  install -m 600 %s %s    # %s.sends stays as it is\n",
			words.ShellWord(outbox+"-journal"), words.ShellWord(done.Outbox), words.ShellWord(outbox), outbox)
	}
	_, err := fmt.Fprintf(a.stdout, "  %s sync\n", buildinfo.Command())
	return err
}
