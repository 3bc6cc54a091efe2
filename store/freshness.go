package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"solarmirror/schema"
	"solarmirror/store/sqlitefile"
)

// Freshness is how far the mirror can be trusted about one stream. It is computed here alone:
// bi_freshness, the status command, the status page, the report and the doctor all show this.
type Freshness struct {
	Stream          *schema.Stream
	CompleteThrough time.Time // the mirror holds everything up to here, by the earliest of the passes; zero: not yet
	LastFullScanAt  time.Time // when everything was last read, likewise; zero: never
	Loaded          float64   // percent of a first load under way; NaN when it is over, or the platform does not count
	LastRunAt       time.Time // when the last run that read the stream ended; zero: none did
	LastOutcome     Outcome   // of the stream in that run; "" without one
	LastSuccessAt   time.Time // when the last run ended in which the stream was read without a fault; zero: none did
	Rejects         int64     // records that wait to be replayed
	Promise         string    // what weakens the last clean passes; "" when nothing does
}

// Age is how old the stream is at a moment. It means nothing before the first complete load.
func (f *Freshness) Age(now time.Time) time.Duration { return now.Sub(f.CompleteThrough) }

// Freshness returns the freshness of each stream, in the order of schema.Streams.
func (m *Mirror) Freshness(ctx context.Context) ([]Freshness, error) {
	snapshot, err := m.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	list, err := snapshot.Freshness(ctx)
	return list, errors.Join(err, snapshot.Close())
}

// Freshness is that of [Mirror.Freshness] in the snapshot.
func (s *Snapshot) Freshness(ctx context.Context) ([]Freshness, error) {
	list, err := freshness(ctx, s.conn)
	if err != nil {
		return nil, fmt.Errorf("read how fresh the streams are: %w", sqlitefile.Explain(s.path, err))
	}
	return list, nil
}

func freshness(ctx context.Context, q sqlitefile.Querier) ([]Freshness, error) {
	marks, err := readWatermarks(ctx, q, watermarkSQL+" ORDER BY stream, pass")
	if err != nil {
		return nil, err
	}
	var list []Freshness
	for _, s := range schema.Streams {
		f := Freshness{Stream: s}
		f.readMarks(marks)
		for _, read := range []func(context.Context, sqlitefile.Querier) error{f.readLoad, f.readLastRun, f.readRejects} {
			if err := read(ctx, q); err != nil {
				return nil, fmt.Errorf("%s: %w", s.Name, err)
			}
		}
		list = append(list, f)
	}
	return list, nil
}

// readMarks takes a stream to be as old as the older of its passes.
func (f *Freshness) readMarks(marks []Watermark) {
	var promises []string
	for i, pass := range f.Stream.Passes {
		var mark Watermark
		for _, w := range marks {
			if w.Stream == f.Stream.Name && w.Pass == pass {
				mark = w
			}
		}
		if i == 0 || mark.CompleteThrough.Before(f.CompleteThrough) {
			f.CompleteThrough = mark.CompleteThrough
		}
		if i == 0 || mark.LastFullScanAt.Before(f.LastFullScanAt) {
			f.LastFullScanAt = mark.LastFullScanAt
		}
		if mark.Promise != "" {
			promises = append(promises, pass+": "+mark.Promise)
		}
	}
	f.Promise = strings.Join(promises, "; ")
}

// readLoad reads which share is done of what the platform says there is, over the passes begun so
// far.
func (f *Freshness) readLoad(ctx context.Context, q sqlitefile.Querier) error {
	f.Loaded = math.NaN()
	if !f.CompleteThrough.IsZero() {
		return nil
	}
	var done sql.NullFloat64
	err := q.GetContext(ctx, &done, `SELECT CASE WHEN count(*) = count(expected) THEN
		round(100.0 * sum(CASE state WHEN 'complete' THEN expected ELSE min(records, expected) END) / nullif(sum(expected), 0), 1) END
		FROM _windows WHERE stream = ? AND from_date IS NULL AND to_date IS NULL`, f.Stream.Name)
	if done.Valid {
		f.Loaded = done.Float64
	}
	return err
}

func (f *Freshness) readLastRun(ctx context.Context, q sqlitefile.Querier) error {
	last := func(condition string) (outcome Outcome, at time.Time, err error) {
		var run struct {
			Outcome  Outcome      `db:"outcome"`
			Finished sql.NullTime `db:"finished_at"`
		}
		err = q.GetContext(ctx, &run, `SELECT json_extract(streams, '$.' || ?1) AS outcome, finished_at FROM _runs
			WHERE json_extract(streams, '$.' || ?1) `+condition+` ORDER BY run_id DESC LIMIT 1`, f.Stream.Name)
		if errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
		return run.Outcome, sqlitefile.FromNull(run.Finished), err
	}
	var err error
	if f.LastOutcome, f.LastRunAt, err = last("IS NOT NULL"); err != nil || f.LastOutcome == "" {
		return err
	}
	_, f.LastSuccessAt, err = last("= 'ok'")
	return err
}

func (f *Freshness) readRejects(ctx context.Context, q sqlitefile.Querier) error {
	return q.GetContext(ctx, &f.Rejects, "SELECT count(*) FROM _rejects WHERE stream = ? AND replayed_at IS NULL", f.Stream.Name)
}

// writeFreshness writes bi_freshness anew. It is about runs, not records, and so goes with the
// ledger's transactions and not with the other marts.
func (tx *Tx) writeFreshness() error {
	const doing = "write bi_freshness"
	if err := tx.usable(); err != nil {
		return tx.Fail(doing, err)
	}
	list, err := freshness(context.Background(), tx.m.conn)
	if err != nil {
		return tx.Fail(doing, err)
	}
	now := tx.m.now()
	for _, f := range list {
		var age, loaded any
		if !f.CompleteThrough.IsZero() {
			age = math.Round(f.Age(now).Hours()*1000) / 1000
		}
		if !math.IsNaN(f.Loaded) {
			loaded = f.Loaded
		}
		if _, err := tx.Exec(doing, `INSERT OR REPLACE INTO bi_freshness (stream, complete_through, last_full_scan_at, age_hours,
			initial_load_percent, last_run_at, last_outcome, rejects, as_of) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			f.Stream.Name, sqlitefile.NullableTime(f.CompleteThrough), sqlitefile.NullableTime(f.LastFullScanAt), age,
			loaded, sqlitefile.NullableTime(f.LastRunAt), sqlitefile.NullableText(string(f.LastOutcome)), f.Rejects, sqlitefile.FormatTime(now)); err != nil {
			return err
		}
	}
	return nil
}
