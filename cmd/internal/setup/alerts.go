package setup

import (
	"context"
	"os"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"solarmirror/cmd/internal/alerts"
	"solarmirror/cmd/internal/config"
	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/outbox"
	"solarmirror/store/owntables"
	"solarmirror/store/sqlitefile"
	"solarmirror/sync/schedule"
)

// Worker returns what alerts of a worker's jobs, which come when the schedule says. Where nobody is
// to be told, it only knows what is open.
func Worker(c config.Config, log zerolog.Logger, now func() time.Time, jobs []schedule.Job) *alerts.Watcher {
	every := map[string]time.Duration{}
	for _, j := range jobs {
		every[j.Name] = j.Spec.Longest(now().In(c.ScheduleZone()))
	}
	o := alertOptions(c, log, now)
	o.Facts = func(job string) alerts.Facts { return alerts.Facts{Every: every[job], Asks: asks(job)} }
	if !c.Alerts.Given() {
		o.Path = ""
	}
	w := alerts.Start(o)
	for _, j := range jobs {
		if every[j.Name] == 0 {
			w.Off(j.Name)
		}
	}
	return w
}

// Command returns what alerts of one command that cron or Kubernetes started; nil where nobody is
// to be told.
func Command(c config.Config, log zerolog.Logger) *alerts.Watcher {
	if !c.Alerts.Given() {
		return nil
	}
	o := alertOptions(c, log, time.Now)
	o.Once = true
	o.Facts = func(job string) alerts.Facts { return alerts.Facts{Asks: asks(job)} }
	return alerts.Start(o)
}

// asks says whether a job cannot succeed without the platform.
func asks(job string) bool {
	return slices.Contains([]string{"sync", "backfill", "verify", schema.FullEquipments, schema.FullRequests}, job)
}

func alertOptions(c config.Config, log zerolog.Logger, now func() time.Time) alerts.Options {
	limits := streamLimits(c, now())
	host, _ := os.Hostname() // without one, titles name none
	return alerts.Options{
		Path: alerts.PathOf(c.Mirror.Path), Addresses: c.Alerts.Addresses, Ping: c.Alerts.Ping, Now: now, Log: log,
		Tongue: alerts.Tongue{Lang: c.Alerts.Lang, Zone: c.ScheduleZone(), Host: host},
		Look:   func(ctx context.Context) alerts.Look { return look(ctx, c, limits) },
	}
}

// streamLimits lists, for each stream, when it is late and the jobs that move it.
func streamLimits(c config.Config, now time.Time) map[string]alerts.StreamAge {
	specs := map[string]schedule.Spec{schema.FullEquipments: c.Schedule.FullEquipments, schema.FullRequests: c.Schedule.FullRequests}
	limits := map[string]alerts.StreamAge{}
	for _, s := range schema.Streams {
		at := alerts.StreamAge{Jobs: []string{s.FullJob}}
		mover := specs[s.FullJob]
		if s.Dates.Updates {
			at.Jobs, mover = append(at.Jobs, "sync"), c.Schedule.Sync
		}
		if every := mover.Longest(now.In(c.ScheduleZone())); every > 0 {
			at.Limit = max(c.Alerts.StaleAfter, 2*every)
		}
		limits[s.Name] = at
	}
	return limits
}

// look reads how mirror and outbox stand. What cannot be read is for the jobs to tell.
func look(ctx context.Context, c config.Config, limits map[string]alerts.StreamAge) alerts.Look {
	l := alerts.Look{Rejects: -1, Doubts: -1}
	if stats, err := outbox.ReadStats(ctx, c.Outbox.Path); err == nil {
		l.Doubts = stats.Counts[outbox.StateAmbiguous]
	}
	mirror, err := store.OpenReadOnly(ctx, c.Mirror.Path)
	if err != nil {
		return l
	}
	defer mirror.Close()
	list, err := mirror.Freshness(ctx)
	if err != nil {
		return l
	}
	l.FailedMarts = failedMarts(ctx, mirror)
	l.Rejects = 0
	for _, f := range list {
		at := limits[f.Stream.Name]
		at.Name, at.Through = f.Stream.Name, f.CompleteThrough
		l.Streams = append(l.Streams, at)
		l.Rejects += f.Rejects
	}
	return l
}

// failedMarts returns when the last build of each own mart failed that did; nil where that is not known.
func failedMarts(ctx context.Context, mirror *store.Mirror) map[string]time.Time {
	list, err := owntables.Ledger(ctx, mirror.Reader(), "main")
	if err != nil {
		return nil
	}
	failed := map[string]time.Time{}
	for _, o := range list {
		if o.Error != "" {
			failed[o.Table], _ = sqlitefile.ParseTime(o.TriedAt)
		}
	}
	return failed
}
