package setup

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"

	"solarmirror/cmd/internal/config"
	"solarmirror/store"
	"solarmirror/store/sqlitefile"
	"solarmirror/sync/pull"
)

// Writing describes how a command opens the mirror for writing.
type Writing struct {
	Command string // the holder that a *sqlitefile.LockedError names
	Wait    bool   // wait for the lock instead of failing
	DryRun  bool
	Now     func() time.Time // the mirror's clock; nil is time.Now
}

// Reader opens the configured mirror for reading.
func Reader(ctx context.Context, c config.Config, log zerolog.Logger) (*store.Mirror, error) {
	if err := FinishRestore(ctx, c, log, false); err != nil {
		return nil, err
	}
	return store.OpenReadOnly(ctx, c.Mirror.Path)
}

// Mirror acquires the mirror's lock, opens the mirror for writing and completes a pending upgrade,
// also in a dry run, since opening begins it. The returned function closes the mirror and releases
// the lock. A dry run before the first sync uses an empty temporary mirror, which the returned
// function deletes.
func Mirror(ctx context.Context, c config.Config, log zerolog.Logger, w Writing) (*store.Mirror, func(), error) {
	if err := FinishRestore(ctx, c, log, w.Wait); err != nil {
		return nil, nil, err
	}
	path, cleanUp := c.Mirror.Path, func() {}
	if _, err := os.Stat(path); w.DryRun && errors.Is(err, os.ErrNotExist) {
		dir, err := os.MkdirTemp("", "solarmirror-dry-run-")
		if err != nil {
			return nil, nil, err
		}
		path, cleanUp = filepath.Join(dir, "solarmirror.db"), func() { os.RemoveAll(dir) }
	}
	lock, err := sqlitefile.AcquireLock(ctx, path, w.Command, w.Wait)
	if err != nil {
		cleanUp()
		return nil, nil, err
	}
	unlock := func() {
		lock.Release()
		cleanUp()
	}
	mirror, err := store.Open(ctx, path, MirrorOptions(c, w.Now, log))
	if err != nil {
		unlock()
		return nil, nil, err
	}
	release := func() {
		if err := mirror.Close(); err != nil {
			log.Warn().Err(err).Msg("closing the mirror")
		}
		unlock()
	}
	if err := pull.Promote(ctx, mirror, log); err != nil {
		release()
		return nil, nil, err
	}
	return mirror, release, nil
}

// MirrorOptions returns the options of a mirror opened for writing; now may be nil.
func MirrorOptions(c config.Config, now func() time.Time, log zerolog.Logger) store.Options {
	return store.Options{
		Now: now, Log: log, FileMode: c.Mirror.FileMode,
		Zone: c.Platform.TimeZone, PowerUnit: store.PowerUnit(c.Marts.PowerUnit), Deals: c.Marts.Deals,
		OwnMarts: store.OwnMarts{Dir: c.Marts.OwnDir, Timeout: c.Marts.OwnTimeout},
	}
}
