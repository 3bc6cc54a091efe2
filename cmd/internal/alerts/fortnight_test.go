package alerts

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"solarmirror/cmd/internal/pullreport"
	"solarmirror/store/sqlitefile"
	"solarmirror/sync/platform"
	"solarmirror/sync/pull"
	"solarmirror/sync/push"
)

var (
	errDown    = &platform.StatusError{Request: platform.Request{Path: "/orders?x=1", Attempts: 8}, Status: 503, Message: "Ana Souza, ana@example.com"}
	errRefused = &platform.AuthError{Request: platform.Request{Path: "/orders", Attempts: 1}, Status: 401}
	errFull    = fmt.Errorf("write the page: %w", fmt.Errorf("%w: make room", sqlitefile.ErrDiskFull))
	errHeld    = &pull.PartialError{Err: &pull.DeletionsError{Stream: "equipments", Missing: 900, Held: 1000}}
	errDiffers = &pullreport.DifferencesError{}
	errWaiting = &push.IncompleteError{Reasons: []string{"not sent yet"}}
)

// trouble is what is wrong between two times.
type trouble struct {
	from, to string // of the fortnight: "day hh:mm"
	jobs     []string
	err      error
}

// clock reads a time of the fortnight, which begins on Monday, 2 March 2026.
func clock(t *testing.T, text string) time.Time {
	t.Helper()
	var d, h, m int
	if _, err := fmt.Sscanf(text, "%d %d:%d", &d, &h, &m); err != nil {
		t.Fatal(err)
	}
	return time.Date(2026, 3, 1+d, h, m, 0, 0, time.UTC)
}

