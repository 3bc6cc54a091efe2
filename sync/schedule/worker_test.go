package schedule

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"
	"pgregory.net/rapid"
)

// The tests run in bubbles of testing/synctest: the machine's clock is simulated, weeks pass in no
// time, and a goroutine left behind fails the test. A bubble's clock starts at midnight UTC of
// 2000-01-01, a Saturday.

// tracked is a job of a given length that keeps account of its runs.
type tracked struct {
	Job
	length time.Duration
	starts []time.Time
	busy   *atomic.Int32 // of its line
}

func track(name, spec, line string, length time.Duration) *tracked {
	j := &tracked{Job: Job{Name: name, Spec: mustSpec(spec), Line: line, Last: time.Now()}, length: length, busy: &atomic.Int32{}}
	j.Run = func(ctx context.Context) (Outcome, error) {
		if j.busy.Add(1) != 1 {
			panic("two jobs of a line at the same time")
		}
		defer j.busy.Add(-1)
		j.starts = append(j.starts, time.Now().UTC())
		if err := (SystemClock{}).Sleep(ctx, j.length); err != nil {
			return Interrupted, err
		}
		return OK, nil
	}
	return j
}

// work runs jobs for a while, and returns how they stand after it.
func work(t *testing.T, d time.Duration, log zerolog.Logger, jobs ...*tracked) []Status {
	t.Helper()
	var list []Job
	for _, j := range jobs {
		list = append(list, j.Job)
	}
	w := New(list, Options{Zone: time.UTC, Clock: SystemClock{}, Log: log})
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	w.Run(ctx)
	return w.Status()
}

func TestWeek(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		quick, long, off := track("quick", "*/15 * * * *", "a", time.Minute), track("long", "0 3 * * 0", "a", 100*time.Minute), track("off", "", "a", 0)
		other := track("other", "* * * * *", "b", 3*time.Minute)
		long.busy, off.busy = quick.busy, quick.busy
		began := time.Now()
		status := work(t, 7*24*time.Hour+time.Second, zerolog.Nop(), quick, long, off, other)

		// The long one runs from 3:01 to 4:41 on Sunday: of six firings of the quick one meanwhile
		// the first waits, five are skipped.
		if want := []time.Time{began.Add(27*time.Hour + time.Minute)}; !cmp.Equal(long.starts, want) {
			t.Errorf("the long one started %v, want %v", long.starts, want)
		}
		if len(quick.starts) != 7*96-5 || status[0].Skips != 5 {
			t.Errorf("the quick one ran %d times and skipped %d, want %d and 5", len(quick.starts), status[0].Skips, 7*96-5)
		}
		if !quick.starts[108].Equal(began.Add(28*time.Hour + 41*time.Minute)) {
			t.Errorf("after the long one the quick one ran at %v", quick.starts[108])
		}
		// A run of three minutes ends with the firing of the fourth, which is skipped or not by
		// chance of the scheduler.
		if ran := len(other.starts); ran < 7*24*15-1 || ran > 7*24*20+1 {
			t.Errorf("the other one ran %d times", ran)
		}
		if len(off.starts) > 0 || !status[2].Next.IsZero() || status[2].Spec != "" {
			t.Errorf("the job that is off: %d runs, %+v", len(off.starts), status[2])
		}
		if want := began.Add(7*24*time.Hour + 15*time.Minute); !status[0].Next.Equal(want) {
			t.Errorf("next %v, want %v", status[0].Next, want)
		}
	})
}

// Whatever the specs and the lengths: jobs of a line take turns, and every firing starts a run,
// waits, or is counted as skipped.
func TestEveryFiringIsAccountedFor(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		synctest.Test(t, func(t *testing.T) {
			jobs := drawJobs(rt)
			const span = 50*time.Hour + 30*time.Second
			began := time.Now()
			for i, s := range work(t, span, zerolog.Nop(), jobs...) {
				firings := int64(0)
				for at := s.next(began); at.Before(began.Add(span)); at = s.next(at) {
					firings++
				}
				waiting := int64(0)
				if s.Waiting {
					waiting = 1
				}
				if ran := int64(len(jobs[i].starts)); ran+waiting+s.Skips != firings || s.Ended[Panicked].Runs > 0 {
					rt.Errorf("%s %q: %d firings, but %d runs, %d waiting, %d skipped, %d panics", s.Name, s.Spec, firings, ran, waiting, s.Skips, s.Ended[Panicked].Runs)
				}
			}
		})
	})
}

