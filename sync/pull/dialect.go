package pull

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"solarmirror/schema"
	"solarmirror/sync/platform"
	"solarmirror/sync/scan"
)

// Dialect is how a platform answers lists, as far as it was found by asking. It is remembered in
// _meta, and found anew when it stops fitting.
type Dialect struct {
	scan.Numbering                   // of the stream that was asked last
	Asked          int               // the page limit wanted when the limits were found
	Streams        map[string]Traits `json:",omitempty"` // by name, of those that were asked
}

// Traits is how a platform lists one stream.
type Traits struct {
	scan.Numbering
	IgnoresDates  bool       `json:",omitempty"` // the date filters have no effect
	EmptyStatus   int        `json:",omitempty"` // status with which an empty list is refused; 0 when it is answered
	ForeignTotals bool       `json:",omitempty"` // totals do not count the list that was asked for
	Sizes         scan.Sizes `json:",omitempty"` // page sizes that are honoured
}

func (d *Dialect) setTraits(s *Stream, t Traits) {
	streams := map[string]Traits{s.Name: t}
	for name, other := range d.Streams { // copies of the dialect may be in use
		if name != s.Name {
			streams[name] = other
		}
	}
	d.Streams = streams
}

// ParseDialect reads what _meta remembers; the zero Dialect when that is nothing or of another time.
func ParseDialect(text string) Dialect {
	var d Dialect
	if json.Unmarshal([]byte(text), &d) != nil {
		return Dialect{}
	}
	return d
}

func (d Dialect) String() string {
	text, err := json.Marshal(d)
	if err != nil {
		panic(err) // plain fields marshal
	}
	return string(text)
}

// Paging says what the engine may assume of the platform's pages.
type Paging struct {
	FirstPage int // number of the first page, or scan.FindFirstPage
	Limit     int // rows wanted per page
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

// findTraits asks for what was updated in the far future: nothing. A platform that answers with rows
// ignores the dates, and every reading of it is a whole one. A total that is not 0 there counts another list.
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

// source is the list that a reading reads. A bound in the far future is another address for it.
func (e *Engine) source(s *Stream, r *reading) scan.Source {
	filter, traits := filterOf(r.pass, r.from, r.to), e.traits(s)
	first, empty := traits.First, traits.EmptyStatus
	sure := filterOf(schema.Live, "", "") // a list that is not empty, asked for in the same way
	if r.from != "" {
		sure = filterOf(schema.Live, longAgo, "")
	}
	probe := func(ctx context.Context, page, limit int) (*platform.Page, error) {
		return e.Client.Probe(ctx, s.Resource, filter, first+page, limit)
	}
	fetch := func(ctx context.Context, page, limit int) (*platform.Page, error) {
		got, err := e.Client.List(ctx, s.Resource, filter, first+page, limit)
		if page > 0 || empty == 0 || !scan.Refused(err) || statusOf(err) != empty {
			return got, err
		}
		// The platform refuses empty lists so, but in an outage others, too.
		other, failed := e.Client.Probe(ctx, s.Resource, sure, first, limit)
		if failed != nil || filter == sure {
			return got, err
		}
		if got, err = probe(ctx, page, limit); scan.Refused(err) && statusOf(err) == empty {
			other.Records, other.HasTotal = nil, false
			return other, nil
		}
		return got, err
	}
	source := scan.Source{Fetch: fetch, Probe: probe, Identify: s.identify}
	if r.to == "" {
		source.Again = func(ctx context.Context, way, page, limit int) (*platform.Page, error) {
			until := filterOf(r.pass, r.from, fmt.Sprintf("2999-12-%02d", way))
			return e.Client.Probe(ctx, s.Resource, until, first+page, limit)
		}
	}
	return source
}

// NumberingError is a platform that numbers its pages otherwise than it used to.
type NumberingError struct {
	Stream string
	First  int // as remembered
}

func (e *NumberingError) Error() string {
	return fmt.Sprintf("the first page of %s is no longer page %d; run \"solarmirror sync %[1]s --full\"", e.Stream, e.First)
}

// checkNumbering fails where page 0 has become another page than page 1, or has ceased to: then the first
// page would be read past without a word.
func (e *Engine) checkNumbering(ctx context.Context, s *Stream, r *reading) error {
	if e.Paging.FirstPage != scan.FindFirstPage {
		return nil
	}
	traits := e.traits(s)
	var pages [2][][]byte
	for number := range pages {
		page, err := e.Client.Probe(ctx, s.Resource, filterOf(r.pass, r.from, r.to), number, traits.Limit)
		if err != nil && !scan.Refused(err) {
			return err
		}
		if err == nil {
			pages[number] = page.Records
		}
		if zero := len(pages[0]) > 0; zero != (traits.First == 1) { // as it should be
			return nil
		}
	}
	moved := len(pages[0]) == 0 && len(pages[1]) > 0
	if traits.First == 1 {
		moved = len(pages[1]) == 0 || !bytes.Equal(pages[0][0], pages[1][0])
	}
	if moved {
		return &NumberingError{Stream: s.Name, First: traits.First}
	}
	return nil
}

// misfits says whether an error may come of a dialect that is no longer the platform's.
func misfits(err error) bool {
	var repeated *scan.RepeatedPageError
	var numbering *NumberingError
	return scan.Refused(err) || errors.As(err, &repeated) || errors.As(err, &numbering)
}
