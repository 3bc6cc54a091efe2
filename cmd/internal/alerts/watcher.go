package alerts

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/rs/zerolog"
)

// Options are what a Watcher needs from around it.
type Options struct {
	Path      string                                  // of the state file; "": nothing is kept
	Addresses func(context.Context) ([]string, error) // to alert; asked at each sending
	Ping      func(context.Context) (string, error)   // address to ping, "" for none; asked at each ping
	Facts     func(job string) Facts                  // of a job
	Look      func(context.Context) Look              // At is not asked for
	Once      bool                                    // one command is watched, which ends; else a worker
	Tongue    Tongue
	Now       func() time.Time
	Log       zerolog.Logger
}

// Facts are what is known of a job.
type Facts struct {
	Every time.Duration // see [Run]
	Asks  bool
}

// Watcher tells what happens. Its methods return at once, but for Stop; those of a nil Watcher do
// nothing.
type Watcher struct {
	Options
	began  time.Time
	pings  *pinger
	open   atomic.Pointer[map[Cause]int]
	ended  sync.WaitGroup
	wake   chan struct{}
	quit   chan struct{}
	ctx    context.Context // of what is sent
	cancel context.CancelFunc

	// What follows is the goroutine's that watches.
	memory  *State // of the last update
	fileErr error  // of the last update
	waits   *backoff.ExponentialBackOff
	tryAt   time.Time // when to send again, after a failure; by the machine's clock
	looked  time.Time

	mu      sync.Mutex // guards what follows
	running map[string]bool
	runs    []Run
	drop    []string
}

const (
	lookEvery  = time.Minute
	startGrace = 15 * time.Minute // a process that has just started may find streams late that it is about to read
)

// firstWait is the time from a sending that failed to the next; those after it are longer and
// longer.
var firstWait = 2 * time.Second

// Start begins to watch.
func Start(o Options) *Watcher {
	w := &Watcher{Options: o, began: o.Now(), memory: &State{Format: stateFormat}, running: map[string]bool{}, wake: make(chan struct{}, 1), quit: make(chan struct{})}
	w.waits = backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(firstWait), backoff.WithMultiplier(2), backoff.WithMaxInterval(15*time.Minute), backoff.WithMaxElapsedTime(0))
	w.ctx, w.cancel = context.WithCancel(context.Background())
	w.pings = startPinger(o)
	w.ended.Go(w.watch)
	return w
}

// Off says that a job is not done any more.
func (w *Watcher) Off(job string) {
	if w != nil {
		w.note(func() { w.drop = append(w.drop, job) })
	}
}

// Began says that a job begins.
func (w *Watcher) Began(job string) {
	if w == nil {
		return
	}
	w.note(func() { w.running[job] = true })
	w.pings.add(ping{job: job, signal: "/start"})
}

// Ended says how something ended that began at a time. What was said to begin is a job, and pinged.
func (w *Watcher) Ended(job string, began time.Time, err error) {
	if w == nil {
		return
	}
	facts := w.Facts(job)
	r := Run{Job: job, Began: began, Ended: w.Now(), Every: facts.Every, Asks: facts.Asks, Err: err}
	isJob := false
	w.note(func() {
		isJob = w.running[job]
		delete(w.running, job)
		w.runs = append(w.runs, r)
	})
	switch {
	case isJob && err == nil:
		w.pings.add(ping{job: job})
	case isJob && CausesOf(err) != nil:
		w.pings.add(ping{job: job, signal: "/fail", body: line(err)})
	}
}

// Open counts the incidents that are open, by cause.
func (w *Watcher) Open() map[Cause]int {
	if w == nil || w.open.Load() == nil {
		return nil
	}
	return *w.open.Load()
}

// Stop ends the watcher. What can be sent within the time is sent; the rest is for the next
// process.
func (w *Watcher) Stop(within time.Duration) {
	if w == nil {
		return
	}
	timer := time.AfterFunc(within, w.cancel)
	close(w.quit)
	w.pings.end(within)
	w.ended.Wait()
	timer.Stop()
	w.cancel()
}

func (w *Watcher) note(what func()) {
	w.mu.Lock()
	what()
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// watch does everything but the pings.
func (w *Watcher) watch() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for quit := w.quit; ; {
		select {
		case <-w.wake:
		case <-timer.C:
		case <-w.ctx.Done():
		case <-quit:
			quit, w.tryAt = nil, time.Time{}
		}
		w.takeNote()
		if len(w.memory.Queue) > 0 && !time.Now().Before(w.tryAt) && w.ctx.Err() == nil {
			w.sendAll()
		}
		if quit == nil && (len(w.memory.Queue) == 0 || w.ctx.Err() != nil) {
			return
		}
		wait := lookEvery
		if len(w.memory.Queue) > 0 {
			wait = min(wait, max(time.Until(w.tryAt), 0))
		}
		timer.Reset(wait)
	}
}

// takeNote brings the state up to date.
func (w *Watcher) takeNote() {
	w.mu.Lock()
	runs, drop := w.runs, w.drop
	w.runs, w.drop = nil, nil
	w.mu.Unlock()
	now := w.Now()
	elapsed := now.Sub(w.looked)
	if due := !w.Once && (elapsed >= lookEvery || elapsed < 0); !due && len(runs) == 0 && len(drop) == 0 {
		return // woken to send
	}
	look := w.look(now)
	w.update(func(s *State) {
		for _, job := range drop {
			s.Drop(job)
		}
		var messages []Message
		for _, r := range runs {
			messages = append(messages, s.Run(r)...)
		}
		messages = append(messages, s.Look(look)...)
		for _, m := range messages {
			w.tryAt = time.Time{} // whatever became of those before it
			s.Last++
			title, text := m.Text(w.Tongue)
			s.Queue = append(s.Queue, Queued{Number: s.Last, At: m.At, Title: title, Text: text})
		}
	})
}

// look asks how everything stands.
func (w *Watcher) look(now time.Time) Look {
	ctx, cancel := context.WithTimeout(w.ctx, sendTime)
	defer cancel()
	look := w.Look(ctx)
	look.At, w.looked = now, now
	if !w.Once && now.Sub(w.began) < startGrace {
		look.Streams = nil
	}
	return look
}
