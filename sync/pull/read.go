package pull

import (
	"context"
	"fmt"
	"time"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/sync/platform"
	"solarmirror/sync/scan"
)

// reading is one scan of one pass over a stream.
type reading struct {
	stream   *Stream
	pass     string
	from, to string           // dates; "" is unbounded
	window   *window          // nil for an incremental scan, which the ledger does not follow
	mark     *store.Watermark // what the pass moves; nil in a backfill

	traits   Traits    // how the platform lists the stream, as known before the scan
	start    time.Time // when it was begun, by the earlier of the two clocks
	findings scan.Findings
	promise  string
}

// whole says whether everything is read, whatever its date.
func (r *reading) whole() bool { return r.from == "" }

// readFitting reads, and once more with the dialect found anew when what was remembered of it no
// longer fits.
func (e *Engine) readFitting(ctx context.Context, j *job, r *reading) error {
	r.traits = e.traits(r.stream)
	err := e.read(ctx, j, r)
	if !misfits(err) || !e.meetAgain(ctx, r) {
		return err
	}
	e.Log.Warn().Err(err).Str("stream", r.stream.Name).Msg("the platform answers otherwise than it used to; reading again")
	return e.read(ctx, j, r)
}

// read scans, and writes what it reads.
func (e *Engine) read(ctx context.Context, j *job, r *reading) error {
	if !r.whole() { // before a whole reading it was asked for
		if err := e.checkNumbering(ctx, r); err != nil {
			return &fetchError{err}
		}
	}
	b := &batch{engine: e, job: j, reading: r, progress: Progress{Stream: j.stream.Name, Pass: r.pass, Total: -1}}
	options := r.scanOptions(e.InFlight)
	options.BeforeWaiting = b.commit
	if r.window != nil && r.window.interrupted() {
		var err error
		if options.Resume, err = e.resumption(ctx, r); err != nil {
			return err
		}
	}
	s := scan.New(e.source(r), options)
	if err := b.readAll(ctx, s); err != nil {
		return err
	}
	r.findings = s.Findings()
	r.promise = r.findings.Promise
	e.learnt(r)
	b.progress.Finished = true
	e.show(b.progress)
	return nil
}

// scanOptions is what is known of the platform before the scan. A whole reading finds out anew
// which page sizes are honoured.
func (r *reading) scanOptions(inFlight int) scan.Options {
	o := scan.Options{Limit: r.traits.Limit, InFlight: inFlight, IgnoreTotal: r.traits.ForeignTotals, LookBeyond: r.whole()}
	if !r.whole() {
		o.Sizes = r.traits.Sizes
	}
	return o
}

// source is the list that a reading reads. A bound in the far future is another address for it.
func (e *Engine) source(r *reading) scan.Source {
	resource, first, empty := r.stream.Resource, r.traits.First, r.traits.EmptyStatus
	filter := filterOf(r.pass, r.from, r.to)
	sure := filterOf(schema.Live, "", "") // a list that is not empty, asked for in the same way
	if !r.whole() {
		sure = filterOf(schema.Live, longAgo, "")
	}
	probe := func(ctx context.Context, page, limit int) (*platform.Page, error) {
		return e.Client.Probe(ctx, resource, filter, first+page, limit)
	}
	fetch := func(ctx context.Context, page, limit int) (*platform.Page, error) {
		got, err := e.Client.List(ctx, resource, filter, first+page, limit)
		if page > 0 || empty == 0 || !scan.Refused(err) || statusOf(err) != empty {
			return got, err
		}
		// The platform refuses empty lists so, but in an outage others, too.
		other, failed := e.Client.Probe(ctx, resource, sure, first, limit)
		if failed != nil || filter == sure {
			return got, err
		}
		if got, err = probe(ctx, page, limit); scan.Refused(err) && statusOf(err) == empty {
			other.Records, other.HasTotal = nil, false
			return other, nil
		}
		return got, err
	}
	source := scan.Source{Fetch: fetch, Probe: probe, Identify: r.stream.identify}
	if r.to == "" {
		source.Again = func(ctx context.Context, way, page, limit int) (*platform.Page, error) {
			until := filterOf(r.pass, r.from, fmt.Sprintf("2999-12-%02d", way))
			return e.Client.Probe(ctx, resource, until, first+page, limit)
		}
	}
	return source
}
