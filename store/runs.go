package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"solarmirror/store/sqlitefile"
)

// Outcome is how a run ended.
type Outcome string

// The outcomes. A run is running until FinishRun, or until the next StartRun finds that it never
// finished.
const (
	Running     Outcome = "running"
	OK          Outcome = "ok"
	Partial     Outcome = "partial" // some streams failed
	Failed      Outcome = "failed"
	Interrupted Outcome = "interrupted"
)

// Who starts runs.
const (
	TriggerManual   = "manual"
	TriggerSchedule = "schedule"
)

// Counts are what a run did, in pages and in records.
type Counts struct {
	Pages     int64 `db:"pages"`
	Records   int64 `db:"records"`
	Inserted  int64 `db:"inserted"`
	Changed   int64 `db:"changed"`
	Unchanged int64 `db:"unchanged"`
	Deleted   int64 `db:"deleted"`
	Rejected  int64 `db:"rejected"`
}

// Add adds other to c.
func (c *Counts) Add(other Counts) {
	c.Pages += other.Pages
	c.Records += other.Records
	c.Inserted += other.Inserted
	c.Changed += other.Changed
	c.Unchanged += other.Unchanged
	c.Deleted += other.Deleted
	c.Rejected += other.Rejected
}

// Run is one row of _runs.
type Run struct {
	ID         int64     `db:"run_id"`
	Command    string    `db:"command"`
	Trigger    string    `db:"trigger"` // TriggerManual or TriggerSchedule
	StartedAt  time.Time `db:"started_at"`
	FinishedAt time.Time `db:"-"` // zero while it runs
	Outcome    Outcome   `db:"outcome"`
	Counts
	Error   string `db:"error"`
	Streams string `db:"streams"` // JSON: the outcome of each stream that was read; "" when none was
}

// bookkeepingTime is how long FinishRun may wait for the database after its context has ended.
const bookkeepingTime = 15 * time.Second

// StartRun begins a run. The caller holds the lock, so whatever still counts as running was cut
// off; it is marked interrupted now.
func (m *Mirror) StartRun(ctx context.Context, command, trigger string) (*Run, error) {
	now := m.now()
	run := &Run{Command: command, Trigger: trigger, StartedAt: now.UTC(), Outcome: Running}
	err := m.Update(ctx, func(tx *Tx) error {
		cut, err := tx.Exec("mark runs that were cut off", `UPDATE _runs SET outcome = 'interrupted', finished_at = ?,
			error = 'it ended without a word; found by the next run' WHERE outcome = 'running'`, sqlitefile.FormatTime(now))
		if err != nil {
			return err
		}
		if cut > 0 {
			m.log.Warn().Int64("runs", cut).Msg("an earlier run was cut off; what it had committed is kept")
		}
		_, err = tx.Get("insert the run", &run.ID,
			"INSERT INTO _runs (command, trigger, started_at, outcome) VALUES (?, ?, ?, 'running') RETURNING run_id",
			command, trigger, sqlitefile.FormatTime(now))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("start a run of %s: %w", command, err)
	}
	return run, nil
}

// Ending is how a run ended.
type Ending struct {
	Outcome Outcome
	Streams map[string]Outcome // of each stream that was read: OK, Failed or Interrupted; nil when none was
	Counts
	Error string // "" when nothing went wrong; not kept of an interrupted run, of which it says only that a context was cancelled
}

// FinishRun records how the run ended, and with it how fresh the streams are. It works although ctx
// has ended, since that is how an interrupted run comes here.
func (m *Mirror) FinishRun(ctx context.Context, runID int64, end Ending) error {
	var streams any
	if end.Streams != nil {
		text, err := json.Marshal(end.Streams)
		if err != nil {
			return fmt.Errorf("finish run %d: %w", runID, err)
		}
		streams = string(text)
	}
	if end.Outcome == Interrupted {
		end.Error = ""
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), bookkeepingTime)
	defer cancel()
	err := m.Update(ctx, func(tx *Tx) error {
		touched, err := tx.Exec("update the run", `UPDATE _runs SET finished_at = ?, outcome = ?, pages = ?, records = ?, inserted = ?,
			changed = ?, unchanged = ?, deleted = ?, rejected = ?, error = ?, streams = ? WHERE run_id = ?`,
			sqlitefile.FormatTime(m.now()), string(end.Outcome), end.Pages, end.Records, end.Inserted,
			end.Changed, end.Unchanged, end.Deleted, end.Rejected, sqlitefile.NullableText(end.Error), streams, runID)
		if err != nil {
			return err
		}
		if touched != 1 {
			return tx.Fail("update the run", fmt.Errorf("there is no such run"))
		}
		return tx.writeFreshness()
	})
	if err != nil {
		return fmt.Errorf("finish run %d: %w", runID, err)
	}
	return nil
}

// runSQL reads runs.
const runSQL = `SELECT run_id, command, trigger, started_at, finished_at, outcome, pages, records, inserted,
	changed, unchanged, deleted, rejected, coalesce(error, '') AS error, coalesce(streams, '') AS streams FROM _runs`

// eachRun yields the runs, the newest first, or an error. It reads no more of the ledger than is
// asked for.
func (m *Mirror) eachRun(ctx context.Context) iter.Seq2[Run, error] {
	return m.runs(ctx, runSQL+" ORDER BY run_id DESC")
}

