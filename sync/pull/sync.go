package pull

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"solarmirror/store"
	"solarmirror/store/marts"
	"solarmirror/store/sqlitefile"
	"solarmirror/sync/platform"
)

// Engine reads the platform into the mirror. The caller holds the mirror's lock.
type Engine struct {
	Client      *platform.Client
	Mirror      *store.Mirror
	Zone        *time.Location // the platform's
	OverlapDays int            // an incremental scan looks back this far behind the watermark
	KeepDeleted time.Duration  // how long a record that is gone stays; 0 is for ever
	Paging      Paging
	InFlight    int // requests of one scan at one time
	Now         func() time.Time
	Log         zerolog.Logger
	Progress    func(Progress) // called after each commit, by one goroutine at a time; nil when nobody looks

	mu      sync.Mutex // guards what follows, and Progress
	dialect Dialect
	renewed map[string]bool // the streams whose traits were found anew in this run; that happens once each
	dryRun  bool            // nothing is to be remembered
}

// Options say what a sync does.
type Options struct {
	Streams         []*Stream
	Full            bool // read everything, whatever the watermark
	DryRun          bool // read and compare, write nothing
	AcceptDeletions bool // mark as gone however many are missing
	Repair          bool // with Full: write edited records anew and delete orphans
	Trigger         string
	Command         string // as the ledger calls the run; "" is sync
}

// Sync brings the named streams up to date, all at the same time; they share the client's limits. A stream that fails does not keep
// the others from being read, but for a refused token, a cancelled context and a mirror that cannot be written, which stop the
// run. The error joins what went wrong; the report says what was done in any case.
func (e *Engine) Sync(ctx context.Context, o Options) (*Report, error) {
	report, err := e.run(ctx, cmp.Or(o.Command, "sync"), o, e.syncStream)
	e.makeIndices(ctx, report)
	return report, err
}

// makeIndices ends a load of which something was read whole. The mirror works without indices, and the next run tries again.
func (e *Engine) makeIndices(ctx context.Context, r *Report) {
	if e.dryRun || ctx.Err() != nil || r.Outcome != store.OK && r.Outcome != store.Partial {
		return
	}
	if err := e.Mirror.MakeIndices(ctx); err != nil {
		e.Log.Warn().Err(err).Msg("some queries are slow until the next run makes the indices")
	}
}

// run does the same work for each stream, within a row of the ledger.
func (e *Engine) run(ctx context.Context, command string, o Options, work func(context.Context, *job) error) (*Report, error) {
	report := &Report{DryRun: o.DryRun, Streams: make([]StreamReport, len(o.Streams))}
	if err := e.start(ctx, command, o, report); err != nil {
		report.Streams = nil
		return report, err
	}
	err := e.deleteOrphans(ctx, o, report)
	if err == nil {
		e.readStreams(ctx, o, report, work)
		err = report.conclude(ctx)
	}
	if o.DryRun || errors.Is(err, sqlitefile.ErrCorrupt) { // nothing should be written to a damaged file any more
		return report, err
	}
	if bad := e.finish(ctx, report, err); bad != nil || ctx.Err() != nil || report.mirrorFailed() {
		return report, errors.Join(err, bad) // the next run brings the marts up to date
	}
	refresh := marts.Refresh
	if o.Repair {
		refresh = marts.Rebuild
	}
	return report, errors.Join(err, refresh(ctx, e.Mirror))
}

// start opens the run's row and recalls the dialect, of a mirror of this platform.
func (e *Engine) start(ctx context.Context, command string, o Options, report *Report) error {
	if err := e.samePlatform(ctx); err != nil {
		return err
	}
	if !o.DryRun {
		run, err := e.Mirror.StartRun(ctx, command, o.Trigger)
		if err != nil {
			return err
		}
		report.RunID = run.ID
	}
	e.dryRun = o.DryRun
	return e.recallDialect(ctx)
}

// samePlatform refuses a mirror of another platform.
func (e *Engine) samePlatform(ctx context.Context) error {
	meta, err := e.Mirror.Meta(ctx)
	if err != nil {
		return err
	}
	if want := e.Client.BaseURL(); meta.BaseURL != "" && meta.BaseURL != want {
		return &store.OtherPlatformError{Path: e.Mirror.Path(), Have: meta.BaseURL, Want: want}
	}
	return nil
}

