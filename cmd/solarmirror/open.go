package main

import (
	"context"
	"errors"
	"time"

	"solarmirror/cmd/internal/config"
	"solarmirror/cmd/internal/progress"
	"solarmirror/cmd/internal/setup"
	"solarmirror/store"
	"solarmirror/sync/pull"
)

// withReader opens the configured mirror for reading around f.
func (a *app) withReader(ctx context.Context, f func(*store.Mirror) error) error {
	c, err := a.config()
	if err != nil {
		return err
	}
	mirror, err := store.OpenReadOnly(ctx, c.Mirror.Path)
	if err != nil {
		return err
	}
	defer mirror.Close()
	return f(mirror)
}

// withEngine has an engine work on the mirror, under its lock.
func (a *app) withEngine(ctx context.Context, c config.Config, how setup.Writing, work func(*pull.Engine) error) error {
	log, err := a.log()
	if err != nil {
		return err
	}
	client, err := setup.Client(c, log, nil)
	if err != nil {
		return err
	}
	defer client.Close()
	mirror, release, err := setup.Mirror(ctx, c, log, how)
	if err != nil {
		return err
	}
	defer release()
	engine := setup.Engine(c, log, client, mirror)
	show, done := progress.Show(a.stderr, a.flags.quiet)
	defer done()
	engine.Progress = show
	return work(engine)
}

// withOutbox opens the configured outbox around f.
func (a *app) withOutbox(ctx context.Context, f func(config.Config, *store.Outbox) error) error {
	c, err := a.config()
	if err != nil {
		return err
	}
	log, err := a.log()
	if err != nil {
		return err
	}
	outbox, err := setup.Outbox(ctx, c, log, time.Now)
	if err != nil {
		return err
	}
	return errors.Join(f(c, outbox), outbox.Close())
}
