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

// Writing says how a command opens the mirror to write to it.
type Writing struct {
	Command string // as others are told who find the mirror locked
	Wait    bool   // for another run to end
	DryRun  bool
	Now     func() time.Time // the mirror's clock; nil is time.Now
}

// Mirror takes the mirror's lock, opens the mirror for writing and finishes what an upgrade left to
// do. The function returned undoes the first two. A dry run before the first sync compares with an
// empty mirror, which that function deletes.
func Mirror(ctx context.Context, c config.Config, log zerolog.Logger, w Writing) (*store.Mirror, func(), error) {
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
	if w.DryRun {
		return mirror, release, nil
	}
	if err := pull.Promote(ctx, mirror, log); err != nil {
		release()
		return nil, nil, err
	}
	return mirror, release, nil
}

// MirrorOptions are those of a mirror that is written to; now may be nil.
func MirrorOptions(c config.Config, now func() time.Time, log zerolog.Logger) store.Options {
	return store.Options{Now: now, Log: log, Zone: c.Platform.TimeZone, PowerUnit: store.PowerUnit(c.Marts.PowerUnit)}
}