// readStreams works on all streams at the same time, until they are done or one error leaves no use in going on.
func (e *Engine) readStreams(ctx context.Context, o Options, report *Report, work func(context.Context, *job) error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var streams sync.WaitGroup
	for i, s := range o.Streams {
		j := &job{stream: s, options: o, runID: report.RunID, report: &report.Streams[i]}
		j.report.Stream = s.Name
		j.writer = newWriter(s, report.RunID, e.Now)
		if o.Repair {
			j.repaired = map[store.NaturalKey]Difference{}
			j.writer.repair, j.writer.repaired = newComparer(s), map[store.NaturalKey]Difference{}
		}
		streams.Go(func() {
			began := e.Now()
			j.report.Err = work(ctx, j)
			j.report.Repairs = append(j.report.Repairs, sorted(j.repaired)...)
			j.report.Duration = e.Now().Sub(began)
			if stopsRun(j.report.Err) {
				cancel(fmt.Errorf("%s met what would stop it, too", j.stream.Name))
			}
			e.logStream(*j.report, context.Cause(ctx))
		})
	}
	streams.Wait()
}

// conclude derives the run's outcome from that of its streams.
func (r *Report) conclude(ctx context.Context) error {
	var failed []*StreamError
	good, mirrorFailed := 0, false
	for _, s := range r.Streams {
		again := mirrorFailed && failureOfMirror(s.Err) // what the first has said, the others need not repeat
		if s.Err != nil && !again && !(errors.Is(s.Err, context.Canceled) && ctx.Err() == nil) {
			failed = append(failed, &StreamError{Streams: []string{s.Stream}, Err: s.Err})
		}
		mirrorFailed = mirrorFailed || failureOfMirror(s.Err)
	}
	for _, s := range r.Streams {
		if s.Err == nil {
			good++
		}
	}
	switch {
	case good == len(r.Streams):
		r.Outcome = store.OK
	case ctx.Err() != nil:
		r.Outcome = store.Interrupted
	case good > 0:
		r.Outcome = store.Partial
		return &PartialError{Err: JoinFailures(failed)}
	default:
		r.Outcome = store.Failed
	}
	return JoinFailures(failed)
}

func (e *Engine) finish(ctx context.Context, r *Report, cause error) error {
	text := ""
	if cause != nil {
		text = cause.Error()
	}
	return e.Mirror.FinishRun(ctx, r.RunID, store.Ending{Outcome: r.Outcome, Streams: r.outcomes(), Counts: r.Total(), Error: text})
}

// stopsRun says whether an error leaves no use in going on with other streams.
func stopsRun(err error) bool {
	var auth *platform.AuthError
	return errors.As(err, &auth) || failureOfMirror(err)
}

// failureOfMirror says whether an error is one of the mirror: it cannot be read or written.
func failureOfMirror(err error) bool {
	var fetch *fetchError
	var deletions *DeletionsError
	return err != nil && !errors.As(err, &fetch) && !errors.As(err, &deletions) && !errors.Is(err, context.Canceled)
}

func (r *Report) mirrorFailed() bool {
	return slices.ContainsFunc(r.Streams, func(s StreamReport) bool { return failureOfMirror(s.Err) })
}

// fetchError marks a failure of the platform, as opposed to one of the mirror.
type fetchError struct{ error }

func (e *fetchError) Unwrap() error { return e.error }

// logStream says how a stream ended. One that was stopped has not failed; why it was is the cause. Why one has
// failed is the run's error to say.
func (e *Engine) logStream(r StreamReport, cause error) {
	event, message := e.Log.Info(), "stream read"
	switch {
	case errors.Is(r.Err, context.Canceled):
		event, message = event.AnErr("because", cause), "stream not read to its end: stopped"
	case r.Err != nil:
		event, message = e.Log.Warn(), "stream not read to its end"
	}
	event.Str("stream", r.Stream).Bool("full", r.Full).Int64("records", r.Counts.Records).
		Int64("inserted", r.Counts.Inserted).Int64("changed", r.Counts.Changed).Int64("unchanged", r.Counts.Unchanged).
		Int64("deleted", r.Counts.Deleted).Int64("rejected", r.Counts.Rejected).
		Int64("requests", r.Requests).Dur("took_ms", r.Duration).Msg(message)
}
