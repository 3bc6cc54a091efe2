// Package setup builds the objects that commands work with from the configuration: the platform's
// client, the sync engine, the mirror opened for writing, the outbox, its pusher, and the published
// copy.
//
// A setting that cannot be used, such as a missing key file, is a [config.Error], which decides the
// exit code. [Mirror] and [WithPusher] hold the lock of the file they write until the work ends.
package setup

import (
	"time"

	"github.com/rs/zerolog"

	"solarmirror/cmd/internal/buildinfo"
	"solarmirror/cmd/internal/config"
	"solarmirror/store"
	"solarmirror/sync/platform"
	"solarmirror/sync/pull"
	"solarmirror/sync/scan"
)

// Client returns the client of the configured platform. The client calls observe for every request;
// observe may be nil.
func Client(c config.Config, log zerolog.Logger, observe func(platform.Exchange)) (*platform.Client, error) {
	base, err := c.BaseURL()
	if err != nil {
		return nil, err
	}
	p := c.Platform
	client, err := platform.New(platform.Config{
		BaseURL: base, Token: c.TokenSource(), Envelope: p.Envelope,
		RequestsPerSecond: p.RequestsPerSecond, MaxInFlight: p.MaxInFlight,
		Timeout: p.Timeout, MaxRetryWait: p.MaxRetryWait, MaxBody: p.MaxBody,
		UserAgent: buildinfo.UserAgent(), Log: log, Observe: observe,
	})
	if err != nil {
		return nil, &config.Error{Problems: []string{err.Error()}}
	}
	return client, nil
}

// Engine returns the engine that reads the platform into the mirror, with the configured options.
func Engine(c config.Config, log zerolog.Logger, client *platform.Client, mirror *store.Mirror) *pull.Engine {
	paging := pull.Paging{FirstPage: c.Platform.FirstPage, Limit: c.Platform.PageLimit}
	if paging.FirstPage == config.FirstPageAuto {
		paging.FirstPage = scan.FindFirstPage
	}
	return &pull.Engine{
		Client: client, Mirror: mirror, Log: log, Now: time.Now,
		Zone: c.Platform.TimeZone, OverlapDays: c.Mirror.OverlapDays, KeepDeleted: days(c.Mirror.KeepDeletedDays),
		Paging: paging, InFlight: c.Platform.MaxInFlight,
	}
}

func days(n int) time.Duration { return time.Duration(n) * 24 * time.Hour }