func (s Status) next(after time.Time) time.Time { return mustSpec(s.Spec).Next(after.UTC()) }

func drawJobs(rt *rapid.T) []*tracked {
	var jobs []*tracked
	lines := map[string]*atomic.Int32{}
	for i := range rapid.IntRange(1, 5).Draw(rt, "jobs") {
		// Not by the minute, or else a run might end at the very moment of a firing.
		length := time.Duration(rapid.IntRange(0, 200).Draw(rt, "minutes"))*time.Minute + 17*time.Second
		spec := rapid.SampledFrom([]string{"* * * * *", "*/15 * * * *", "0 * * * *", "10 * * * *", "0 3 * * *", "30 2-5 * * 0"}).Draw(rt, "spec")
		line := rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "line")
		j := track(string(rune('A'+i)), spec, line, length)
		if lines[line] == nil {
			lines[line] = j.busy
		}
		j.busy = lines[line]
		jobs = append(jobs, j)
	}
	return jobs
}

func TestPanicIsARunThatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		panics, leaves, follows := track("panics", "0 * * * *", "a", 0), track("leaves", "0 * * * *", "a", 0), track("follows", "0 * * * *", "a", 0)
		panics.Run = func(context.Context) (Outcome, error) { panic("boom") }
		leaves.Run = func(context.Context) (Outcome, error) { runtime.Goexit(); return OK, nil }
		var log bytes.Buffer
		status := work(t, 5*time.Hour+time.Minute, zerolog.New(&log), panics, leaves, follows)
		if s := status[0]; s.Ended[Panicked].Runs != 5 || s.LastOutcome != Panicked || s.LastError != "panic: boom" || s.Running {
			t.Errorf("the one that panics: %+v", s)
		}
		if s := status[1]; s.Ended[Panicked].Runs != 5 || s.LastOutcome != Panicked || s.Running {
			t.Errorf("the one that ends its goroutine: %+v", s)
		}
		if len(follows.starts) != 5 {
			t.Errorf("the job behind them ran %d times, want 5", len(follows.starts))
		}
		if !strings.Contains(log.String(), "worker_test.go") {
			t.Errorf("the log does not say where it panicked:\n%s", log.String())
		}
	})
}

func TestOutcomeIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := track("fails", "0 * * * *", "a", 0)
		runs := 0
		fails.Run = func(ctx context.Context) (Outcome, error) {
			if runs++; runs == 3 {
				return OK, SystemClock{}.Sleep(ctx, 90*time.Second)
			}
			return Partial, errors.New("orders: 502")
		}
		if s := work(t, 2*time.Hour+time.Minute, zerolog.Nop(), fails)[0]; s.LastOutcome != Partial || s.LastError != "orders: 502" ||
			!cmp.Equal(s.Ended, map[Outcome]Ended{Partial: {Runs: 2, Last: s.LastStart}}) {
			t.Errorf("after a failure: %+v", s)
		}
		if s := work(t, 45*time.Minute, zerolog.Nop(), fails)[0]; s.LastOutcome != OK || s.LastError != "" || s.LastTook != 90*time.Second ||
			!cmp.Equal(s.Ended, map[Outcome]Ended{OK: {Runs: 1, Last: s.LastStart.Add(s.LastTook)}}) {
			t.Errorf("after a success: %+v", s)
		}
	})
}

func TestStopDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stubborn, waits := track("stubborn", "0 1 * * *", "a", 0), track("waits", "0 1 * * *", "a", 0)
		stubborn.Run = func(ctx context.Context) (Outcome, error) {
			<-ctx.Done()
			time.Sleep(4 * time.Second) // its page
			return Interrupted, ctx.Err()
		}
		began := time.Now()
		status := work(t, 2*time.Hour, zerolog.Nop(), stubborn, waits)
		if took := time.Since(began); took != 2*time.Hour+4*time.Second {
			t.Errorf("Run returned after %v; the job ended 4 s after the context", took)
		}
		if len(waits.starts) > 0 || status[0].LastOutcome != Interrupted || status[0].LastTook != time.Hour+4*time.Second {
			t.Errorf("%d runs of the waiting job; %+v", len(waits.starts), status[0])
		}
	})
}

func TestMissedRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(40*time.Hour + 5*time.Minute) // Sunday, 16:05
		now := time.Now()
		for name, c := range map[string]struct {
			spec string
			last time.Time
			runs int
		}{
			"never ran":                        {"0 * * * *", time.Time{}, 1},
			"ran at its last time":             {"0 * * * *", now.Add(-5 * time.Minute), 0},
			"missed one":                       {"0 * * * *", now.Add(-65 * time.Minute), 1},
			"missed many":                      {"* * * * *", now.Add(-30 * time.Hour), 1},
			"weekly, missed":                   {"0 3 * * 0", now.Add(-7 * 24 * time.Hour), 1},
			"weekly, not yet":                  {"0 17 * * 0", now.Add(-6 * 24 * time.Hour), 0},
			"off":                              {"", now.Add(-7 * 24 * time.Hour), 0},
			"off, never ran":                   {"", time.Time{}, 0},
			"ran in what the clock now thinks": {"0 * * * *", now.Add(time.Hour), 0},
		} {
			j := track("job", c.spec, "a", 0)
			j.Last = c.last
			status := work(t, time.Second, zerolog.Nop(), j)
			if len(j.starts) != c.runs {
				t.Errorf("%s: %d runs at start, want %d", name, len(j.starts), c.runs)
			}
			if c.runs == 0 && !status[0].LastStart.Equal(c.last) {
				t.Errorf("%s: last start %v, want %v", name, status[0].LastStart, c.last)
			}
		}
	})
}

// shifted is the machine's clock, set wrong by an offset.
type shifted struct {
	SystemClock
	offset atomic.Int64
}

func (c *shifted) Now() time.Time { return c.SystemClock.Now().Add(time.Duration(c.offset.Load())) }

func TestClockIsSet(t *testing.T) {
	for name, c := range map[string]struct {
		offset time.Duration
		want   []time.Duration // starts, by the time that really passed
	}{
		"right":               {0, []time.Duration{time.Hour, 2 * time.Hour, 3 * time.Hour}},
		"a day on":            {24 * time.Hour, []time.Duration{time.Hour, 91 * time.Minute, 2 * time.Hour, 3 * time.Hour}},
		"a year back":         {-365 * 24 * time.Hour, []time.Duration{time.Hour, 2 * time.Hour, 3 * time.Hour}},
		"back by a second":    {-time.Second, []time.Duration{time.Hour, 2*time.Hour + time.Second, 3*time.Hour + time.Second}},
		"back by ten minutes": {-10 * time.Minute, []time.Duration{time.Hour, 2*time.Hour + 10*time.Minute, 3*time.Hour + 10*time.Minute}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clock := &shifted{}
				j := track("job", "0 * * * *", "a", 0)
				w := New([]Job{j.Job}, Options{Zone: time.UTC, Clock: clock, Log: zerolog.Nop()})
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Hour+30*time.Minute)
				defer cancel()
				began := time.Now()
				time.AfterFunc(90*time.Minute+time.Second, func() { clock.offset.Store(int64(c.offset)) })
				w.Run(ctx)
				var got []time.Duration
				for _, at := range j.starts {
					got = append(got, at.Sub(began))
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("started (-want +got):\n%s", diff)
				}
			})
		})
	}
}
