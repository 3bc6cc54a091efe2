package main

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// contender is one way of getting the platform's requests into a SQLite file.
type contender struct {
	name    string
	load    func(task) (outcome, error) // runs in a child process; nil for the shell, which is one
	env     []string                    // of the child
	resyncs []step
}

// step is what is measured of a contender, in this order, on one file.
type step struct {
	name  string
	every int // of so many records one has changed since the step before; 0 is none
}

// The steps.
var (
	firstLoad     = step{name: "first load"}
	resyncSame    = step{name: "re-sync, 0 % changed"}
	resyncUsual   = step{name: "re-sync, 1 % changed", every: 100}
	resyncChanged = step{name: "re-sync, 100 % changed", every: 1}
)

// Names of contenders.
const (
	ours     = "solarmirror"
	byHand   = "hand-written"
	pipeline = "pipeline-cgo"
	shell    = "sqlite3-shell"
)

// memoryBounds are those that cmd/solarmirror sets for itself.
var memoryBounds = []string{"GOGC=50", "GOMEMLIMIT=80MiB"}

func allContenders() []contender {
	return []contender{
		{name: ours, load: loadMirror, env: memoryBounds, resyncs: []step{resyncSame, resyncUsual, resyncChanged}},
		// It writes every record again, whatever has changed, so one re-sync tells all.
		{name: byHand, load: loadByHand, resyncs: []step{resyncUsual}},
		{name: pipeline, load: loadPipeline, env: memoryBounds, resyncs: []step{resyncSame, resyncUsual, resyncChanged}},
		{name: shell},
	}
}

func (c contender) steps() []step { return append([]step{firstLoad}, c.resyncs...) }

func contenderNames() []string {
	var names []string
	for _, c := range allContenders() {
		names = append(names, c.name)
	}
	return names
}

// findContender returns the named one.
func findContender(name string) (contender, bool) {
	all := allContenders()
	i := slices.IndexFunc(all, func(c contender) bool { return c.name == name })
	if i < 0 {
		return contender{}, false
	}
	return all[i], true
}

func parseContenders(list string) (chosen []contender, err error) {
	for name := range strings.SplitSeq(list, ",") {
		c, ok := findContender(strings.TrimSpace(name))
		if !ok {
			return nil, fmt.Errorf("-contenders: there is no %q; there are %s", name, strings.Join(contenderNames(), ", "))
		}
		if _, err := exec.LookPath("sqlite3"); c.name == shell && err != nil {
			return nil, fmt.Errorf("the sqlite3 shell is not installed: install it (apt install sqlite3), or leave it out with -contenders")
		}
		chosen = append(chosen, c)
	}
	if !slices.ContainsFunc(chosen, func(c contender) bool { return c.name == ours }) {
		return nil, fmt.Errorf("-contenders: %s must be one of them", ours)
	}
	return chosen, nil
}
