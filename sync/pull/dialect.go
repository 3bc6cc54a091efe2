package pull

import (
	"context"
	"encoding/json"

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

// ParseDialect reads what _meta remembers; the zero Dialect when that is nothing or of another
// time.
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

// recallDialect reads what earlier runs have found out.
func (e *Engine) recallDialect(ctx context.Context) error {
	meta, err := e.Mirror.Meta(ctx)
	e.dialect, e.renewed = ParseDialect(meta.Dialect), map[string]bool{}
	return err
}

// traits is what is known of how the platform lists a stream.
func (e *Engine) traits(s *Stream) Traits {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.dialect.Streams[s.Name]
}

// learnt remembers what a reading has found out about page sizes, if it did.
func (e *Engine) learnt(r *reading) {
	e.mu.Lock()
	defer e.mu.Unlock()
	traits, found := e.dialect.Streams[r.stream.Name], r.findings
	if found.Limit == r.traits.Limit && found.Sizes == traits.Sizes {
		return
	}
	traits.Limit, traits.Sizes = found.Limit, found.Sizes
	e.dialect.Limit = found.Limit
	e.dialect.setTraits(r.stream, traits)
	e.rememberDialect(context.Background())
}

func (e *Engine) learnForeignTotals(ctx context.Context, s *Stream) {
	e.mu.Lock()
	defer e.mu.Unlock()
	traits := e.dialect.Streams[s.Name]
	traits.ForeignTotals = true
	e.dialect.setTraits(s, traits)
	e.rememberDialect(ctx)
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
