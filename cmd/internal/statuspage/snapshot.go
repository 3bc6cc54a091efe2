package statuspage

import (
	"context"
	"errors"
	"sync"
	"time"

	"solarmirror/store"
	"solarmirror/store/outbox"
	"solarmirror/store/owntables"
	"solarmirror/store/sqlitefile"
)

// snapshot is what there was to know at one moment.
type snapshot struct {
	taken time.Time

	err     error // why the mirror cannot be read; what follows up to marts is empty then
	baseURL string
	streams []store.Freshness
	runs    []store.Run // of the days shown, the newest first
	entries []store.Entry
	totals  []store.RunTotal
	windows []store.Window
	drift   []store.DriftRecord
	marts   []string // own ones whose last build failed

	outbox    outbox.Stats
	outboxErr error

	files    sqlitefile.FileState // of the mirror
	filesErr error
}

// shownDays is how many days the charts go back.
const shownDays = 14

const (
	freshFor = 5 * time.Second  // how long a snapshot is good enough
	patience = 15 * time.Second // how long taking one may last
)

// snapshots takes them, one at a time.
type snapshots struct {
	options Options

	mu    sync.Mutex
	last  *snapshot
	tally store.RunTally
}

// at returns a snapshot that is a few seconds old at the most. The caller's going away does not end the taking: others wait for it.
func (s *snapshots) at(ctx context.Context) *snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.options.Now()
	if age := now.Sub(s.lastTaken()); age >= 0 && age < freshFor {
		return s.last
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	s.last = take(ctx, s.options, &s.tally, now)
	return s.last
}

func (s *snapshots) lastTaken() time.Time {
	if s.last == nil {
		return time.Time{}
	}
	return s.last.taken
}

func take(ctx context.Context, o Options, tally *store.RunTally, now time.Time) *snapshot {
	s := &snapshot{taken: now}
	s.files, s.filesErr = sqlitefile.ReadFileState(o.Mirror) // before SQLite makes files of its own beside it
	if err := s.readMirror(ctx, o, tally); err != nil {
		*s = snapshot{taken: now, files: s.files, filesErr: s.filesErr, err: err}
	}
	s.outbox, s.outboxErr = outbox.ReadStats(ctx, o.Outbox)
	return s
}

func (s *snapshot) readMirror(ctx context.Context, o Options, tally *store.RunTally) error {
	mirror, err := store.OpenReadOnly(ctx, o.Mirror)
	if err != nil {
		return err
	}
	return errors.Join(s.readLedger(ctx, o, tally, mirror), mirror.Close())
}

func (s *snapshot) readLedger(ctx context.Context, o Options, tally *store.RunTally, mirror *store.Mirror) error {
	meta, err := mirror.Meta(ctx)
	if err != nil {
		return err
	}
	s.baseURL = meta.BaseURL
	if s.streams, err = mirror.Freshness(ctx); err != nil {
		return err
	}
	if s.runs, err = mirror.RunsSince(ctx, firstDay(s.taken, o.Zone)); err != nil {
		return err
	}
	s.entries = store.Entries(s.runs)
	if s.totals, err = tally.Totals(ctx, mirror); err != nil {
		return err
	}
	if s.windows, err = mirror.Windows(ctx); err != nil {
		return err
	}
	if s.marts, err = owntables.Failed(ctx, mirror.Reader()); err != nil {
		return err
	}
	s.drift, err = mirror.DriftList(ctx)
	return err
}

// firstDay is the midnight that the charts begin at.
func firstDay(now time.Time, zone *time.Location) time.Time {
	y, m, d := now.In(zone).Date()
	return time.Date(y, m, d-shownDays+1, 0, 0, 0, 0, zone)
}
