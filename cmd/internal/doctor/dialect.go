package doctor

import (
	"context"
	"errors"

	"solarmirror/cmd/internal/config"
	"solarmirror/cmd/internal/status"
	"solarmirror/store"
	"solarmirror/sync/platform"
	"solarmirror/sync/pull"
)

// checkDialect asks for a page the way a sync would.
func checkDialect(ctx context.Context, f *facts) Finding {
	if bound := f.meta.BaseURL; bound != "" && bound != f.client.BaseURL() {
		other := &store.OtherPlatformError{Path: f.mirror.Path(), Have: bound, Want: f.client.BaseURL()}
		return fail("set [mirror] path to another file, or [platform] base_url back", "the mirror is another platform's: %s, not %s", other.Have, other.Want)
	}
	if f.tokenFault(ctx) != nil {
		return skip("there is no token to ask with")
	}
	remembered := pull.ParseDialect(f.meta.Dialect)
	words := status.DialectOf(f.meta).String()
	page, err := f.probe(ctx, f.firstPage(), remembered.Limit)
	var status *platform.StatusError
	var refused *platform.RefusedError
	const remedy = "solarmirror sync, which finds it anew"
	switch {
	case errors.As(err, &status), errors.As(err, &refused):
		return warn(remedy, "%s: such a page is refused now: %v", words, err)
	case err != nil:
		return skip("no page came; see reachability")
	case len(page.Records) > remembered.Limit:
		return warn(remedy, "%s: %d rows came", words, len(page.Records))
	case page.Envelope != remembered.Envelope:
		return pass("%s; now answers as %s, which is read as well", words, page.Envelope)
	}
	return pass("%s: still so", words)
}

// firstPage is the number of a list's first page, as configured or remembered; otherwise 1, where
// most platforms begin.
func (f *facts) firstPage() int {
	if pinned := f.Config.Platform.FirstPage; pinned != config.FirstPageAuto {
		return pinned
	}
	if d := pull.ParseDialect(f.meta.Dialect); d.Known {
		return d.First
	}
	return 1
}
