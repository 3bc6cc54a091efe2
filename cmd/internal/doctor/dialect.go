package doctor

import (
	"context"
	"errors"

	"solarmirror/cmd/internal/config"
	"solarmirror/cmd/internal/status"
	"solarmirror/sync/platform"
	"solarmirror/sync/pull"
)

// checkDialect requests a page as a sync would, and compares the answer with the saved dialect.
func checkDialect(ctx context.Context, f *facts) Finding {
	if bound := f.meta.BaseURL; bound != "" && bound != f.client.BaseURL() {
		return fail("set [mirror] path to another file, or [platform] base_url back", "the mirror is another platform's: %s, not %s", bound, f.client.BaseURL())
	}
	if f.tokenError(ctx) != nil {
		return skip("there is no token to ask with")
	}
	saved := pull.ParseDialect(f.meta.Dialect)
	text := status.DialectOf(f.meta).String()
	page, err := f.probe(ctx, f.firstPage(), saved.Limit)
	var refusedPage *platform.StatusError
	var refusal *platform.RefusedError
	const remedy = "solarmirror sync, which finds it anew"
	switch {
	case errors.As(err, &refusedPage), errors.As(err, &refusal):
		return warn(remedy, "%s: such a page is refused now: %v", text, err)
	case err != nil:
		return skip("no page came; see reachability")
	case len(page.Records) > saved.Limit:
		return warn(remedy, "%s: %d rows came", text, len(page.Records))
	case page.Envelope != saved.Envelope:
		return pass("%s; now answers as %s, which is read as well", text, page.Envelope)
	}
	return pass("%s: still so", text)
}

// firstPage returns the number of a list's first page: the configured one, else the saved one, else
// 1, the usual one.
func (f *facts) firstPage() int {
	if configured := f.Config.Platform.FirstPage; configured != config.FirstPageAuto {
		return configured
	}
	if d := pull.ParseDialect(f.meta.Dialect); d.Known {
		return d.First
	}
	return 1
}
