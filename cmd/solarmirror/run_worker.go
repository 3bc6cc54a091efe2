package main

import (
	"context"
	"errors"

	"github.com/rs/zerolog"

	"solarmirror/cmd/internal/alerts"
	"solarmirror/cmd/internal/config"
	"solarmirror/cmd/internal/setup"
	"solarmirror/cmd/internal/statuspage"
	"solarmirror/store"
	"solarmirror/store/sqlitefile"
	"solarmirror/sync/platform"
	"solarmirror/sync/schedule"
)

// worker does the jobs of "solarmirror run". They share one client, which keeps the configured
// limits however many jobs run.
type worker struct {
	config config.Config
	log    zerolog.Logger
	client *platform.Client
	clock  schedule.Clock
	maxWAL int64                   // bytes; a larger WAL is warned of
	stop   context.CancelCauseFunc // ends the worker

	requests *statuspage.Requests // what the client has asked; nil: it is not counted
	alerts   *alerts.Watcher      // tells how jobs end; nil: nobody is told

	lastPush string // how the last push ended that did nothing
}

// damageError is why the worker ended by itself.
type damageError struct{ error }

func (e *damageError) Unwrap() error { return e.error }

// withMirror opens the mirror anew for each job: the file may have been replaced meanwhile. It waits for other commands, one of which may be a backfill of days; that releases the
// lock after each window.
func (w *worker) withMirror(ctx context.Context, job string, work func(*store.Mirror) error) error {
	how := setup.Writing{Command: "run: " + job, Now: w.clock.Now}
	mirror, release, err := setup.Mirror(ctx, w.config, w.log, how)
	var locked *sqlitefile.LockedError
	if errors.As(err, &locked) {
		w.log.Warn().Str("job", job).AnErr("cause", err).Msg("job waits for the mirror")
		how.Wait = true
		mirror, release, err = setup.Mirror(ctx, w.config, w.log, how)
	}
	if err != nil {
		return err
	}
	defer w.checkWAL()
	defer release()
	return work(mirror)
}

// maxWAL is the size of a WAL, in bytes, that is worth a warning. A WAL is emptied every 16 MiB and
// after each job, unless a reader still looks at an old state of the mirror.
const maxWAL = 256 << 20

func (w *worker) checkWAL() {
	f, err := sqlitefile.ReadFileState(w.config.Mirror.Path)
	if err != nil {
		w.log.Warn().Err(err).Msg("the WAL could not be measured")
		return
	}
	if f.WAL > w.maxWAL {
		w.log.Warn().Int64("wal_bytes", f.WAL).Msg("the mirror's WAL is large, because some program keeps reading an old state of it: " +
			"end that program's transaction (a query left open), or restart Litestream where that replicates the mirror, and the next job empties the WAL")
	}
}
