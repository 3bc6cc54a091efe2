package pull

import (
	"context"
	"fmt"
	"time"

	"solarmirror/store"
	"solarmirror/sync/platform"
	"solarmirror/sync/scan"
)

// job is the work on one stream in a run. It belongs to one goroutine.
type job struct {
	stream  *Stream
	writer  *writer
	options Options
	runID   int64
	report  *StreamReport
	// repaired are the edited records written anew and committed. A dry run may write one twice.
	repaired map[store.NaturalKey]Difference
}

// reading is one scan of a job and what it is for.
type reading struct {
	pass     string
	from, to string    // dates; "" is unbounded
	window   *window   // nil for an incremental scan, which the ledger does not follow
	start    time.Time // when it was begun, by the earlier of the two clocks
	findings scan.Findings
	promise  string
	mark     *store.Watermark // what the pass moves; nil in a backfill
}

// syncStream reads the passes of a stream, each from its watermark on or whole. When all of them were read whole, it was
// a sweep: what it did not find is missing.
func (e *Engine) syncStream(ctx context.Context, j *job) error {
	whole, err := e.startsWhole(ctx, j)
	if err != nil {
		return err
	}
	if err := e.meet(ctx, j.stream, whole); err != nil {
		return err
	}
	var sweep []*window
	var open []*reading
	for _, pass := range j.stream.Passes {
		mark, known, err := e.watermark(ctx, j.stream, pass)
		if err != nil {
			return err
		}
		r := &reading{pass: pass, mark: &mark}
		if known && !j.options.Full && !e.traits(j.stream).IgnoresDates {
			r.from = lookback(mark.Watermark, e.OverlapDays)
		}
		if j.report.Full = r.from == ""; j.report.Full {
			if r.window, err = e.openWindow(ctx, j, pass, "", ""); err != nil {
				return err
			}
			sweep = append(sweep, r.window)
		}
		if open, err = e.readPass(ctx, j, r, open); err != nil {
			return err
		}
	}
	if err := e.completeOpen(ctx, j, open); err != nil {
		return err
	}
	if len(sweep) < len(j.stream.Passes) {
		return nil
	}
	if err := e.sweep(ctx, j, sweep); err != nil {
		return err
	}
	return e.prune(ctx, j, sweep[0].StartedAt)
}

// readPass reads a pass, and completes it unless the platform counts more rows than there are: what
// that means shows when all passes were read. Those are left open, and so are all after them.
func (e *Engine) readPass(ctx context.Context, j *job, r *reading, open []*reading) ([]*reading, error) {
	if err := e.readFitting(ctx, j, r); err != nil {
		return open, err
	}
	if len(open) > 0 || r.excess() > 0 {
		return append(open, r), nil
	}
	return nil, e.complete(ctx, j, r)
}

// startsWhole says whether the first pass of a stream will be read whole, whatever the platform does with dates.
func (e *Engine) startsWhole(ctx context.Context, j *job) (bool, error) {
	_, known, err := e.watermark(ctx, j.stream, j.stream.Passes[0])
	return !known || j.options.Full, err
}

