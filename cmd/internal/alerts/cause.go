package alerts

import (
	"context"
	"errors"

	"solarmirror/cmd/internal/pullreport"
	"solarmirror/cmd/internal/words"
	"solarmirror/store/sqlitefile"
	"solarmirror/sync/platform"
	"solarmirror/sync/pull"
	"solarmirror/sync/push"
)

// Cause is why something fails.
type Cause string

// The causes.
const (
	Platform       Cause = "platform" // it cannot be reached, or does not answer as it should
	Authentication Cause = "authentication"
	Disk           Cause = "disk"
	Damage         Cause = "damage"
	Breaker        Cause = "breaker" // of deletions
	Differences    Cause = "differences"
	Stale          Cause = "stale" // a stream that is not moved though no job fails
	Job            Cause = "job"   // the rest
)

// Causes returns all causes, the most pressing first.
func Causes() []Cause {
	return []Cause{Damage, Disk, Authentication, Platform, Breaker, Differences, Stale, Job}
}

// CausesOf returns the causes of a job's error: more than one when its streams failed for different
// ones, none when nothing failed: there is no error, the job was stopped, or another command was at
// work.
func CausesOf(err error) []Cause {
	var auth *platform.AuthError
	var deletions *pull.DeletionsError
	var differences *pullreport.DifferencesError
	var locked *sqlitefile.LockedError
	var causes []Cause
	is := func(c Cause, yes bool) {
		if yes {
			causes = append(causes, c)
		}
	}
	if err == nil || errors.As(err, &locked) || errors.Is(err, context.Canceled) {
		return nil
	}
	is(Damage, errors.Is(err, sqlitefile.ErrCorrupt))
	is(Disk, errors.Is(err, sqlitefile.ErrDiskFull) || errors.Is(err, sqlitefile.ErrIO))
	is(Authentication, errors.As(err, &auth))
	is(Platform, platform.Outage(err))
	is(Breaker, errors.As(err, &deletions))
	is(Differences, errors.As(err, &differences))
	is(Job, causes == nil)
	return causes
}

// maxLine is how many characters of a cause a message holds.
const maxLine = 300

// line is the cause in one line.
func line(err error) string { return words.Shorten(words.CauseOf(err.Error()), maxLine) }

// waits says whether a push could not send what is due, and will try again.
func waits(err error) bool {
	var incomplete *push.IncompleteError
	return errors.As(err, &incomplete)
}
