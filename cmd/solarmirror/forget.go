package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/config"
	"solarmirror/cmd/internal/setup"
	"solarmirror/cmd/internal/terminal"
	"solarmirror/store"
	"solarmirror/store/forget"
	"solarmirror/store/identity"
	"solarmirror/store/outbox"
	"solarmirror/store/sqlitefile"
)

// readerPatience is how long forget waits for readers of an old state of the mirror.
const readerPatience = 10 * time.Second

func newForgetCommand(a *app) *cobra.Command {
	var yes, wait, asJSON bool
	cmd := &cobra.Command{
		Use:   "forget TAX_ID",
		Short: "Erase one person from mirror and outbox",
		Long: `Erase the person with a CPF or CNPJ, for an erasure request: rows of the outbox are
deleted, rejects too, and personal fields blanked in the mirror, in the requests that name
the person and wherever else their number or e-mail address stands. Amounts, dates and
products stay. Both files are rewritten so that no copy is left in them.

While another program reads an old state of the mirror, old copies stay in its file: this
command waits 10 seconds for it to end, then fails with 1 and names it. Run it again, or
leave it to the next command that writes to the mirror, such as sync.

An erased record is marked (_erased_at). While the platform does not change it, "sync",
"sync --full --repair" and "verify" leave it as it is. When the platform changes it, the
next sync loads it with the person's data and removes the mark; a reject that the platform
still lists comes back with the next sync that reads it. So have the person erased on the
platform first.

A company that is queued again afterwards is sent again, since the record of its sends
is erased as well.

Backups, published copies, exports and reports made before are not touched, nor are tables
that others made in the mirror.`,
		Example: "  solarmirror forget 123.456.789-09",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !identity.ValidTaxID(args[0]) {
				return &usageError{command: cmd.CommandPath(), err: errors.New("this is neither a CPF nor a CNPJ: its check digits are wrong")}
			}
			if err := a.confirm(cmd, yes, "Erase this person for good?"); err != nil {
				return err
			}
			return a.forget(cmd.Context(), args[0], wait, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per table: table_name, rows, done (deleted or blanked)")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait for other runs to end instead of failing with exit code 11")
	return cmd
}

// forget takes both locks before it changes anything: nothing may send or read the person while they are erased.
func (a *app) forget(ctx context.Context, taxID string, wait, asJSON bool) error {
	return a.withOutbox(ctx, func(c config.Config, outbox *outbox.Outbox) error {
		lock, err := sqlitefile.AcquireLock(ctx, c.Outbox.Path, "forget", wait)
		if err != nil {
			return err
		}
		defer lock.Release()
		mirror, release, err := a.mirrorToForget(ctx, c, wait)
		if err != nil {
			return err
		}
		defer release()
		intents, err := outbox.Delete(ctx, taxID)
		if err != nil {
			return err
		}
		var done []forget.Change
		if mirror != nil {
			done, err = forget.Person(ctx, mirror, taxID, intents, readerPatience)
		}
		return errors.Join(err, a.printForgotten(len(intents), done, asJSON))
	})
}

// mirrorToForget opens the mirror under its lock; nil when there is none.
func (a *app) mirrorToForget(ctx context.Context, c config.Config, wait bool) (*store.Mirror, func(), error) {
	if _, err := os.Stat(c.Mirror.Path); errors.Is(err, os.ErrNotExist) {
		return nil, func() {}, nil
	}
	log, err := a.log()
	if err != nil {
		return nil, nil, err
	}
	lock, err := sqlitefile.AcquireLock(ctx, c.Mirror.Path, "forget", wait)
	if err != nil {
		return nil, nil, err
	}
	mirror, err := store.Open(ctx, c.Mirror.Path, setup.MirrorOptions(c, time.Now, log))
	if err != nil {
		return nil, nil, errors.Join(err, lock.Release())
	}
	return mirror, func() {
		if err := errors.Join(mirror.Close(), lock.Release()); err != nil {
			log.Warn().Err(err).Msg("closing the mirror")
		}
	}, nil
}

func (a *app) printForgotten(outboxRows int, done []forget.Change, asJSON bool) error {
	type changeJSON struct {
		Table string `json:"table_name"`
		Rows  int64  `json:"rows"`
		How   string `json:"done"`
	}
	var rows []changeJSON
	if outboxRows > 0 {
		rows = append(rows, changeJSON{"company_outbox", int64(outboxRows), "deleted"})
	}
	for _, d := range done {
		rows = append(rows, changeJSON{d.Table, d.Rows, d.How})
	}
	if asJSON {
		return encodeLines(a.stdout, rows)
	}
	t := terminal.NewTable("table", "rows", "what was done")
	for _, r := range rows {
		t.Add(r.Table, r.Rows, r.How)
	}
	if t.Len() == 0 {
		_, err := fmt.Fprintln(a.stdout, "Nothing here is about this person.")
		return err
	}
	return t.Write(a.stdout)
}
