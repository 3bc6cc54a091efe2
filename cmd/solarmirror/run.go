package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/config"
	"solarmirror/cmd/internal/setup"
	"solarmirror/cmd/internal/statuspage"
	"solarmirror/store"
	"solarmirror/store/sqlitefile"
	"solarmirror/sync/platform"
	"solarmirror/sync/schedule"
)

func newRunCommand(a *app) *cobra.Command {
	var wait bool
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Keep the mirror up to date on a schedule, until stopped",
		Long: `Do on a schedule, section [schedule] of the configuration, what sync, push, verify and
publish do once. Where [schedule] gives them a time, report, backup and export are jobs too;
sections [report], [backup] and [export] say where they write.

Jobs that read the platform into the mirror, and jobs that copy the mirror, take turns; a job
that is due again before it has ended is skipped once; what was missed while the program was
down happens at start. A job that fails is logged and runs again at its next time. Other
commands may be used meanwhile: the locks of mirror and outbox are taken by each job for
as long as it runs. A job waits for the mirror while another command has it, a backfill for
one window at the most; a push that finds the outbox taken is skipped.

SIGTERM or SIGINT ends it within 10 seconds: pages under way are committed, and the next start goes
on where they ended. The exit code is then 0. [http] listen is where it serves a status page, /healthz, /readyz and /metrics. It ends by itself, with 1, when a database is damaged.
A second run for the same mirror is refused with 11.`,
		Example: "  solarmirror run\n  solarmirror run --config /etc/solarmirror.toml --log-format json",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.run(cmd.Context(), wait) },
	}
	cmd.Flags().BoolVar(&wait, "wait", false, "wait for another run of the same mirror to end instead of failing with exit code 11")
	return cmd
}

func (a *app) run(ctx context.Context, wait bool) error {
	requests := statuspage.NewRequests(schedule.SystemClock{}.Now)
	return a.withClient(requests.Observe, func(c config.Config, log zerolog.Logger, client *platform.Client) error {
		w := &worker{config: c, log: log, client: client, requests: requests, clock: schedule.SystemClock{}, maxWAL: maxWAL}
		err := w.run(ctx, wait)
		if interrupted(ctx, err) {
			return nil
		}
		return err
	})
}

// run works until ctx ends or a database is found damaged. It holds a lock of its own, beside the mirror's: two workers would each do everything.
func (w *worker) run(ctx context.Context, wait bool) error {
	if err := w.config.CheckOutputs(); err != nil {
		return err
	}
	lock, err := sqlitefile.AcquireLock(ctx, w.config.Mirror.Path+".run", "run", wait)
	if err != nil {
		return err
	}
	defer lock.Release()
	w.alerts = setup.Worker(w.config, w.log, w.clock.Now, w.jobs(nil))
	w.warnOfSecrets(ctx)
	sendFor := stopSending
	defer func() { w.alerts.Stop(sendFor) }()
	// Served before anything else, since to bring an older mirror up to date may take long, and the process is alive meanwhile.
	var jobs atomic.Pointer[schedule.Worker]
	endPage, err := w.servePage(func() []schedule.Status {
		if started := jobs.Load(); started != nil {
			return started.Status()
		}
		return nil
	})
	if err != nil {
		return err
	}
	defer endPage()
	began := w.clock.Now()
	last, err := w.lastStarts(ctx)
	w.alerts.Ended("run", began, err)
	if err != nil {
		sendFor = alertTime
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	w.stop = stop
	jobs.Store(schedule.New(w.jobs(last), schedule.Options{Zone: w.config.ScheduleZone(), Clock: w.clock, Log: w.log}))
	if err := drain(ctx, jobs.Load()); err != nil {
		return err
	}
	w.log.Info().Msg("stopped")
	var damage *damageError
	if errors.As(context.Cause(ctx), &damage) {
		sendFor = alertTime
		return damage
	}
	return nil
}

// warnOfSecrets looks at the files that are read only when they are needed, which may be in the night.
// The worker goes on: they may be there when it comes to that.
func (w *worker) warnOfSecrets(ctx context.Context) {
	for _, problem := range w.config.Alerts.CheckFiles(ctx) {
		w.log.Warn().Str("cause", problem).Msg("nobody can be told when something is wrong; after mending it try: solarmirror doctor --alert")
	}
	if _, err := w.config.TokenSource()(ctx); err != nil && w.config.Platform.TokenFile != "" {
		w.log.Warn().AnErr("cause", err).Msg("there is no token to ask the platform with; the file is read again at each job")
	}
}

// stopGrace is how long jobs may take to end after they are told to. A push waits so long for the answer to what it has sent that less
// would leave doubts.
const stopGrace = 9500 * time.Millisecond

// drain runs the jobs until ctx ends, and returns when all have ended or should have.
func drain(ctx context.Context, jobs *schedule.Worker) error {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		jobs.Run(ctx)
	}()
	<-ctx.Done()
	grace := time.NewTimer(stopGrace)
	defer grace.Stop()
	select {
	case <-ended:
		return nil
	case <-grace.C:
	}
	var late []string
	for _, s := range jobs.Status() {
		if s.Running {
			late = append(late, s.Name)
		}
	}
	return fmt.Errorf("stopped without waiting longer for %s: what was committed is kept, and the next run goes on from there", strings.Join(late, ", "))
}

// lastStarts looks at the mirror before anything is scheduled: one that this program cannot or must not write to is no failure that repeats, but one
// to be told at once. It returns when each job last started, so that what was missed is made up for.
func (w *worker) lastStarts(ctx context.Context) (map[string]time.Time, error) {
	mirror, err := setup.Reader(ctx, w.config, w.log)
	var older *sqlitefile.OlderError
	switch {
	case errors.Is(err, sqlitefile.ErrNoDatabase):
		return nil, nil
	case errors.As(err, &older):
		if err := w.withMirror(ctx, "upgrade", func(*store.Mirror) error { return nil }); err != nil {
			return nil, err
		}
		return w.lastStarts(ctx)
	case err != nil:
		return nil, err
	}
	defer mirror.Close()
	meta, err := mirror.Meta(ctx)
	if err != nil {
		return nil, err
	}
	if want := w.client.BaseURL(); meta.BaseURL != "" && meta.BaseURL != want {
		return nil, &store.OtherPlatformError{Path: mirror.Path(), Have: meta.BaseURL, Want: want}
	}
	last, err := mirror.LastStarts(ctx)
	if err != nil {
		return nil, err
	}
	delete(last, jobPush) // most pushes have nothing to do and leave no run
	return last, w.countFullReads(ctx, mirror, last)
}

// countFullReads takes a full reading that another command, or the first sync, has done for one on schedule.
func (w *worker) countFullReads(ctx context.Context, mirror *store.Mirror, last map[string]time.Time) error {
	list, err := mirror.Freshness(ctx)
	oldest := map[string]time.Time{}
	for _, f := range list {
		if at, known := oldest[f.Stream.FullJob]; !known || f.LastFullScanAt.Before(at) {
			oldest[f.Stream.FullJob] = f.LastFullScanAt
		}
	}
	for job, at := range oldest {
		if at.After(last[job]) {
			last[job] = at
		}
	}
	return err
}
