package statuspage

import (
	"time"

	"solarmirror/sync/platform"
	"solarmirror/sync/schedule"
)

// trouble is a list of the platform that was asked in vain since it last answered.
type trouble struct {
	list        string
	since, last time.Time // of the first and the last try
	tries       int64
	cause       string
}

// watch notes whether a list answers.
func (r *Requests) watch(e platform.Exchange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case e.List == "":
	case e.Failure != "":
		now := r.now()
		t := r.troubles[e.List]
		if t == nil {
			t = &trouble{list: e.List, since: now}
			r.troubles[e.List] = t
		}
		t.last, t.cause = now, e.Failure
		t.tries++
	case e.Status != 0: // an answer, if only a refusal; a try that was cancelled says nothing
		delete(r.troubles, e.List)
	}
}

// passing is how long tries may fail before it is worth a word: most faults pass.
const passing = time.Minute

// lasting returns the troubles that jobs which run now have had for longer than that.
func (r *Requests) lasting(jobs []schedule.Status, now time.Time) map[string]trouble {
	lasting := map[string]trouble{}
	if r == nil {
		return lasting
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for list, t := range r.troubles {
		for _, j := range jobs {
			if j.Running && !t.last.Before(j.LastStart) && now.Sub(t.since) > passing {
				lasting[list] = *t
			}
		}
	}
	return lasting
}
