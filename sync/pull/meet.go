package pull

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"solarmirror/schema"
	"solarmirror/sync/platform"
	"solarmirror/sync/scan"
)

// meet finds out how the platform lists a stream. Once it has, the mirror is that platform's: a
// mistyped address does not bind it.
func (e *Engine) meet(ctx context.Context, s *Stream, whole bool) (Traits, error) {
	traits, err := e.ensureDialect(ctx, s, whole)
	if err != nil || e.dryRun {
		return traits, err
	}
	return traits, e.Mirror.Bind(ctx, e.Client.BaseURL())
}

// ensureDialect finds out what is not known yet of how the platform answers, one stream at a time.
// Before a whole reading the first page is asked for anew, once in a run.
func (e *Engine) ensureDialect(ctx context.Context, s *Stream, whole bool) (Traits, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	before := e.dialect.String()
	if err := e.learn(ctx, &e.dialect, s, whole); err != nil {
		return Traits{}, &fetchError{err}
	}
	if e.dialect.String() != before {
		e.rememberDialect(ctx)
	}
	return e.dialect.Streams[s.Name], nil
}

// meetAgain has the dialect found anew, once in a run, for a reading that used an older one in
// vain. It says whether the numbering of pages has changed, so that reading again can help. Other
// streams go on with the old dialect until the new one is whole.
func (e *Engine) meetAgain(ctx context.Context, r *reading) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	name, before := r.stream.Name, r.traits.Numbering
	if !e.renewed[name] {
		e.renewed[name] = true
		found := e.dialect
		if err := e.learn(ctx, &found, r.stream, true); err != nil {
			e.Log.Warn().Err(err).Str("stream", name).Msg("the platform does not say how it is to be read")
			return false
		}
		e.dialect = found
		e.rememberDialect(ctx)
	}
	r.traits = e.dialect.Streams[name]
	return r.traits.Numbering != before
}

// learn asks the platform what the dialect does not say yet of a stream that is about to be read.
// Before a whole reading it asks for everything anew.
func (e *Engine) learn(ctx context.Context, d *Dialect, s *Stream, whole bool) error {
	traits, asked := d.Streams[s.Name]
	if asked && traits.Known && !whole && d.Asked == e.Paging.Limit {
		return nil
	}
	known := false
	for _, pass := range s.Passes {
		probe := func(ctx context.Context, page, limit int) (*platform.Page, error) {
			return e.Client.Probe(ctx, s.Resource, filterOf(pass, "", ""), page, limit)
		}
		found, err := scan.Meet(ctx, probe, e.Paging.Limit, e.Paging.FirstPage, traits.Limit)
		if err != nil && (pass == schema.Live || !scan.Refused(err)) {
			return err
		}
		if err == nil && (pass == schema.Live || found.Known) {
			traits.Numbering, known = found, found.Known
		}
		if known { // a list of no more than one page may not show it
			break
		}
	}
	if !known && d.Known { // most likely as other streams are
		traits.First = d.First
	}
	d.Asked = e.Paging.Limit
	if known || !d.Known {
		d.Numbering = traits.Numbering
	}
	if err := e.findTraits(ctx, &traits, s); err != nil {
		return fmt.Errorf("finding out whether dates are looked at: %w", err)
	}
	d.setTraits(s, traits)
	return nil
}

// beyond is a date on or after which nothing can have been updated.
const beyond = "2999-01-01"

// longAgo is a date before which nothing was updated.
const longAgo = "2000-01-01"

// findTraits asks for what was updated in the far future: nothing. A platform that answers with
// rows ignores the dates, and every reading of it is a whole one. A total that is not 0 there
// counts another list.
func (e *Engine) findTraits(ctx context.Context, t *Traits, s *Stream) error {
	t.IgnoresDates, t.ForeignTotals, t.EmptyStatus = false, false, 0
	page, err := e.Client.Probe(ctx, s.Resource, filterOf(schema.Live, beyond, ""), t.First, t.Limit)
	switch {
	case err == nil:
		t.IgnoresDates = len(page.Records) > 0
		t.ForeignTotals = !t.IgnoresDates && page.HasTotal && page.Total > 0
	case scan.Refused(err):
		t.EmptyStatus = statusOf(err)
	default:
		return err
	}
	return nil
}

// statusOf is the status of a refusal, 200 for one in the words of an answer.
func statusOf(err error) int {
	var status *platform.StatusError
	if errors.As(err, &status) {
		return status.Status
	}
	return 200
}

// NumberingError is a platform that numbers its pages otherwise than it used to.
type NumberingError struct {
	Stream string
	First  int // as remembered
}

func (e *NumberingError) Error() string {
	return fmt.Sprintf("the first page of %s is no longer page %d; run \"solarmirror sync %[1]s --full\"", e.Stream, e.First)
}

// checkNumbering fails where page 0 has become another page than page 1, or has ceased to: then the
// first page would be read past without a word.
func (e *Engine) checkNumbering(ctx context.Context, r *reading) error {
	if e.Paging.FirstPage != scan.FindFirstPage {
		return nil
	}
	var pages [2][][]byte
	for number := range pages {
		page, err := e.Client.Probe(ctx, r.stream.Resource, filterOf(r.pass, r.from, r.to), number, r.traits.Limit)
		if err != nil && !scan.Refused(err) {
			return err
		}
		if err == nil {
			pages[number] = page.Records
		}
		if zero := len(pages[0]) > 0; zero != (r.traits.First == 1) { // as it should be
			return nil
		}
	}
	moved := len(pages[0]) == 0 && len(pages[1]) > 0
	if r.traits.First == 1 {
		moved = len(pages[1]) == 0 || !bytes.Equal(pages[0][0], pages[1][0])
	}
	if moved {
		return &NumberingError{Stream: r.stream.Name, First: r.traits.First}
	}
	return nil
}

// misfits says whether an error may come of a dialect that is no longer the platform's.
func misfits(err error) bool {
	var repeated *scan.RepeatedPageError
	var numbering *NumberingError
	return scan.Refused(err) || errors.As(err, &repeated) || errors.As(err, &numbering)
}
