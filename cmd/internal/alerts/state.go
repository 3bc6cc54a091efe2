package alerts

import (
	"maps"
	"slices"
	"time"
)

// State is all that is remembered: what fails, what was told of it and what is still to be sent.
type State struct {
	Format    string               // stateFormat
	Incidents []*Incident          // those told have Told; the others are pending
	Jobs      map[string]time.Time // when each job that is on no schedule last ended
	Rejects   Counter
	Doubts    Counter
	EventsAt  time.Time // of the last message of events

	Queue        []Queued
	Last         int64     // number of the last message
	SendingUntil time.Time // a process is sending; no other does until then
}

// Incident is one cause that makes something fail.
type Incident struct {
	Cause    Cause
	Subject  string          // the job of [Job], the stream of [Stale]; else ""
	Since    time.Time       // the start of the first job that failed; of a stream, when it last moved
	Line     string          // the cause in one line, as last seen
	Jobs     map[string]bool // those that fail; true: rarer than daily
	Failures int
	Told     time.Time // the last message; zero: none yet
}

// Counter counts what comes anew, from how much there is.
type Counter struct{ Seen, New int64 }

func (c *Counter) see(n int64) {
	if n < 0 { // not known: nothing has gone, to come anew
		return
	}
	c.New += max(0, n-c.Seen)
	c.Seen = n
}

// Run is how a job ended.
type Run struct {
	Job          string
	Began, Ended time.Time
	Every        time.Duration // the longest time between two of its runs; 0: not known
	Asks         bool          // it cannot succeed without the platform
	Err          error         // nil: it succeeded
}

// Look is how the mirror and the outbox stand.
type Look struct {
	At              time.Time
	Streams         []StreamAge
	Rejects, Doubts int64 // below 0: not known
}

// StreamAge is how old a stream is.
type StreamAge struct {
	Name    string
	Through time.Time     // the mirror has everything up to here
	Limit   time.Duration // the age at which it is late; 0: never
	Jobs    []string      // that move it
}

// Kind is what a message is about.
type Kind string

// The kinds of messages.
const (
	Begins Kind = "begins"
	Lasts  Kind = "lasts"
	Over   Kind = "over"
	Events Kind = "events"
	Test   Kind = "test"
)

// Message is something to be told.
type Message struct {
	Kind            Kind
	At              time.Time
	Incident        Incident // of a message of an incident
	Subjects        []string // the streams, or the jobs that fail
	Rejects, Doubts int64    // of events
}

const (
	beginAfter = 15 * time.Minute // and two failures
	day        = 24 * time.Hour
	rarely     = day + 2*time.Hour // more than any day lasts, also where the clock is put back
	eventsGap  = time.Hour
)

// urgent are the causes that no time mends.
var urgent = []Cause{Authentication, Damage, Breaker}

// Run takes note of how a job ended.
func (s *State) Run(r Run) []Message {
	causes := CausesOf(r.Err)
	if causes == nil && r.Err != nil {
		return nil
	}
	rare := s.seen(r)
	for i, c := range causes {
		if c == Job && waits(r.Err) && s.find(Platform, "") != nil {
			causes[i] = Platform // what it could not send waits for that
		}
	}
	for _, i := range s.Incidents {
		if !slices.Contains(causes, i.Cause) {
			delete(i.Jobs, r.Job)
		}
		if r.Err == nil && r.Asks && (i.Cause == Platform || i.Cause == Authentication) {
			maps.DeleteFunc(i.Jobs, func(_ string, rare bool) bool { return rare }) // they would hold it open for days
		}
	}
	messages := s.close(r.Ended)
	for _, c := range causes {
		i := s.fail(c, r, rare)
		begins := slices.Contains(urgent, c) || rare || i.Failures >= 2 && r.Ended.Sub(i.Since) >= beginAfter
		if begins && i.Told.IsZero() {
			i.Told = r.Ended
			messages = append(messages, about(Begins, r.Ended, i))
		}
	}
	return messages
}

// seen says whether a job is rarer than daily. Where no schedule says so, the time since it last
// ran does; before that, it is.
func (s *State) seen(r Run) (rare bool) {
	if r.Every > 0 {
		return r.Every > rarely
	}
	last, known := s.Jobs[r.Job]
	if s.Jobs == nil {
		s.Jobs = map[string]time.Time{}
	}
	s.Jobs[r.Job] = r.Ended
	return !known || r.Began.Sub(last) > rarely
}