// TestFortnight lives through two weeks of a worker by a written timetable, and wants these
// messages at these times and no other. An incident is over when the last job that failed has
// succeeded, so at the full hour where an hourly job did. The worker restarts every seven hours,
// and all it remembers is its file.
func TestFortnight(t *testing.T) {
	t.Parallel()
	asking := []string{"sync", "full_equipments", "full_requests", "verify"}
	troubles := []trouble{
		{"1 09:59", "1 10:04", asking, errDown},                              // 5 minutes: one sync and one full read fail
		{"2 10:20", "2 11:20", asking, errDown},                              // an hour
		{"3 08:05", "5 08:05", asking, errDown},                              // two days
		{"6 12:05", "6 16:05", asking, errRefused},                           // the token is revoked
		{"8 13:05", "8 15:05", []string{"sync", "publish"}, errFull},         // the disk is full
		{"9 20:30", "11 09:30", []string{"full_equipments"}, errHeld},        // the breaker holds
		{"7 04:30", "7 05:30", []string{"verify"}, errDiffers},               // found on Sunday, and gone a week later
		{"14 02:55", "14 03:10", []string{"full_requests"}, errDown},         // a weekly job meets a short outage
		{"12 06:20", "12 06:25", []string{"publish"}, fmt.Errorf("passing")}, // no publish runs then
		{"12 09:05", "12 11:05", []string{"publish"}, fmt.Errorf("open %q: no", "/home/ana/x")},
	}
	slow := trouble{from: "13 02:00", to: "13 07:30"} // every sync is skipped: another command has the mirror
	rejects := map[string]int64{"1 15:00": 3, "1 15:20": 4, "1 15:40": 9, "4 12:00": 10}
	doubts := map[string]int64{"4 12:10": 1}
	every := map[string]time.Duration{
		"sync": 15 * time.Minute, "full_equipments": time.Hour, "publish": time.Hour, "full_requests": 7 * day, "verify": 7 * day,
	}
	due := func(at time.Time) (jobs []string) {
		if at.Minute()%15 == 0 {
			jobs = append(jobs, "sync")
		}
		if at.Minute() == 0 {
			jobs = append(jobs, "full_equipments")
		}
		if at.Weekday() == time.Sunday && at.Minute() == 0 && at.Hour() == 3 {
			jobs = append(jobs, "full_requests")
		}
		if at.Weekday() == time.Sunday && at.Minute() == 0 && at.Hour() == 5 {
			jobs = append(jobs, "verify")
		}
		if at.Minute() == 10 {
			jobs = append(jobs, "publish")
		}
		return jobs
	}
	state := &State{}
	look := Look{Streams: []StreamAge{
		{Name: "orders", Limit: 2 * time.Hour, Jobs: []string{"full_requests", "sync"}, Through: clock(t, "1 00:00")},
		{Name: "budgets", Limit: 2 * time.Hour, Jobs: []string{"full_requests", "sync"}, Through: clock(t, "1 00:00")},
		{Name: "equipments", Limit: 2 * time.Hour, Jobs: []string{"full_equipments"}, Through: clock(t, "1 00:00")},
	}}
	var got []string
	texts := map[string]string{}
	tell := func(messages []Message) {
		for _, m := range messages {
			title, text := m.Text(Tongue{Lang: "en", Zone: time.UTC})
			said := fmt.Sprintf("%d %s %s", m.At.YearDay()-60, m.At.Format("15:04"), strings.TrimPrefix(title, "solarmirror: "))
			got = append(got, said)
			texts[said] = text
		}
	}
	for at := clock(t, "1 00:00"); at.Before(clock(t, "15 00:00")); at = at.Add(time.Minute) {
		if at.Minute() == 0 && at.Hour()%7 == 0 {
			state = restarted(t, state)
		}
		for text, n := range rejects {
			if clock(t, text).Equal(at) {
				look.Rejects = n
			}
		}
		for text, n := range doubts {
			if clock(t, text).Equal(at) {
				look.Doubts = n
			}
		}
		for _, job := range due(at) {
			r := Run{Job: job, Began: at, Ended: at.Add(20 * time.Second), Every: every[job], Asks: slices.Contains(asking, job)}
			for _, is := range troubles {
				if slices.Contains(is.jobs, job) && !at.Before(clock(t, is.from)) && at.Before(clock(t, is.to)) {
					r.Err = is.err
				}
			}
			if job == "sync" && !at.Before(clock(t, slow.from)) && at.Before(clock(t, slow.to)) {
				r.Err = &sqlitefile.LockedError{}
			}
			for i := range look.Streams {
				if s := &look.Streams[i]; r.Err == nil && slices.Contains(s.Jobs, job) {
					s.Through = at
				}
			}
			tell(state.Run(r))
		}
		look.At = at.Add(30 * time.Second)
		tell(state.Look(look))
	}
	want := []string{
		"1 15:00 new records that could not be loaded: 3",
		"1 16:00 new records that could not be loaded: 6",
		"2 10:45 the platform does not answer",
		"2 12:00 over: the platform does not answer",
		"3 08:30 the platform does not answer",
		"4 08:30 still: the platform does not answer",
		"4 12:00 new records that could not be loaded: 1",
		"4 13:00 new companies in doubt: 1",
		"5 08:30 still: the platform does not answer",
		"5 09:00 over: the platform does not answer",
		"6 12:15 the platform does not accept the token, or there is none",
		"6 17:00 over: the platform does not accept the token, or there is none",
		"7 05:00 the mirror differs from the platform, unexplained",
		"8 05:00 still: the mirror differs from the platform, unexplained",
		"8 13:30 the disk is full or fails",
		"8 15:15 over: the disk is full or fails",
		"9 05:00 still: the mirror differs from the platform, unexplained",
		"9 21:00 many records vanished from the platform at once; none was marked as gone",
		"10 05:00 still: the mirror differs from the platform, unexplained",
		"10 21:00 still: many records vanished from the platform at once; none was marked as gone",
		"11 05:00 still: the mirror differs from the platform, unexplained",
		"11 10:00 over: many records vanished from the platform at once; none was marked as gone",
		"12 05:00 still: the mirror differs from the platform, unexplained",
		"12 10:10 a job fails (publish)",
		"12 11:10 over: a job fails (publish)",
		"13 03:45 data is late (orders, budgets)",
		"13 05:00 still: the mirror differs from the platform, unexplained",
		"13 07:30 over: data is late (orders, budgets)",
		"14 03:00 the platform does not answer",
		"14 03:15 over: the platform does not answer",
		"14 05:00 over: the mirror differs from the platform, unexplained",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	for said, want := range map[string]string{
		"5 09:00 over: the platform does not answer":  "Over: the platform does not answer\nSince: 2026-03-04 08:15\nLasted: 2 days",
		"3 08:30 the platform does not answer":        "The platform does not answer\nSince: 2026-03-04 08:15\nJobs: sync\nCause: the platform answered 503 Service Unavailable, saying \"…\"\nType: solarmirror doctor",
		"4 08:30 still: the platform does not answer": "Still: the platform does not answer\nSince: 2026-03-04 08:15\nJobs: full_equipments, sync\nFor: 24 h\nCause: the platform answered 503 Service Unavailable, saying \"…\"\nType: solarmirror doctor",
		"12 10:10 a job fails (publish)":              "A job fails\nSince: 2026-03-13 09:10\nJobs: publish\nCause: open \"…\": no\nType: solarmirror runs list",
		"4 13:00 new companies in doubt: 1":           "New companies in doubt: 1\nType: solarmirror outbox list ambiguous",
	} {
		if diff := cmp.Diff(want, texts[said]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", said, diff)
		}
	}
}