func (m *Mirror) runs(ctx context.Context, query string, args ...any) iter.Seq2[Run, error] {
	return func(yield func(Run, error) bool) {
		failed := func(err error) { yield(Run{}, fmt.Errorf("read _runs: %w", sqlitefile.Explain(m.path, err))) }
		rows, err := m.read.QueryxContext(ctx, query, args...)
		if err != nil {
			failed(err)
			return
		}
		defer rows.Close()
		for rows.Next() {
			var r struct {
				Run
				Finished sql.NullTime `db:"finished_at"`
			}
			if err := rows.StructScan(&r); err != nil {
				failed(err)
				return
			}
			r.FinishedAt = sqlitefile.FromNull(r.Finished)
			if !yield(r.Run, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			failed(err)
		}
	}
}

// Runs returns the latest runs, the newest first; all of them for a limit of 0.
func (m *Mirror) Runs(ctx context.Context, limit int) ([]Run, error) {
	var list []Run
	for r, err := range m.eachRun(ctx) {
		if err != nil {
			return nil, err
		}
		if list = append(list, r); len(list) == limit {
			break
		}
	}
	return list, nil
}

// Run returns one run; false when there is none of that number.
func (m *Mirror) Run(ctx context.Context, id int64) (run Run, found bool, err error) {
	for r, err := range m.runs(ctx, runSQL+" WHERE run_id = ?", id) {
		return r, err == nil, err
	}
	return Run{}, false, nil
}

// LastStarts returns when each command last started on schedule, of the runs that came to an end by
// themselves: one that was interrupted is still to be done.
func (m *Mirror) LastStarts(ctx context.Context) (map[string]time.Time, error) {
	var rows []struct{ Command, At string }
	err := m.read.SelectContext(ctx, &rows, `SELECT command, max(started_at) AS at FROM _runs
		WHERE trigger = ? AND outcome NOT IN ('running', 'interrupted') GROUP BY command`, TriggerSchedule)
	if err != nil {
		return nil, fmt.Errorf("read _runs: %w", sqlitefile.Explain(m.path, err))
	}
	starts := make(map[string]time.Time, len(rows))
	for _, r := range rows {
		if starts[r.Command], err = sqlitefile.ParseTime(r.At); err != nil {
			return nil, fmt.Errorf("read _runs: %w", err)
		}
	}
	return starts, nil
}

// RunsSince returns the runs that started at a time or later, the newest first. It stops at the
// first older one, so it costs no more as the ledger grows.
func (m *Mirror) RunsSince(ctx context.Context, since time.Time) ([]Run, error) {
	var list []Run
	for r, err := range m.eachRun(ctx) {
		if err != nil {
			return nil, err
		}
		if r.StartedAt.Before(since) {
			break
		}
		list = append(list, r)
	}
	return list, nil
}

// Entry is what one command did: a run, or all runs of a backfill, which makes one for each window
// and one for the end. Its ID is the newest run's, its times and counts are those of all.
type Entry struct {
	Run
	IDs []int64 // of its runs, the newest first
}

// backfill is the command whose runs are one entry.
const backfill = "backfill"

// betweenWindows is how long a backfill may take from one window to the next, beside what other
// runs take that get their turn there. The ledger does not say which runs one command made.
const betweenWindows = time.Minute

// lookBehind is how many other runs the ledger is searched through for an earlier run of a backfill.
const lookBehind = 100

// Entries makes entries of runs, the newest first.
func Entries(runs []Run) []Entry {
	var g entries
	for _, r := range runs {
		g.add(r)
	}
	return g.list
}

// Entries returns the latest entries, the newest first.
func (m *Mirror) Entries(ctx context.Context, limit int) ([]Entry, error) {
	var g entries
	for r, err := range m.eachRun(ctx) {
		if err != nil {
			return nil, err
		}
		if g.add(r); len(g.list) > limit && (!g.opened || g.open >= limit || len(g.between) > lookBehind) {
			break
		}
	}
	return g.list[:min(limit, len(g.list))], nil
}

// entries groups runs that are given the newest first.
type entries struct {
	list    []Entry
	open    int   // the place of the backfill that older runs may belong to
	opened  bool  // there is one
	between []Run // the runs given since its last one
}

func (g *entries) add(r Run) {
	if r.Command != backfill {
		g.between = append(g.between, r)
	} else if g.opened && r.leadsTo(g.list[g.open].StartedAt, g.between) {
		g.list[g.open].precede(r)
		g.between = nil
		return
	} else {
		g.open, g.opened, g.between = len(g.list), true, nil
	}
	g.list = append(g.list, Entry{Run: r, IDs: []int64{r.ID}})
}

// leadsTo says whether the time from the run's end to a start was taken by the runs between.
func (r *Run) leadsTo(start time.Time, between []Run) bool {
	end := r.FinishedAt
	if end.IsZero() {
		return false
	}
	for _, other := range slices.Backward(between) {
		if other.StartedAt.Sub(end) > betweenWindows {
			return false
		}
		if other.FinishedAt.After(end) {
			end = other.FinishedAt
		}
	}
	return start.Sub(end) <= betweenWindows
}

// precede adds an older run. What failed in it has failed in the whole, unless the whole was cut off.
func (e *Entry) precede(r Run) {
	e.IDs = append(e.IDs, r.ID)
	e.StartedAt = r.StartedAt
	e.Add(r.Counts)
	if e.Outcome == OK && r.Outcome == Partial {
		e.Outcome = Partial
	}
	if r.Outcome == Partial && !strings.Contains(e.Error, r.Error) {
		e.Error = strings.TrimPrefix(e.Error+"\n"+r.Error, "\n")
	}
}