func (s *State) fail(c Cause, r Run, rare bool) *Incident {
	subject := ""
	if c == Job {
		subject = r.Job
	}
	i := s.find(c, subject)
	if i == nil {
		i = &Incident{Cause: c, Subject: subject, Since: r.Began, Jobs: map[string]bool{}}
		s.Incidents = append(s.Incidents, i)
	}
	i.Failures++
	i.Jobs[r.Job] = rare
	i.Line = line(r.Err)
	return i
}

func (s *State) find(c Cause, subject string) *Incident {
	for _, i := range s.Incidents {
		if i.Cause == c && i.Subject == subject {
			return i
		}
	}
	return nil
}

// close ends the incidents of which no job fails any more.
func (s *State) close(now time.Time) (messages []Message) {
	s.Incidents = slices.DeleteFunc(s.Incidents, func(i *Incident) bool {
		over := i.Cause != Stale && len(i.Jobs) == 0
		if over && !i.Told.IsZero() {
			messages = append(messages, about(Over, now, i))
		}
		return over
	})
	return messages
}

// Drop forgets the failures of a job that is not done any more.
func (s *State) Drop(job string) {
	s.Incidents = slices.DeleteFunc(s.Incidents, func(i *Incident) bool {
		_, fails := i.Jobs[job]
		delete(i.Jobs, job)
		return fails && len(i.Jobs) == 0
	})
}

// Look takes note of how the mirror and the outbox stand.
func (s *State) Look(l Look) []Message {
	var messages []Message
	for _, at := range l.Streams {
		i := s.find(Stale, at.Name)
		late := at.Limit > 0 && !at.Through.IsZero() && l.At.Sub(at.Through) > at.Limit
		switch {
		case late && i == nil && !s.explains(at.Jobs):
			i = &Incident{Cause: Stale, Subject: at.Name, Since: at.Through, Told: l.At}
			s.Incidents = append(s.Incidents, i)
			messages = merge(messages, about(Begins, l.At, i))
		case !late && i != nil:
			s.Incidents = slices.DeleteFunc(s.Incidents, func(other *Incident) bool { return other == i })
			messages = merge(messages, about(Over, l.At, i))
		}
	}
	s.Rejects.see(l.Rejects)
	s.Doubts.see(l.Doubts)
	return append(messages, s.Tick(l.At)...)
}

// explains says whether one of the jobs fails, which is told by itself.
func (s *State) explains(jobs []string) bool {
	return slices.ContainsFunc(s.Incidents, func(i *Incident) bool {
		return slices.ContainsFunc(jobs, func(job string) bool { _, fails := i.Jobs[job]; return fails })
	})
}

// Tick tells what time alone makes due.
func (s *State) Tick(now time.Time) (messages []Message) {
	for _, i := range s.Incidents {
		if !i.Told.IsZero() && now.Sub(i.Told) >= day {
			i.Told = now
			messages = merge(messages, about(Lasts, now, i))
		}
	}
	if s.Rejects.New+s.Doubts.New > 0 && now.Sub(s.EventsAt) >= eventsGap {
		messages = append(messages, Message{Kind: Events, At: now, Rejects: s.Rejects.New, Doubts: s.Doubts.New})
		s.Rejects.New, s.Doubts.New, s.EventsAt = 0, 0, now
	}
	return messages
}

// Open counts the incidents that were told and are not over, by cause.
func (s *State) Open() map[Cause]int {
	open := map[Cause]int{}
	for _, i := range s.Incidents {
		if !i.Told.IsZero() {
			open[i.Cause]++
		}
	}
	return open
}

func about(kind Kind, now time.Time, i *Incident) Message {
	m := Message{Kind: kind, At: now, Incident: *i, Subjects: slices.Sorted(maps.Keys(i.Jobs))}
	m.Incident.Jobs = nil
	if i.Subject != "" {
		m.Subjects = []string{i.Subject}
	}
	return m
}

// merge adds a message; streams of which the same is to be told share one.
func merge(messages []Message, m Message) []Message {
	for n := range messages {
		same := &messages[n]
		if m.Incident.Cause == Stale && same.Incident.Cause == Stale && same.Kind == m.Kind {
			same.Subjects = append(same.Subjects, m.Subjects...)
			if m.Incident.Since.Before(same.Incident.Since) {
				same.Incident.Since = m.Incident.Since
			}
			return messages
		}
	}
	return append(messages, m)
}
