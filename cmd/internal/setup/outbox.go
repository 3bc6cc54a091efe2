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

// Outbox opens the configured outbox with its sealing key, if one is configured.
func Outbox(ctx context.Context, c config.Config, log zerolog.Logger, now func() time.Time) (*outbox.Outbox, error) {
	if err := FinishRestore(ctx, c, log, false); err != nil {
		return nil, err
	}
	key, err := sealingKey(ctx, c)
	if err != nil {
		return nil, err
	}
	return outbox.Open(ctx, c.Outbox.Path, outbox.Options{Now: now, Log: log, Key: key})
}

func sealingKey(ctx context.Context, c config.Config) (*outbox.SealingKey, error) {
	if c.Outbox.KeyFile == "" {
		return nil, nil
	}
	key, err := outbox.ReadSealingKey(ctx, c.Outbox.KeyFile)
	if err != nil {
		return nil, &config.Error{Problems: []string{"outbox.key_file: " + err.Error()}}
	}
	return key, nil
}

// Forecast returns what a push would do with the configured outbox. It reads outbox and mirror, of
// which either may be missing, and writes nothing.
func Forecast(ctx context.Context, c config.Config, log zerolog.Logger, now func() time.Time) ([]outbox.Forecast, error) {
	if err := FinishRestore(ctx, c, log, false); err != nil {
		return nil, err
	}
	key, err := sealingKey(ctx, c)
	if err != nil {
		return nil, err
	}
	box, err := outbox.OpenReadOnly(ctx, c.Outbox.Path, outbox.Options{Now: now, Key: key})
	if errors.Is(err, sqlitefile.ErrNoDatabase) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer box.Close()
	known, err := outbox.ReadKnown(ctx, c.Mirror.Path)
	if err != nil && !errors.Is(err, sqlitefile.ErrNoDatabase) {
		return nil, err
	}
	return box.Forecast(ctx, known, func(c outbox.Company) error { return push.Validate(push.Normalise(c)) })
}

// Creations opens the mirror's record of the outbox; nil when there is no mirror yet.
func Creations(ctx context.Context, c config.Config) (*outbox.Creations, error) {
	creations, err := outbox.OpenCreations(ctx, c.Mirror.Path)
	if errors.Is(err, sqlitefile.ErrNoDatabase) {
		return nil, nil
	}
	return creations, err
}

// WithPusher acquires the outbox's lock, sets the outbox, the mirror and the retention times of p,
// and calls work. The caller has set the client, clock and log of p.
func WithPusher(ctx context.Context, c config.Config, p *push.Pusher, wait bool, work func() error) error {
	if err := FinishRestore(ctx, c, p.Log, wait); err != nil {
		return err
	}
	box, err := Outbox(ctx, c, p.Log, p.Now)
	if err != nil {
		return err
	}
	defer box.Close()
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
	p.Outbox, p.Mirror, p.Keep, p.KeepAmbiguous = box, creations, days(c.Outbox.KeepDays), days(c.Outbox.KeepAmbiguousDays)
	return work()
}
