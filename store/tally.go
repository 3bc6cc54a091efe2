package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"solarmirror/store/sqlitefile"
)

// RunTotal is what all runs of one command did that ended in one way.
type RunTotal struct {
	Command string  `db:"command"`
	Outcome Outcome `db:"outcome"`
	Runs    int64   `db:"runs"`
	Counts
	LastOnSchedule time.Time `db:"-"` // when the last of those on schedule ended; zero: none did
}

// RunTally adds up the runs of a mirror that have ended, by command and outcome. It remembers what it has added, since a run that has ended does not
// change: reading the whole ledger of some years takes a second. The zero RunTally is ready; one goroutine uses it at a time.
type RunTally struct {
	settled int64  // every run up to this one has ended and is in sums
	anchor  string // when that run started; another time there means another file
	sums    []RunTotal
}

// Totals brings the tally up to date and returns it, by command and outcome.
func (t *RunTally) Totals(ctx context.Context, m *Mirror) ([]RunTotal, error) {
	totals, err := t.update(ctx, m)
	if err != nil {
		return nil, fmt.Errorf("add up _runs: %w", sqlitefile.Explain(m.path, err))
	}
	slices.SortFunc(totals, func(a, b RunTotal) int {
		return cmp.Or(cmp.Compare(a.Command, b.Command), cmp.Compare(a.Outcome, b.Outcome))
	})
	return totals, nil
}

func (t *RunTally) update(ctx context.Context, m *Mirror) ([]RunTotal, error) {
	anchor, err := m.runAnchor(ctx, t.settled)
	if err != nil {
		return nil, err
	}
	if anchor != t.anchor {
		*t = RunTally{}
	}
	var last int64
	if err := m.read.GetContext(ctx, &last, `SELECT coalesce((SELECT min(run_id) - 1 FROM _runs WHERE run_id > ?1 AND outcome = 'running'),
		(SELECT max(run_id) FROM _runs), 0)`, t.settled); err != nil {
		return nil, err
	}
	added, err := m.addRuns(ctx, t.settled, last)
	if err != nil {
		return nil, err
	}
	if anchor, err = m.runAnchor(ctx, last); err != nil {
		return nil, err
	}
	t.sums, t.settled, t.anchor = addTotals(t.sums, added), last, anchor
	const noEnd = 1<<63 - 1
	rest, err := m.addRuns(ctx, last, noEnd)
	return addTotals(slices.Clone(t.sums), rest), err
}

// runAnchor is "" for run 0, which is none.
func (m *Mirror) runAnchor(ctx context.Context, id int64) (at string, err error) {
	err = m.read.GetContext(ctx, &at, "SELECT coalesce((SELECT +started_at FROM _runs WHERE run_id = ?), '')", id)
	return at, err
}

// addRuns adds up the runs after one and up to another that have ended.
func (m *Mirror) addRuns(ctx context.Context, after, upTo int64) (list []RunTotal, err error) {
	var rows []struct {
		RunTotal
		Last string `db:"last"`
	}
	err = m.read.SelectContext(ctx, &rows, `SELECT command, outcome, count(*) AS runs, sum(pages) AS pages, sum(records) AS records, sum(inserted) AS inserted,
		sum(changed) AS changed, sum(unchanged) AS unchanged, sum(deleted) AS deleted, sum(rejected) AS rejected,
		coalesce(max(CASE trigger WHEN ? THEN finished_at END), '') AS last
		FROM _runs WHERE run_id > ? AND run_id <= ? AND outcome <> 'running' GROUP BY command, outcome`, TriggerSchedule, after, upTo)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		if r.Last != "" {
			if r.LastOnSchedule, err = sqlitefile.ParseTime(r.Last); err != nil {
				return nil, err
			}
		}
		list = append(list, r.RunTotal)
	}
	return list, nil
}

func addTotals(to, more []RunTotal) []RunTotal {
	for _, one := range more {
		i := slices.IndexFunc(to, func(have RunTotal) bool { return have.Command == one.Command && have.Outcome == one.Outcome })
		if i < 0 {
			to = append(to, one)
			continue
		}
		to[i].Runs += one.Runs
		to[i].Add(one.Counts)
		if one.LastOnSchedule.After(to[i].LastOnSchedule) {
			to[i].LastOnSchedule = one.LastOnSchedule
		}
	}
	return to
}
