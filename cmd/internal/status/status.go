// Package status reads and prints the state of a mirror: per stream, the time up to which it is
// complete and its rejected records; the dialect of the platform; record counts per table; the last
// runs; the drift, the places where records differ from the platform's documentation; and the deal
// statuses whose meaning nobody has decided. The age of a stream is the time since the moment up to
// which it is complete.
package status

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"solarmirror/cmd/internal/words"
	"solarmirror/store"
	"solarmirror/store/dealclass"
	"solarmirror/store/owntables"
)

// Status is the state of a mirror.
type Status struct {
	Path          string     `json:"path"`
	BaseURL       string     `json:"base_url"`
	SchemaVersion int        `json:"schema_version"`
	ErasureDue    *time.Time `json:"erasure_due_since"` // nil: no erasure is pending
	Dialect       *Dialect   `json:"dialect"`           // nil: before the first sync
	Streams       []stream   `json:"streams"`
	Tables        []table    `json:"tables"`
	LastRuns      []Run      `json:"last_runs"`
	Drift         []drift    `json:"drift"`
	Undecided     Undecided  `json:"undecided_statuses"`
	MartsBehind   bool       `json:"marts_behind"`
	FailedMarts   []string   `json:"failed_own_marts"`
}

type stream struct {
	Stream          string     `json:"stream"`
	CompleteThrough *time.Time `json:"complete_through"` // nil: never complete
	AgeSeconds      *float64   `json:"age_seconds"`
	LastFullScanAt  *time.Time `json:"last_full_scan_at"`
	Rejected        int64      `json:"rejected"`
	Promise         string     `json:"promise,omitempty"` // a caveat on the last clean passes
}

// age formats AgeSeconds, which must not be nil.
func (s *stream) age() string {
	return words.Age(time.Duration(*s.AgeSeconds * float64(time.Second)))
}

type table struct {
	Table   string `json:"table"`
	Live    int64  `json:"live"`
	Deleted int64  `json:"deleted"`
}

type drift struct {
	Stream      string    `json:"stream"`
	Path        string    `json:"path"`
	Kind        string    `json:"kind"`
	Occurrences int64     `json:"occurrences"`
	FirstSeenAt time.Time `json:"first_seen_at"`
}

const shownRuns = 5 // the last ones; a backfill is one

// Read reads the status of a mirror. Ages are relative to now; lists are the configured ones.
func Read(ctx context.Context, mirror *store.Mirror, lists dealclass.Lists, now time.Time) (*Status, error) {
	meta, err := mirror.Meta(ctx)
	if err != nil {
		return nil, err
	}
	s := &Status{Path: mirror.Path(), BaseURL: meta.BaseURL, SchemaVersion: meta.SchemaVersion, ErasureDue: meta.ErasureDueSince, Dialect: DialectOf(meta)}
	err = cmp.Or(s.readStreams(ctx, mirror, now), s.readTables(ctx, mirror), s.readRuns(ctx, mirror), s.readDrift(ctx, mirror))
	if err != nil {
		return nil, err
	}
	if s.Undecided, err = ReadUndecided(ctx, mirror, lists); err != nil {
		return nil, err
	}
	if s.FailedMarts, err = owntables.Failed(ctx, mirror.Reader()); err != nil {
		return nil, err
	}
	s.MartsBehind, err = mirror.MartsBehind(ctx)
	return s, err
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

func (s *Status) readTables(ctx context.Context, mirror *store.Mirror) error {
	counts, err := mirror.RecordCounts(ctx)
	for _, c := range counts {
		s.Tables = append(s.Tables, table{Table: c.Table, Live: c.Live, Deleted: c.Deleted})
	}
	return err
}

func (s *Status) readRuns(ctx context.Context, mirror *store.Mirror) error {
	entries, err := mirror.Entries(ctx, shownRuns)
	if err != nil {
		return err
	}
	windows, err := mirror.Windows(ctx)
	for _, e := range entries {
		s.LastRuns = append(s.LastRuns, newRun(e, windows))
	}
	return err
}

// readDrift puts new fields first, because a newer schema may have columns for them.
func (s *Status) readDrift(ctx context.Context, mirror *store.Mirror) error {
	list, err := mirror.DriftList(ctx)
	var others []drift
	for _, d := range list {
		at := drift{Stream: d.Stream, Path: d.Path, Kind: d.Kind, Occurrences: d.Occurrences, FirstSeenAt: d.FirstSeenAt}
		if at.isNewField() {
			s.Drift = append(s.Drift, at)
		} else {
			others = append(others, at)
		}
	}
	s.Drift = append(s.Drift, others...)
	return err
}

func (d drift) isNewField() bool { return d.Kind == "unknown" }

// StaleError reports a stream that is older than --max-age.
type StaleError struct {
	stream string
	why    string
	max    time.Duration
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("%s %s, and at most %s is allowed; run \"solarmirror sync\", or look at its last error above", e.stream, e.why, e.max)
}

// Stale returns a *StaleError for the first stream older than maxAge; a maxAge of 0 allows any age.
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

// MartsBehind says what it means when the last update of the marts did not end.
const MartsBehind = "the last update of the marts did not end, so tables bi_* may contradict one another; the next sync brings them up to date"

// FailedMarts says what it means when builds of own marts failed.
func FailedMarts(names []string) string {
	return "own marts whose last build failed, so they keep older rows: " + strings.Join(names, ", ")
}

// FinishErasure is the remedy of a pending erasure.
const FinishErasure = "end the programs that read the mirror, then: solarmirror sync"
