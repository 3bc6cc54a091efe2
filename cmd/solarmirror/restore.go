package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/buildinfo"
	"solarmirror/cmd/internal/config"
	"solarmirror/cmd/internal/setup"
	"solarmirror/cmd/internal/words"
	"solarmirror/store/publish"
)

func newRestoreCommand(a *app) *cobra.Command {
	var from string
	var yes, wait bool
	cmd := &cobra.Command{
		Use:   "restore --from DIR|FILE",
		Short: "Put a backup of mirror and outbox back",
		Long: `Put the newest copies in a directory that "solarmirror backup" wrote to in place of mirror
and outbox, or one copy in place of one of them. Stop "solarmirror run" first, and every other
program that has the files open: this command waits 10 seconds for them to end, then fails with 1.

The copies are checked before anything changes: that they are whole, of the configured platform,
and of no newer version of this program. Mirror and outbox change together: when this command
is interrupted, the next command of any kind finishes or undoes it.

What is replaced stays beside the new file, under a name with the present time. Delete it when
you no longer need it: it holds personal data, which "solarmirror forget" does not erase there.

The log of what was sent (outbox.db.sends) stays as it is. Companies that may have been sent since
the backup are in doubt afterwards, and are not sent again by themselves
("solarmirror outbox list ambiguous").`,
		Example: "  solarmirror restore --from /var/backups/solarmirror\n" +
			"  solarmirror restore --from /var/backups/solarmirror/mirror-20260304T050607.089Z.db --yes",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if from == "" {
				return &usageError{command: cmd.CommandPath(), err: errors.New("--from DIR|FILE is missing: say where the backup is")}
			}
			return a.restore(cmd, from, yes, wait)
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "`directory` of backups, or one file of it")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait for other runs to end instead of failing with exit code 11")
	return cmd
}

func (a *app) restore(cmd *cobra.Command, from string, yes, wait bool) error {
	ctx := cmd.Context()
	c, err := a.config()
	if err != nil {
		return err
	}
	found, err := publish.FindBackup(ctx, from)
	if err != nil {
		return err
	}
	if err := a.confirm(cmd, yes, restoreQuestion(found, c)); err != nil {
		return err
	}
	o := publish.RestoreOptions{
		From: found, Mirror: c.Mirror.Path, Outbox: c.Outbox.Path, FileMode: c.Mirror.FileMode, Now: time.Now(), Patience: setup.RestorePatience, Wait: wait,
	}
	if found.Mirror != "" {
		if o.BaseURL, err = a.canonicalBaseURL(c); err != nil {
			return err
		}
	}
	done, err := publish.Restore(ctx, o)
	if err != nil {
		return err
	}
	return a.printRestored(o, done)
}

func restoreQuestion(found publish.Backups, c config.Config) string {
	switch {
	case found.Outbox == "":
		return fmt.Sprintf("Replace %s by %s?", c.Mirror.Path, found.Mirror)
	case found.Mirror == "":
		return fmt.Sprintf("Replace %s by %s?", c.Outbox.Path, found.Outbox)
	}
	return fmt.Sprintf("Replace %s by %s, and %s by %s?", c.Mirror.Path, found.Mirror, c.Outbox.Path, found.Outbox)
}

// canonicalBaseURL returns the address of the platform in the form that a mirror remembers.
func (a *app) canonicalBaseURL(c config.Config) (string, error) {
	log, err := a.log()
	if err != nil {
		return "", err
	}
	client, err := setup.Client(c, log, nil)
	if err != nil {
		return "", err
	}
	defer client.Close()
	return client.BaseURL(), nil
}

func (a *app) printRestored(o publish.RestoreOptions, done *publish.Restored) error {
	for _, f := range []struct {
		what, path, from, kept string
		size                   int64
	}{
		{"mirror", o.Mirror, o.From.Mirror, done.KeptMirror, o.From.MirrorSize},
		{"outbox", o.Outbox, o.From.Outbox, done.KeptOutbox, o.From.OutboxSize},
	} {
		switch {
		case f.from == "":
			fmt.Fprintf(a.stdout, "The backup has no %s: %s stays as it was.\n", f.what, f.path)
		case f.kept == "":
			fmt.Fprintf(a.stdout, "Restored the %s from %s: %s, checked.\n", f.what, f.from, words.Bytes(f.size))
		default:
			fmt.Fprintf(a.stdout, "Restored the %s from %s: %s, checked. The one before is kept as %s.\n", f.what, f.from, words.Bytes(f.size), f.kept)
		}
	}
	if done.Doubts > 0 {
		fmt.Fprintf(a.stdout, "Companies in doubt, since they may have been sent: %d. To see them: %s outbox list ambiguous\n", done.Doubts, buildinfo.Command())
	}
	_, err := fmt.Fprintf(a.stdout, "\nNext: %s sync\n", buildinfo.Command())
	return err
}
