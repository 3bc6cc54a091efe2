// Package setup makes what a configuration describes and commands work with: the client of the
// platform and the engine that reads it, the mirror, the outbox and what sends it, and the
// published copy.
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

// Client returns the client of the configured platform. It calls observe, if that is not nil, for
// every request.
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

// Engine returns what reads the platform into the mirror, as configured.
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
