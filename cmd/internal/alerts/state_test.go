package alerts

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"solarmirror/store/sqlitefile"
	"solarmirror/sync/platform"
)

type fatal interface{ Fatal(...any) }

// restarted is what the next process knows.
func restarted(t fatal, s *State) *State {
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	again := &State{}
	if err := json.Unmarshal(text, again); err != nil {
		t.Fatal(err)
	}
	return again
}

// Whatever happens: of a cause, beginning and end alternate, a day passes between two messages
// while it lasts, what has begun is over in the end, and a restart at any point changes nothing.
func TestIncidentsOfAnySequence(t *testing.T) {
	t.Parallel()
	jobs := map[string]time.Duration{"sync": 15 * time.Minute, "full_equipments": time.Hour, "verify": 7 * day, "backfill": 0}
	errs := []error{nil, nil, errDown, errRefused, errFull, errHeld, errDiffers, errors.New("else"), errors.Join(errDown, errHeld)}
	rapid.Check(t, func(t *rapid.T) {
		one, other := &State{}, &State{}
		at := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
		through := at
		told := map[string]time.Time{} // the last message of what is open
		take := func(step func(*State) []Message) {
			messages, again := step(one), step(other)
			if fmt.Sprint(messages) != fmt.Sprint(again) {
				t.Fatalf("after restarts:\n%v\ninstead of\n%v", again, messages)
			}
			for _, m := range messages {
				subjects := []string{""}
				if m.Incident.Subject != "" {
					subjects = m.Subjects
				}
				for _, subject := range subjects {
					id := string(m.Incident.Cause) + " " + subject
					last, open := told[id]
					switch {
					case m.Kind == Events:
						id, last = "events", told["events"]
						if at.Sub(last) < eventsGap {
							t.Fatalf("events at %v and %v", last, at)
						}
						told[id] = at
						continue
					case open == (m.Kind == Begins), m.Kind == Lasts && at.Sub(last) < day:
						t.Fatalf("%s %s at %v, after a message at %v", id, m.Kind, at, last)
					case m.Kind == Over:
						delete(told, id)
						continue
					}
					told[id] = at
				}
			}
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			at = at.Add(time.Duration(rapid.IntRange(1, 2000).Draw(t, "minutes")) * time.Minute)
			if rapid.Bool().Draw(t, "restart") {
				other = restarted(t, other)
			}
			job := rapid.SampledFrom(slices.Sorted(maps.Keys(jobs))).Draw(t, "job")
			err := rapid.SampledFrom(errs).Draw(t, "err")
			if rapid.Bool().Draw(t, "moves") {
				through = at
			}
			look := Look{At: at, Rejects: rapid.Int64Range(0, 5).Draw(t, "rejects"), Streams: []StreamAge{
				{Name: "orders", Limit: 2 * time.Hour, Through: through, Jobs: []string{"sync"}},
				{Name: "equipments", Limit: 2 * time.Hour, Through: through, Jobs: []string{"full_equipments"}},
			}}
			take(func(s *State) []Message {
				return s.Run(Run{Job: job, Began: at, Ended: at, Every: jobs[job], Asks: job != "verify", Err: err})
			})
			take(func(s *State) []Message { return s.Look(look) })
		}
		for job, every := range jobs {
			take(func(s *State) []Message { return s.Run(Run{Job: job, Began: at, Ended: at, Every: every}) })
		}
		take(func(s *State) []Message {
			return s.Look(Look{At: at, Streams: []StreamAge{{Name: "orders", Limit: 1, Through: at}, {Name: "equipments", Limit: 1, Through: at}}})
		})
		delete(told, "events")
		if len(told) > 0 || len(one.Incidents) > 0 {
			t.Fatalf("never over: %v", told)
		}
	})
}

// A job of cron has no interval that anybody wrote down.
func TestIntervalsOfCron(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	run := func(s *State, after time.Duration, err error) int {
		at = at.Add(after)
		return len(s.Run(Run{Job: "sync", Began: at, Ended: at, Err: err}))
	}
	s := &State{}
	if n := run(s, 0, errDown); n != 1 {
		t.Errorf("the first failure of what may be a monthly job: %d messages", n)
	}
	s = &State{}
	for i, n := range []int{run(s, 0, nil), run(s, time.Hour, errDown), run(s, 14*time.Minute, errDown), run(s, time.Minute, errDown)} {
		if want := max(0, i-2); n != want {
			t.Errorf("hourly, then sooner: %d messages at %d", n, i)
		}
	}
	s = &State{}
	if n := run(s, 0, nil) + run(s, 7*day, errDown); n != 1 {
		t.Errorf("weekly: %d messages", n)
	}
}

