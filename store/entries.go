package store

import (
	"context"
	"slices"
	"strings"
	"time"
)

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
