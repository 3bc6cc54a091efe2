package setup

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"solarmirror/cmd/internal/config"
	"solarmirror/store/outbox"
	"solarmirror/store/sqlitefile"
	"solarmirror/sync/push"
)

// Outbox opens the configured outbox, with its key.
func Outbox(ctx context.Context, c config.Config, log zerolog.Logger, now func() time.Time) (*outbox.Outbox, error) {
	o := outbox.Options{Now: now, Log: log}
	if c.Outbox.KeyFile != "" {
		key, err := outbox.ReadSealingKey(ctx, c.Outbox.KeyFile)
		if err != nil {
			return nil, &config.Error{Problems: []string{"outbox.key_file: " + err.Error()}}
		}
		o.Key = key
	}
	return outbox.Open(ctx, c.Outbox.Path, o)
}

// Creations opens what the mirror knows of the outbox; nil before there is a mirror.
func Creations(ctx context.Context, c config.Config) (*outbox.Creations, error) {
	creations, err := outbox.OpenCreations(ctx, c.Mirror.Path)
	if errors.Is(err, sqlitefile.ErrNoDatabase) {
		return nil, nil
	}
	return creations, err
}

// WithPusher completes a pusher, which has its client, clock and log, with the configured outbox,
// and calls work under the outbox's lock.
func WithPusher(ctx context.Context, c config.Config, p *push.Pusher, wait bool, work func() error) error {
	outbox, err := Outbox(ctx, c, p.Log, p.Now)
	if err != nil {
		return err
	}
	defer outbox.Close()
	lock, err := sqlitefile.AcquireLock(ctx, c.Outbox.Path, "push", wait)
	if err != nil {
		return err
	}
	defer lock.Release()
	creations, err := Creations(ctx, c)
	if err != nil {
		return err
	}
	if creations != nil {
		defer creations.Close()
	}
	p.Outbox, p.Mirror, p.Keep, p.KeepAmbiguous = outbox, creations, days(c.Outbox.KeepDays), days(c.Outbox.KeepAmbiguousDays)
	return work()
}