// A push that waits for the platform is no incident of its own; neither are jobs that are off,
// stopped or locked out.
func TestWhatIsNoIncident(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	s := &State{}
	var messages []Message
	for i := range 60 {
		now := at.Add(time.Duration(i) * time.Minute)
		messages = append(messages, s.Run(Run{Job: "push", Began: now, Ended: now, Every: time.Minute, Err: errWaiting})...)
		if i%15 == 0 {
			messages = append(messages, s.Run(Run{Job: "sync", Began: now, Ended: now, Every: 15 * time.Minute, Asks: true, Err: errDown})...)
		}
	}
	var kinds []string
	for _, m := range messages {
		kinds = append(kinds, fmt.Sprint(m.Kind, " ", m.Incident.Cause))
	}
	if got := strings.Join(kinds, ", "); got != "begins platform" {
		t.Errorf("a push that waits for the platform: %s", got)
	}
	long := Run{Job: "publish", Began: at, Ended: at.Add(time.Hour), Every: time.Hour, Err: errors.New("one failure, of a job that took long")}
	if told := s.Run(long); told != nil {
		t.Errorf("after one failure: %v", told)
	}
	s.Drop("publish")
	s.Drop("push")
	s.Drop("sync")
	if len(s.Incidents) > 0 {
		t.Errorf("of jobs that are off: %v", s.Incidents)
	}
}

func TestCausesOf(t *testing.T) {
	t.Parallel()
	request := platform.Request{Path: "/orders", Attempts: 1}
	for _, c := range []struct {
		err  error
		want []Cause
	}{
		{nil, nil},
		{fmt.Errorf("stopped: %w", context.Canceled), nil},
		{&sqlitefile.LockedError{}, nil},
		{errDown, []Cause{Platform}},
		{&platform.StatusError{Request: request, Status: 429}, []Cause{Platform}},
		{&platform.StatusError{Request: request, Status: 404}, []Cause{Job}},
		{&platform.TransportError{Request: request, Err: &tls.CertificateVerificationError{}}, []Cause{Platform}},
		{&platform.TransportError{Request: request, Timeout: time.Second}, []Cause{Platform}},
		{&platform.RetryAfterError{Request: request}, []Cause{Platform}},
		{&platform.BodyError{Request: request, Reason: "cut"}, []Cause{Platform}},
		{&platform.EnvelopeError{Request: request}, []Cause{Job}},
		{errRefused, []Cause{Authentication}},
		{fmt.Errorf("open: %w", sqlitefile.ErrCorrupt), []Cause{Damage}},
		{&sqlitefile.NoRoomError{}, []Cause{Disk}},
		{sqlitefile.ErrIO, []Cause{Disk}},
		{errHeld, []Cause{Breaker}},
		{errDiffers, []Cause{Differences}},
		{errWaiting, []Cause{Job}},
		{errors.Join(errHeld, errDown), []Cause{Platform, Breaker}},
	} {
		if got := CausesOf(c.err); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.err, got, c.want)
		}
	}
}

// Every cause has its words in every language, and a command.
func TestEveryCauseHasWords(t *testing.T) {
	t.Parallel()
	for _, c := range Causes() {
		for _, lang := range Languages() {
			d := Tongue{Lang: lang}.dictionary()
			if d.what[c] == "" || d.what[c][0] >= 0x80 || commands[c] == "" {
				t.Errorf("%s, %s: %q, %q", c, lang, d.what[c], commands[c])
			}
		}
	}
}

// A mirror that could not be read once makes no old reject new.
func TestWhatIsNotKnownIsNotNew(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	s := &State{}
	var told []int64
	for i, n := range []int64{3, -1, 3, 2, 3} {
		for _, m := range s.Look(Look{At: at.Add(time.Duration(i) * 2 * time.Hour), Rejects: n, Doubts: n}) {
			told = append(told, m.Rejects, m.Doubts)
		}
	}
	if want := []int64{3, 3, 1, 1}; !slices.Equal(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
}
