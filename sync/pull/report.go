package pull

import (
	"context"
	"errors"
	"slices"
	"time"

	"solarmirror/store"
	"solarmirror/sync/platform"
)

// Report is what a run did.
type Report struct {
	RunID   int64
	DryRun  bool // nothing was written
	Outcome store.Outcome
	Streams []StreamReport
}

// StreamReport is what a run did with one stream.
type StreamReport struct {
	Stream   string
	Counts   store.Counts
	Requests int64 // HTTP requests, retries included
	Duration time.Duration
	Full     bool         // everything was asked for, not only updates
	Err      error        // nil when every pass ended cleanly and the watermarks moved
	Repairs  []Difference // edited records that were written anew, and deleted orphans
}

// Total adds up what all streams did.
func (r *Report) Total() store.Counts {
	var sum store.Counts
	for _, s := range r.Streams {
		sum.Add(s.Counts)
	}
	return sum
}

// Outcome is what became of the stream. One that was stopped has not failed.
func (s *StreamReport) Outcome() store.Outcome {
	switch {
	case s.Err == nil:
		return store.OK
	case errors.Is(s.Err, context.Canceled):
		return store.Interrupted
	}
	return store.Failed
}

// outcomes is what became of each stream that was read: not of one that was stopped before it was.
func (r *Report) outcomes() map[string]store.Outcome {
	all := map[string]store.Outcome{}
	for _, s := range r.Streams {
		if outcome := s.Outcome(); outcome != store.Interrupted || s.Counts.Pages > 0 {
			all[s.Stream] = outcome
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// Merge adds another run's work to the report, stream by stream; the worse outcome stands.
func (r *Report) Merge(other *Report) {
	if other.Outcome != store.OK {
		r.Outcome = other.Outcome
	}
	r.RunID = other.RunID
	for _, s := range other.Streams {
		i := slices.IndexFunc(r.Streams, func(have StreamReport) bool { return have.Stream == s.Stream })
		if i < 0 {
			r.Streams = append(r.Streams, s)
			continue
		}
		have := &r.Streams[i]
		have.Counts.Add(s.Counts)
		have.Requests += s.Requests
		have.Duration += s.Duration
		have.Err = errors.Join(have.Err, s.Err)
	}
}

// Progress is where a pass stands after a commit.
type Progress struct {
	Stream   string
	Pass     string
	Records  int64 // read in this pass so far
	Total    int64 // what the platform says the pass holds; -1 when it does not say
	Counts   store.Counts
	Finished bool // the pass has ended cleanly
}

func (p *Progress) add(page *platform.Page, counts store.Counts) {
	p.Counts.Add(counts)
	p.Records += counts.Records
	if page.HasTotal {
		p.Total = int64(page.Total)
	}
}

func (e *Engine) show(p Progress) {
	if e.Progress == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.Progress(p)
}

// PartialError is a run in which some streams failed and others succeeded.
type PartialError struct{ Err error }

func (e *PartialError) Error() string { return e.Err.Error() }
func (e *PartialError) Unwrap() error { return e.Err }
