package main

import (
	"context"
	"errors"
	"time"

	"solarmirror/cmd/internal/setup"
	"solarmirror/cmd/internal/terminal"
)

// observed has the alerts watch work that does these jobs. On a terminal somebody watches already:
// there only a success counts, which may end an incident.
func (a *app) observed(jobs []string, work func() error) error {
	c, log, err := a.configAndLog()
	if err != nil {
		return err
	}
	watcher := setup.Command(c, log)
	began := time.Now()
	for _, job := range jobs {
		watcher.Began(job)
	}
	err = work()
	for _, job := range jobs {
		if err == nil || !terminal.Is(a.stdin) && !terminal.Is(a.stderr) {
			watcher.Ended(job, began, err)
		}
	}
	within := alertTime
	if errors.Is(err, context.Canceled) {
		within = stopSending
	}
	watcher.Stop(within)
	return err
}

// How long a command that has ended may go on sending; the next one sends the rest.
const (
	alertTime   = 10 * time.Second
	stopSending = 100 * time.Millisecond // when it was told to stop
)
