package main

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"solarmirror/cmd/internal/progress"
	"solarmirror/cmd/internal/pullreport"
	"solarmirror/cmd/internal/setup"
	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/outbox"
	"solarmirror/store/sqlitefile"
	"solarmirror/sync/pull"
	"solarmirror/sync/push"
	"solarmirror/sync/schedule"
)

// The jobs, as the ledger and the configuration call them.
const (
	jobSync           = "sync"
	jobFullEquipments = schema.FullEquipments
	jobFullRequests   = schema.FullRequests
	jobVerify         = "verify"
	jobPublish        = "publish"
	jobReport         = "report"
	jobExport         = "export"
	jobBackup         = "backup"
	jobPush           = "push"
)

// The lines of jobs.
const (
	mirrorLine = "mirror"
	outboxLine = "outbox"
)

// streamReaders names the jobs that read each stream.
func streamReaders() map[string][]string {
	readers := map[string][]string{}
	for _, s := range schema.Streams {
		readers[s.Name] = []string{jobSync, s.FullJob}
	}
	return readers
}

// task declares a job of the worker.
type task struct {
	name  string
	spec  schedule.Spec
	line  string
	waits bool // a job that never ran waits for its time; otherwise it runs at start
	run   func(context.Context, *account) error
}

// tasks lists the jobs. Jobs due at the same moment run in this order: a verification and the copies
// find the mirror just read.
//
// Full readings wait when they never ran, since the first sync is one; so does a verification, which
// would find nothing that sync did not.
func (w *worker) tasks() []task {
	at := w.config.Schedule
	return []task{
		{name: jobSync, spec: at.Sync, line: mirrorLine, run: w.sync(pull.Options{Streams: pull.Streams(), Command: jobSync})},
		{name: jobFullEquipments, spec: at.FullEquipments, line: mirrorLine, waits: true, run: w.fullRead(jobFullEquipments)},
		{name: jobFullRequests, spec: at.FullRequests, line: mirrorLine, waits: true, run: w.fullRead(jobFullRequests)},
		{name: jobVerify, spec: at.Verify, line: mirrorLine, waits: true, run: w.verify},
		{name: jobPublish, spec: at.Publish, line: mirrorLine, run: w.copying(jobPublish, w.publish)},
		{name: jobReport, spec: at.Report, line: mirrorLine, run: w.copying(jobReport, w.report)},
		{name: jobExport, spec: at.Export, line: mirrorLine, run: w.copying(jobExport, w.export)},
		{name: jobBackup, spec: at.Backup, line: mirrorLine, run: w.copying(jobBackup, w.backup)},
		{name: jobPush, spec: at.Push, line: outboxLine, run: w.push},
	}
}

// jobs makes of the tasks what the schedule runs; last is when each last started.
func (w *worker) jobs(last map[string]time.Time) []schedule.Job {
	var list []schedule.Job
	now := w.clock.Now()
	for _, t := range w.tasks() {
		started := last[t.name]
		if started.IsZero() && t.waits {
			started = now
		}
		list = append(list, schedule.Job{Name: t.name, Spec: t.spec, Line: t.line, Last: started, Run: w.job(t.name, t.run)})
	}
	return list
}

// account is what a job says of itself in the log.
type account struct {
	facts *zerolog.Event
	idle  bool // there was nothing to do
}

// job makes of work what the schedule runs: with an outcome, and a line in the log.
func (w *worker) job(name string, work func(context.Context, *account) error) func(context.Context) (schedule.Outcome, error) {
	return func(ctx context.Context) (schedule.Outcome, error) {
		began, did := w.clock.Now(), &account{facts: zerolog.Dict()}
		err := errDefect
		w.alerts.Began(name)
		defer func() { w.alerts.Ended(name, began, err) }()
		err = work(ctx, did)
		outcome := outcomeOf(ctx, err)
		failure := err
		if outcome == schedule.Interrupted {
			failure = nil // that it was stopped is all there is to say
		}
		w.log.WithLevel(levelOf(outcome, did.idle)).Str("job", name).Str("outcome", string(outcome)).
			Dict("did", did.facts).Dur("took_ms", w.clock.Now().Sub(began)).AnErr("error", failure).Msg("job ended")
		if errors.Is(err, sqlitefile.ErrCorrupt) {
			w.stop(&damageError{err})
		}
		return outcome, err
	}
}

// errDefect is what the alerts say of a job that panicked.
var errDefect = errors.New("the job ended by a defect of the program, which the log has")

func outcomeOf(ctx context.Context, err error) schedule.Outcome {
	if err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return schedule.Interrupted
	}
	switch exitCode(ctx, err) {
	case exitOK:
		return schedule.OK
	case exitPartial:
		return schedule.Partial
	case exitLocked:
		return schedule.Skipped
	}
	return schedule.Failed
}

func levelOf(outcome schedule.Outcome, idle bool) zerolog.Level {
	switch {
	case outcome == schedule.Failed, outcome == schedule.Partial:
		return zerolog.ErrorLevel
	case outcome == schedule.Skipped:
		return zerolog.WarnLevel
	case idle:
		return zerolog.DebugLevel
	}
	return zerolog.InfoLevel
}

