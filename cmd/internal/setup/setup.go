// Package setup builds the objects that commands work with from the configuration: the platform's
// client, the sync engine, the mirror opened for writing, the outbox, its pusher, the published
// copy, and the alerts.
//
// A setting that cannot be used, such as a missing key file, is a [config.Error], which decides the
// exit code. [Mirror] and [WithPusher] hold the lock of the file they write until the work ends.
package setup

import (
	"context"
	"fmt"
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
// observe may be nil. A platform to which the token would travel in clear is a [config.Error].
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
	if err := refusePlainHTTP(c, log, client.BaseURL()); err != nil {
		client.Close()
		return nil, err
	}
	return client, nil
}

// refusePlainHTTP returns an error where the token would travel in clear. It only warns of a mirror
// that has read the same platform before: such mirrors were made without a word, and the next
// version refuses them, too.
func refusePlainHTTP(c config.Config, log zerolog.Logger, base string) error {
	if !c.TokenInClear() {
		return nil
	}
	const remedy = "set it to https://, or allow this with [platform] allow_plain_http = true (SOLARMIRROR_PLATFORM_ALLOW_PLAIN_HTTP)"
	bound, err := store.BoundTo(context.Background(), c.Mirror.Path)
	if err != nil || bound != base {
		problem := "platform.base_url is plain http to another machine, and anybody on the way could read the token: " + remedy
		if err != nil {
			problem += fmt.Sprintf("; the mirror does not say whether it has read this platform before: %v", err)
		}
		return &config.Error{Problems: []string{problem}}
	}
	log.Warn().Str("base_url", base).Msg("THE TOKEN TRAVELS IN CLEAR: platform.base_url is plain http to another machine. The next version refuses this: " + remedy)
	return nil
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
