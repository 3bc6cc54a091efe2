// Package status reads what a mirror says of itself: up to when each stream is complete, how the
// platform answers, what ran last, and what was rejected or differs from the documentation.
package status

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"solarmirror/cmd/internal/words"
	"solarmirror/store"
)

// Status is what a mirror says of itself.
type Status struct {
	Path          string     `json:"path"`
	BaseURL       string     `json:"base_url"`
	SchemaVersion int        `json:"schema_version"`
	ErasureDue    *time.Time `json:"erasure_due_since"` // nil: the file holds no old copies of erased rows
	Dialect       *Dialect   `json:"dialect"`           // nil: not found yet
	Streams       []stream   `json:"streams"`
	Tables        []table    `json:"tables"`
	LastRuns      []run      `json:"last_runs"`
	Drift         []drift    `json:"drift"`
}

type stream struct {
	Stream          string     `json:"stream"`
	CompleteThrough *time.Time `json:"complete_through"` // nil: not yet
	AgeSeconds      *float64   `json:"age_seconds"`
	LastFullScanAt  *time.Time `json:"last_full_scan_at"`
	Rejected        int64      `json:"rejected"`
	Promise         string     `json:"promise,omitempty"` // what weakens the last clean passes
}

// age is AgeSeconds in words.
func (s *stream) age() string {
	return words.Age(time.Duration(*s.AgeSeconds * float64(time.Second)))
}

type table struct {
	Table   string `json:"table"`
	Live    int64  `json:"live"`
	Deleted int64  `json:"deleted"`
}

type run struct {
	RunID     int64      `json:"run_id"`
	Command   string     `json:"command"`
	StartedAt time.Time  `json:"started_at"`
	Finished  *time.Time `json:"finished_at"`
	Outcome   string     `json:"outcome"`
	Records   int64      `json:"records"`
	Inserted  int64      `json:"inserted"`
	Changed   int64      `json:"changed"`
	Rejected  int64      `json:"rejected"`
	Error     string     `json:"error,omitempty"`
}

type drift struct {
	Stream      string    `json:"stream"`
	Path        string    `json:"path"`
	Kind        string    `json:"kind"`
	Occurrences int64     `json:"occurrences"`
	FirstSeenAt time.Time `json:"first_seen_at"`
}

// shownRuns is how many of the last runs are shown.
const shownRuns = 5

// Read reads the status of a mirror; ages are as of now.
func Read(ctx context.Context, mirror *store.Mirror, now time.Time) (*Status, error) {
	meta, err := mirror.Meta(ctx)
	if err != nil {
		return nil, err
	}
	s := &Status{Path: mirror.Path(), BaseURL: meta.BaseURL, SchemaVersion: meta.SchemaVersion, ErasureDue: meta.ErasureDueSince, Dialect: DialectOf(meta)}
	for _, read := range []func(context.Context, *store.Mirror, time.Time) error{s.readStreams, s.readTables, s.readRuns, s.readDrift} {
		if err := read(ctx, mirror, now); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *Status) readStreams(ctx context.Context, mirror *store.Mirror, now time.Time) error {
	list, err := mirror.Freshness(ctx)
	for _, f := range list {
		at := stream{
			Stream: f.Stream.Name, CompleteThrough: words.Known(f.CompleteThrough), LastFullScanAt: words.Known(f.LastFullScanAt),
			Rejected: f.Rejects, Promise: f.Promise,
		}
		if at.CompleteThrough != nil {
			seconds := f.Age(now).Seconds()
			at.AgeSeconds = &seconds
		}
		s.Streams = append(s.Streams, at)
	}
	return err
}

func (s *Status) readTables(ctx context.Context, mirror *store.Mirror, _ time.Time) error {
	counts, err := mirror.RecordCounts(ctx)
	for _, c := range counts {
		s.Tables = append(s.Tables, table{Table: c.Table, Live: c.Live, Deleted: c.Deleted})
	}
	return err
}

func (s *Status) readRuns(ctx context.Context, mirror *store.Mirror, _ time.Time) error {
	runs, err := mirror.Runs(ctx, shownRuns)
	for _, r := range runs {
		s.LastRuns = append(s.LastRuns, run{
			RunID: r.ID, Command: r.Command, StartedAt: r.StartedAt, Finished: words.Known(r.FinishedAt), Outcome: string(r.Outcome),
			Records: r.Records, Inserted: r.Inserted, Changed: r.Changed, Rejected: r.Rejected, Error: r.Error,
		})
	}
	return err
}

// readDrift puts new fields first: they are what a newer schema may have a column for.
func (s *Status) readDrift(ctx context.Context, mirror *store.Mirror, _ time.Time) error {
	list, err := mirror.DriftList(ctx)
	for _, d := range list {
		s.Drift = append(s.Drift, drift{Stream: d.Stream, Path: d.Path, Kind: d.Kind, Occurrences: d.Occurrences, FirstSeenAt: d.FirstSeenAt})
	}
	slices.SortStableFunc(s.Drift, func(a, b drift) int { return cmp.Compare(a.rank(), b.rank()) })
	return err
}

func (d drift) rank() int {
	if d.isNewField() {
		return 0
	}
	return 1
}

func (d drift) isNewField() bool { return d.Kind == "unknown" }

// StaleError is a stream older than --max-age allows.
type StaleError struct {
	stream string
	why    string
	max    time.Duration
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("%s %s, and at most %s is allowed; run \"solarmirror sync\", or look at its last error above", e.stream, e.why, e.max)
}

// Stale returns a *StaleError for the first stream older than allowed; 0 allows any age.
func (s *Status) Stale(maxAge time.Duration) error {
	if maxAge == 0 {
		return nil
	}
	for _, at := range s.Streams {
		switch {
		case at.AgeSeconds == nil:
			return &StaleError{stream: at.Stream, why: "has never been read to its end", max: maxAge}
		case *at.AgeSeconds > maxAge.Seconds():
			return &StaleError{stream: at.Stream, why: "is " + at.age() + " old", max: maxAge}
		}
	}
	return nil
}

// FinishErasure is what to do about old copies of erased rows.
const FinishErasure = "end the programs that read the mirror, then: solarmirror sync"
