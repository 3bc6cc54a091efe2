package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/rs/zerolog"

	"solarmirror/cmd/internal/config"
	"solarmirror/cmd/internal/progress"
	"solarmirror/cmd/internal/setup"
	"solarmirror/cmd/internal/status"
	"solarmirror/store"
	"solarmirror/store/outbox"
	"solarmirror/store/sqlitefile"
	"solarmirror/sync/platform"
	"solarmirror/sync/pull"
)

// withReader opens the configured mirror for reading around f.
func (a *app) withReader(ctx context.Context, f func(*store.Mirror) error) error {
	c, log, err := a.configAndLog()
	if err != nil {
		return err
	}
	mirror, err := setup.Reader(ctx, c, log)
	if err != nil {
		return err
	}
	defer mirror.Close()
	return f(mirror)
}

// withSource opens what --source names for reading around f. Of the mirror it says when its marts
// are behind.
func (a *app) withSource(ctx context.Context, source string, f func(c config.Config, mirror *store.Mirror, isCopy bool) error) error {
	c, err := a.config()
	if err != nil {
		return err
	}
	switch source {
	case config.SourceMirror:
		return a.withReader(ctx, func(mirror *store.Mirror) error {
			if err := a.warnOfMarts(ctx, mirror); err != nil {
				return err
			}
			return f(c, mirror, false)
		})
	case config.SourcePublished:
		source = c.Publish.Path
	}
	if info, err := os.Stat(source); err == nil && info.IsDir() {
		return fmt.Errorf("%w: %s is a directory; name a file in it", sqlitefile.ErrNotMirror, source)
	}
	mirror, err := store.OpenReadOnly(ctx, source)
	if errors.Is(err, sqlitefile.ErrNoDatabase) {
		return fmt.Errorf("%w at %s: make a copy with `solarmirror publish`, or name another --source", sqlitefile.ErrNoDatabase, source)
	}
	if err != nil {
		return err
	}
	defer mirror.Close()
	return f(c, mirror, true)
}

// warnOfMarts says so on standard error when tables that f copies may contradict one another.
func (a *app) warnOfMarts(ctx context.Context, mirror *store.Mirror) error {
	behind, err := mirror.MartsBehind(ctx)
	if behind {
		fmt.Fprintln(a.stderr, status.MartsBehind)
	}
	return err
}

// withClient makes the client of the configured platform for f; observe, if not nil, is called for
// every request.
func (a *app) withClient(observe func(platform.Exchange), f func(config.Config, zerolog.Logger, *platform.Client) error) error {
	c, log, err := a.configAndLog()
	if err != nil {
		return err
	}
	client, err := setup.Client(c, log, observe)
	if err != nil {
		return err
	}
	defer client.Close()
	return f(c, log, client)
}

// withEngine opens the configured mirror for writing, under its lock, and has f read the platform
// into it; observe is that of withClient.
func (a *app) withEngine(ctx context.Context, w setup.Writing, observe func(platform.Exchange), f func(*pull.Engine) error) error {
	return a.withClient(observe, func(c config.Config, log zerolog.Logger, client *platform.Client) error {
		mirror, release, err := setup.Mirror(ctx, c, log, w)
		if err != nil {
			return err
		}
		defer release()
		engine := setup.Engine(c, log, client, mirror)
		show, done := progress.Show(a.stderr, a.flags.quiet)
		defer done()
		engine.Progress = show
		return f(engine)
	})
}

// withOutbox opens the configured outbox around f.
func (a *app) withOutbox(ctx context.Context, f func(config.Config, *outbox.Outbox) error) error {
	c, log, err := a.configAndLog()
	if err != nil {
		return err
	}
	outbox, err := setup.Outbox(ctx, c, log, time.Now)
	if err != nil {
		return err
	}
	return errors.Join(f(c, outbox), outbox.Close())
}
