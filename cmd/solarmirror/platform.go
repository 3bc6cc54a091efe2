package main

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

// newClient returns the client of the configured platform; observe, where it is not nil, is told of every request.
func newClient(c config.Config, log zerolog.Logger, observe func(platform.Exchange)) (*platform.Client, error) {
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

// newEngine returns what reads the platform into the mirror, as configured.
func newEngine(c config.Config, log zerolog.Logger, client *platform.Client, mirror *store.Mirror) *pull.Engine {
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

// mirrorOptions are those of a mirror that is written to; now may be nil.
func mirrorOptions(c config.Config, now func() time.Time, log zerolog.Logger) store.Options {
	return store.Options{Now: now, Log: log, Zone: c.Platform.TimeZone, PowerUnit: store.PowerUnit(c.Marts.PowerUnit)}
}
