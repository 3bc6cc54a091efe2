package schedule

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// Job is something to be done again and again.
type Job struct {
	Name string
	Spec Spec
	Line string // jobs of one line take turns
	// Last is when the job last started, in an earlier process; a firing missed since happens at
	// start. Zero is never, which makes the job due at start. It means nothing for a job that is
	// off.
	Last time.Time
	// Run does it, and returns soon after ctx ends. The outcome and the error are for Status.
	Run func(ctx context.Context) (Outcome, error)
}

// Outcome is how a run of a job ended.
type Outcome string

// The outcomes.
const (
	OK          Outcome = "ok"
	Partial     Outcome = "partial"     // some of it failed
	Failed      Outcome = "failed"      //
	Skipped     Outcome = "skipped"     // something else had what the job needs; nothing was done
	Interrupted Outcome = "interrupted" // the worker was stopped meanwhile
	Panicked    Outcome = "panicked"    // a defect of the program
)

// Outcomes returns every outcome.
func Outcomes() []Outcome { return []Outcome{OK, Partial, Failed, Skipped, Interrupted, Panicked} }

// Ended counts the runs of a job that ended in one way, in this process.
type Ended struct {
	Runs int64
	Last time.Time // when the last of them ended
}

// Status is how a job stands.
type Status struct {
	Name        string
	Spec        string    // "": off
	Next        time.Time // zero: off
	Running     bool
	Waiting     bool      // due, behind another job of its line
	LastStart   time.Time // of this process, or else Job.Last; zero: never
	LastOutcome Outcome   // of the last run that ended in this process; "" before
	LastError   string    // of that run; "" when there was none
	LastTook    time.Duration
	Skips       int64 // firings while the job was still running or waiting
	Ended       map[Outcome]Ended
}

// Options are what a Worker needs from around it.
type Options struct {
	Zone  *time.Location // in which specs are read
	Clock Clock
	Log   zerolog.Logger
}

// Worker runs jobs. Run is called once; Status may be called at any time.
type Worker struct {
	Options
	wait sync.WaitGroup // for the jobs that run

	mu       sync.Mutex // guards what follows
	jobs     []*entry
	lines    map[string]*line
	stopping bool
	looked   time.Time // when the loop last looked at the clock
}

// entry is a job with its state.
type entry struct {
	job Job
	Status
}

// line is what jobs take turns at.
type line struct {
	busy    bool
	waiting []*entry
}

// New returns a worker for jobs, whose names differ.
func New(jobs []Job, o Options) *Worker {
	w := &Worker{Options: o, lines: map[string]*line{}}
	for _, j := range jobs {
		e := &entry{job: j, Status: Status{Name: j.Name, Spec: j.Spec.String(), LastStart: j.Last, Ended: map[Outcome]Ended{}}}
		e.Next = w.next(e, w.now())
		w.jobs = append(w.jobs, e)
		if w.lines[j.Line] == nil {
			w.lines[j.Line] = &line{}
		}
	}
	return w
}

func (w *Worker) now() time.Time { return w.Clock.Now().In(w.Zone) }

// next is zero for a job that is off.
func (w *Worker) next(e *entry, after time.Time) time.Time { return e.job.Spec.Next(after) }

// Status returns how every job stands, in the order in which they were given.
func (w *Worker) Status() []Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := make([]Status, len(w.jobs))
	for i, e := range w.jobs {
		list[i] = e.Status
		list[i].Ended = maps.Clone(e.Ended)
	}
	return list
}

// lookEvery is how long the loop sleeps at the most, so that it notices a clock that was set and a
// machine that was suspended.
const lookEvery = time.Minute

// Run runs the jobs until ctx ends, and returns when the last of them has returned.
func (w *Worker) Run(ctx context.Context) {
	w.begin(ctx)
	for w.Clock.Sleep(ctx, w.untilNext()) == nil {
		w.fireDue(ctx)
	}
	w.mu.Lock()
	w.stopping = true
	w.mu.Unlock()
	w.wait.Wait()
}

// begin says what is planned, and makes up for what was missed.
func (w *Worker) begin(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looked = w.now()
	for _, e := range w.jobs {
		if e.Next.IsZero() {
			w.Log.Info().Str("job", e.Name).Msg("job is off")
			continue
		}
		w.Log.Info().Str("job", e.Name).Str("spec", e.Spec).Time("next", e.Next).Msg("job is scheduled")
		if e.job.Last.IsZero() || !w.next(e, e.job.Last.In(w.Zone)).After(w.looked) {
			w.Log.Info().Str("job", e.Name).Msg("job is due at start")
			w.join(ctx, e)
		}
	}
}

// untilNext is how long the loop may sleep.
func (w *Worker) untilNext() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	now, wait := w.now(), lookEvery
	for _, e := range w.jobs {
		if !e.Next.IsZero() {
			wait = min(wait, e.Next.Sub(now))
		}
	}
	return max(wait, 0)
}

// fireDue makes every job whose time has come join its line.
func (w *Worker) fireDue(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	setBack := w.looked.Sub(now) > lookEvery // by less than that, jobs would only run twice
	w.looked = now
	for _, e := range w.jobs {
		switch {
		case e.Next.IsZero():
		case setBack: // else the job would wait until the clock is again where it was
			e.Next = w.next(e, now)
		case !e.Next.After(now):
			e.Next = w.next(e, now)
			w.join(ctx, e)
		}
	}
}

// join puts a job at the end of its line, unless it is in it.
func (w *Worker) join(ctx context.Context, e *entry) {
	if e.Running || e.Waiting {
		e.Skips++
		before := "it has ended"
		if e.Waiting {
			before = "its turn has come"
		}
		w.Log.Info().Str("job", e.Name).Msgf("job is due again before %s; this firing is skipped", before)
		return
	}
	l := w.lines[e.job.Line]
	e.Waiting = true
	l.waiting = append(l.waiting, e)
	w.serve(ctx, l)
}

// serve starts the first of a line that is free.
func (w *Worker) serve(ctx context.Context, l *line) {
	if l.busy || len(l.waiting) == 0 || w.stopping || ctx.Err() != nil {
		return
	}
	e := l.waiting[0]
	l.waiting = l.waiting[1:]
	l.busy = true
	e.Waiting, e.Running = false, true
	e.LastStart = w.now()
	w.wait.Go(func() {
		result := &result{outcome: Panicked, err: errGoexit}
		defer w.ended(ctx, l, e, result)
		defer result.recover(w.Log.With().Str("job", e.Name).Logger())
		result.outcome, result.err = e.job.Run(ctx)
	})
}

// result is what came of a run.
type result struct {
	outcome Outcome
	err     error
}

var errGoexit = errors.New("the job ended its goroutine")

// recover takes a panic for the run's result.
func (r *result) recover(log zerolog.Logger) {
	if cause := recover(); cause != nil {
		r.outcome, r.err = Panicked, fmt.Errorf("panic: %v", cause)
		log.Error().Err(r.err).Bytes("stack", debug.Stack()).Msg("job panicked; it is a defect of the program, and the job runs again at its next time")
	}
}

// ended frees the line for the next.
func (w *Worker) ended(ctx context.Context, l *line, e *entry, r *result) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e.Running, l.busy = false, false
	now := w.now()
	e.LastOutcome, e.LastError, e.LastTook = r.outcome, "", now.Sub(e.LastStart)
	e.Ended[r.outcome] = Ended{Runs: e.Ended[r.outcome].Runs + 1, Last: now}
	if r.err != nil {
		e.LastError = r.err.Error()
	}
	w.serve(ctx, l)
}