func (w *worker) sync(o pull.Options) func(context.Context, *account) error {
	o.Trigger = store.TriggerSchedule
	return func(ctx context.Context, did *account) error {
		return w.withMirror(ctx, o.Command, func(mirror *store.Mirror) error {
			report, err := w.engine(mirror, o.Command).Sync(ctx, o)
			did.run(report.RunID, report.Total())
			if rejected := report.Total().Rejected; rejected > 0 {
				w.log.Warn().Str("job", o.Command).Int64("rejected", rejected).Msg(`records could not be loaded and are kept as they came; see "solarmirror rejects list"`)
			}
			return err
		})
	}
}

func (w *worker) fullRead(job string) func(context.Context, *account) error {
	return w.sync(pull.Options{Streams: pull.FullJobStreams(job), Full: true, Command: job})
}

func (did *account) run(id int64, c store.Counts) {
	did.facts.Int64("run", id).Int64("records", c.Records).Int64("inserted", c.Inserted).Int64("changed", c.Changed).
		Int64("deleted", c.Deleted).Int64("rejected", c.Rejected)
}

// engine returns what reads the platform into the mirror, for one job.
func (w *worker) engine(mirror *store.Mirror, job string) *pull.Engine {
	engine := setup.Engine(w.config, w.log, w.client, mirror)
	engine.Now = w.clock.Now
	engine.Progress = w.progress(job)
	return engine
}

// sayEvery is how often a long job says how far it has come.
const sayEvery = time.Minute

// progress logs how far a job has come. That is also when the WAL can grow, so it is looked at.
func (w *worker) progress(job string) func(pull.Progress) {
	return progress.Every(sayEvery, w.clock.Now, func(line string) {
		w.log.Info().Str("job", job).Str("progress", line).Msg("job goes on")
		w.checkWAL()
	})
}

// verify compares all streams. Unlike the command it leaves a run in the ledger, for those who were not there to see.
func (w *worker) verify(ctx context.Context, did *account) error {
	return w.withMirror(ctx, jobVerify, func(mirror *store.Mirror) error {
		return inLedger(ctx, mirror, jobVerify, did, func() (store.Counts, error) {
			list, err := w.engine(mirror, jobVerify).Verify(ctx, pull.Streams())
			counts, differences := store.Counts{}, 0
			for _, v := range list {
				counts.Records += int64(v.Platform)
				counts.Rejected += int64(v.Rejected)
				differences += len(v.Differences)
			}
			did.facts.Int("differences", differences).Int("pending", pullreport.Pending(list))
			return counts, cmp.Or(err, pullreport.Discrepancy(list))
		})
	})
}

// inLedger makes a run of work that has none by itself.
func inLedger(ctx context.Context, mirror *store.Mirror, job string, did *account, work func() (store.Counts, error)) error {
	run, err := mirror.StartRun(ctx, job, store.TriggerSchedule)
	if err != nil {
		return err
	}
	counts, err := work()
	did.run(run.ID, counts)
	return errors.Join(err, mirror.FinishRun(ctx, run.ID, store.Ending{Outcome: store.Outcome(outcomeOf(ctx, err)), Counts: counts, Error: errorText(err)}))
}

func (w *worker) push(ctx context.Context, did *account) error {
	began := w.clock.Now()
	pusher := &push.Pusher{Client: w.client, Now: w.clock.Now, Log: w.log}
	return setup.WithPusher(ctx, w.config, pusher, false, func() error {
		report, err := pusher.Push(ctx)
		did.idle = *report == push.Report{}
		did.facts.Int("done", report.Done).Int("rejected", report.Rejected).Int("ambiguous", report.Ambiguous+report.Doubted).
			Int("confirmed", report.Confirmed).Int("postponed", report.Postponed).Int("unsent", report.Unsent).Int64("purged", report.Purged)
		return errors.Join(err, w.recordPush(ctx, pusher.Mirror, began, report, did.idle, err))
	})
}

// recordPush makes a run of a push that did something, or ended otherwise than the one before it: the usual one, every minute, finds
// nothing to send and would fill the ledger.
func (w *worker) recordPush(ctx context.Context, ledger *outbox.Creations, began time.Time, report *push.Report, idle bool, cause error) error {
	ending := string(outcomeOf(ctx, cause)) + errorText(cause)
	usual := idle && ending == cmp.Or(w.lastPush, string(schedule.OK))
	w.lastPush = ending
	if ledger == nil || usual {
		return nil
	}
	return w.record(ctx, ledger, jobPush, began, cause, store.Counts{
		Records: int64(report.Done + report.Rejected + report.Ambiguous + report.Postponed), Inserted: int64(report.Done), Rejected: int64(report.Rejected),
	})
}

// record adds what ran without the mirror's lock to the ledger; a job that was skipped did not run.
func (w *worker) record(ctx context.Context, ledger *outbox.Creations, job string, began time.Time, cause error, counts store.Counts) error {
	outcome := outcomeOf(ctx, cause)
	if outcome == schedule.Skipped {
		return nil
	}
	return ledger.RecordRun(context.WithoutCancel(ctx), store.Run{
		Command: job, Trigger: store.TriggerSchedule, StartedAt: began, FinishedAt: w.clock.Now(), Outcome: store.Outcome(outcome),
		Counts: counts, Error: errorText(cause),
	})
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