// complete notes, in one transaction, that a reading ended cleanly: its window, and its pass's watermark if it has to do with that.
func (e *Engine) complete(ctx context.Context, j *job, r *reading) error {
	if j.options.DryRun {
		return nil
	}
	tx, err := e.Mirror.Begin(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if w := r.window; w != nil {
		w.begin(r.start)
		w.CompletedAt, w.Promise, w.Cursor = e.Now(), r.promise, 0
		w.Anchor, w.Seen = "", nil
		if err := tx.SaveWindow(&w.Window); err != nil {
			return err
		}
	}
	if r.promise != "" {
		e.Log.Warn().Str("stream", j.stream.Name).Str("pass", r.pass).Msg(r.promise)
	}
	if r.mark != nil {
		r.mark.Promise = r.promise
		e.advance(r.mark, j.stream, r)
		if err := tx.SetWatermark(*r.mark); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// advance moves a watermark to where a clean reading took it. A full reading that was interrupted began long ago, and does
// not take back what incremental ones have reached since.
func (e *Engine) advance(mark *store.Watermark, s *Stream, r *reading) {
	start := r.start
	if r.window == nil {
		mark.Watermark = watermarkDate(start, e.Zone)
		if s.Dates.Updates {
			mark.CompleteThrough = start
		}
		return
	}
	start = r.window.StartedAt
	mark.Watermark = max(mark.Watermark, watermarkDate(start, e.Zone))
	mark.LastFullScanAt = start
	if start.After(mark.CompleteThrough) {
		mark.CompleteThrough = start
	}
}

// readFitting reads, and once more with the dialect found anew when what was remembered of it no longer fits.
func (e *Engine) readFitting(ctx context.Context, j *job, r *reading) error {
	before := e.presentDialect()
	err := e.read(ctx, j, r)
	if !misfits(err) || !e.renewDialect(ctx, j.stream, before) {
		return err
	}
	e.Log.Warn().Err(err).Str("stream", j.stream.Name).Msg("the platform answers otherwise than it used to; reading again")
	return e.read(ctx, j, r)
}

// read scans, and writes what it reads.
func (e *Engine) read(ctx context.Context, j *job, r *reading) error {
	if r.from != "" { // before a whole reading it was asked for
		if err := e.checkNumbering(ctx, j.stream, r); err != nil {
			return &fetchError{err}
		}
	}
	b := &batch{engine: e, job: j, reading: r, progress: Progress{Stream: j.stream.Name, Pass: r.pass, Total: -1}}
	options := e.scanOptions(j.stream, r)
	options.BeforeWaiting = b.commit
	if r.window != nil && r.window.interrupted() {
		var err error
		if options.Resume, err = e.resumption(ctx, j.stream, r.window); err != nil {
			return err
		}
	}
	s := scan.New(e.source(j.stream, r), options)
	if err := b.readAll(ctx, s); err != nil {
		return err
	}
	r.findings = s.Findings()
	r.promise = r.findings.Promise
	e.learnt(j.stream, options, r.findings)
	b.progress.Finished = true
	e.show(b.progress)
	return nil
}

// scanOptions is what is known of the platform before a scan. A whole reading finds out anew which
// page sizes are honoured.
func (e *Engine) scanOptions(s *Stream, r *reading) scan.Options {
	traits := e.traits(s)
	o := scan.Options{Limit: traits.Limit, InFlight: e.InFlight, IgnoreTotal: traits.ForeignTotals}
	if o.LookBeyond = r.from == ""; !o.LookBeyond {
		o.Sizes = traits.Sizes
	}
	return o
}

// anchorOf names the last record of a slice, for people who look at the ledger.
func anchorOf(sl scan.Slice) string {
	if len(sl.Records) == 0 {
		return ""
	}
	key := sl.Records[len(sl.Records)-1].Key
	return fmt.Sprintf("%s/%s", key[0], key[1])
}

// suspend keeps how far a window has come when its reading fails, so that it goes on from there. It returns the cause.
func (e *Engine) suspend(ctx context.Context, j *job, r *reading, cause error) error {
	if r.window == nil || r.window.ID == 0 || j.options.DryRun {
		return cause
	}
	tx, err := e.Mirror.Begin(context.WithoutCancel(ctx))
	if err != nil {
		return cause // the mirror is what fails
	}
	defer tx.Rollback()
	if err := r.window.save(tx); err != nil {
		return cause
	}
	if err := tx.Commit(); err != nil {
		e.Log.Debug().Err(err).Msg("noting where the window stands")
	}
	return cause
}

// meet finds out how the platform answers. Once it has, the mirror is that platform's: a mistyped address does not bind it.
func (e *Engine) meet(ctx context.Context, s *Stream, whole bool) error {
	if err := e.ensureDialect(ctx, s, whole); err != nil {
		return &fetchError{err}
	}
	if e.dryRun {
		return nil
	}
	return e.Mirror.Bind(ctx, e.Client.BaseURL())
}

// ensureDialect finds out what is not known yet of how the platform answers, one stream at a time. Before a whole reading the first page is
// asked for anew, once in a run.
func (e *Engine) ensureDialect(ctx context.Context, s *Stream, whole bool) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	before := e.dialect.String()
	if err := e.learn(ctx, &e.dialect, s, whole); err != nil {
		return err
	}
	if e.dialect.String() != before {
		e.rememberDialect(ctx)
	}
	return nil
}

// learnt remembers what a scan has found out about page sizes, if it did.
func (e *Engine) learnt(s *Stream, assumed scan.Options, found scan.Findings) {
	e.mu.Lock()
	defer e.mu.Unlock()
	traits := e.dialect.Streams[s.Name]
	if found.Limit == assumed.Limit && found.Sizes == traits.Sizes {
		return
	}
	traits.Limit, traits.Sizes = found.Limit, found.Sizes
	e.dialect.Limit = found.Limit
	e.dialect.setTraits(s, traits)
	e.rememberDialect(context.Background())
}

// rememberDialect needs mu. A dialect that cannot be kept is found again by the next run.
func (e *Engine) rememberDialect(ctx context.Context) {
	if e.dryRun {
		return
	}
	if err := e.Mirror.SetDialect(context.WithoutCancel(ctx), e.dialect.String()); err != nil {
		e.Log.Warn().Err(err).Msg("the platform's dialect could not be remembered")
	}
}

// renewDialect has the dialect found anew, once in a run, for a reading that used an older one in
// vain. It says whether it has changed, so that reading again can help. Other streams go on with the
// old one until the new one is whole.
func (e *Engine) renewDialect(ctx context.Context, s *Stream, before Dialect) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.renewed[s.Name] {
		e.renewed[s.Name] = true
		found := e.dialect
		if err := e.learn(ctx, &found, s, true); err != nil {
			e.Log.Warn().Err(err).Str("stream", s.Name).Msg("the platform does not say how it is to be read")
			return false
		}
		e.dialect = found
		e.rememberDialect(ctx)
	}
	return e.dialect.Streams[s.Name].Numbering != before.Streams[s.Name].Numbering
}

func (e *Engine) presentDialect() Dialect {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.dialect
}

// traits is what is known of how the platform lists a stream.
func (e *Engine) traits(s *Stream) Traits {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.dialect.Streams[s.Name]
}

func (p *Progress) add(page *platform.Page, counts store.Counts) {
	p.Counts.Add(counts)
	p.Records += counts.Records
	if page.HasTotal {
		p.Total = int64(page.Total)
	}
}

func (e *Engine) show(p Progress) {
	if e.Progress == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.Progress(p)
}
