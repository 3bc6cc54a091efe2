package pull

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"solarmirror/sync/platform"
)

// Dialect is how a platform answers lists, as far as it was found by asking. It is remembered in _meta, and forgotten
// when it stops fitting.
type Dialect struct {
	FirstPage int    `json:"first_page"` // number of the first page
	Known     bool   `json:"known"`      // FirstPage was seen, not assumed: an empty list does not show it
	Asked     int    `json:"asked"`      // the page limit wanted when Limit was found
	Limit     int    `json:"limit"`      // rows a page is asked for, at most the platform's cap
	Proven    bool   `json:"proven"`     // the platform has answered that many rows
	Fixed     bool   `json:"fixed"`      // only this one limit may be used
	Envelope  string `json:"envelope"`   // form of the last answer seen

	// Ignores says, for each stream that was asked, whether the platform ignores the date filters.
	Ignores map[string]bool `json:"ignores_dates,omitempty"`
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
	FirstPage int // number of the first page, or FindFirstPage
	Limit     int // rows wanted per page
}

// FindFirstPage has the number of the first page found by asking.
const FindFirstPage = -1

// probeRows is how many rows a probe asks for.
const probeRows = 5

// learn asks the platform what the dialect does not say yet, by way of a stream that is about to be read. A platform that has come to
// count pages from 0 would hide its first page without a word, so that number is asked for anew where check says so.
func (e *Engine) learn(ctx context.Context, d *Dialect, s *Stream, check bool) error {
	if pinned := e.Paging.FirstPage; pinned != FindFirstPage {
		d.FirstPage, d.Known, check = pinned, true, false
	}
	probe := func(page, limit int) (*platform.Page, error) {
		return e.Client.Probe(ctx, s.Resource, platform.Filter{}, page, limit)
	}
	if !d.Known || check {
		if err := d.findFirstPage(probe); err != nil {
			return fmt.Errorf("finding the first page: %w", err)
		}
	}
	if d.Asked != e.Paging.Limit {
		if err := d.findLimit(probe, e.Paging.Limit); err != nil {
			return fmt.Errorf("finding the page limit: %w", err)
		}
	}
	if _, asked := d.Ignores[s.Name()]; !asked {
		if err := d.findFilters(ctx, e.Client, s); err != nil {
			return fmt.Errorf("finding out whether dates are looked at: %w", err)
		}
	}
	return nil
}

// findFirstPage tells apart platforms that count pages from 1, from 0, and from 1 but answer 0 as if it were 1. Rows that
// move between two requests can make them look alike; then it asks again.
func (d *Dialect) findFirstPage(probe func(page, limit int) (*platform.Page, error)) error {
	if !d.Known {
		d.FirstPage = 1
	}
	for range 5 {
		zero, err := probe(0, probeRows)
		if refused(err) {
			if _, err := probe(1, 1); err != nil {
				return err
			}
			if zero, err = probe(0, probeRows); refused(err) { // and not by a passing fault
				d.FirstPage, d.Known = 1, true
				return nil
			}
		}
		if err != nil {
			return err
		}
		d.Envelope = zero.Envelope
		one, err := probe(1, probeRows)
		switch {
		case refused(err): // a page beyond the end
			d.FirstPage, d.Known = 0, true
			return nil
		case err != nil:
			return err
		case len(zero.Records) == 0 && len(one.Records) == 0:
			return nil // nothing is learnt from an empty list
		case len(zero.Records) == 0, slices.EqualFunc(zero.Records, one.Records, slices.Equal):
			d.FirstPage, d.Known = 1, true
			return nil
		case !shareRecords(zero.Records, one.Records):
			d.FirstPage, d.Known = 0, true
			return nil
		}
	}
	return &ChurnError{Requests: 10, Planned: 2, Rows: probeRows}
}

func shareRecords(a, b [][]byte) bool {
	return slices.ContainsFunc(a, func(x []byte) bool {
		return slices.ContainsFunc(b, func(y []byte) bool { return slices.Equal(x, y) })
	})
}

// findLimit finds the greatest limit up to the wanted one that the platform does not refuse. The next greater one must be refused twice: a
// passing fault of the platform looks the same, and would be remembered.
func (d *Dialect) findLimit(probe func(page, limit int) (*platform.Page, error), wanted int) error {
	accepted := func(limit int) (bool, error) {
		page, err := probe(d.FirstPage, limit)
		if refused(err) {
			return false, nil
		}
		if err == nil {
			d.Envelope = page.Envelope
		}
		return err == nil, err
	}
	limit := 0
	for range 3 {
		found, err := greatest(wanted, accepted)
		if err != nil {
			return err
		}
		if limit = found; limit == wanted {
			break
		}
		if more, err := accepted(limit + 1); err != nil {
			return err
		} else if !more {
			break
		}
	}
	if limit == 0 {
		_, err := probe(d.FirstPage, 1)
		return fmt.Errorf("the platform refuses every page limit up to %d: %w", wanted, err)
	}
	d.Asked, d.Limit, d.Proven, d.Fixed = wanted, limit, false, false
	return nil
}

// greatest returns the greatest number up to wanted that is accepted, 0 when none is.
func greatest(wanted int, accepted func(int) (bool, error)) (int, error) {
	low, high := 0, wanted+1 // it lies in [low, high)
	for try := wanted; low < high-1; try = (low + high) / 2 {
		ok, err := accepted(try)
		if err != nil {
			return 0, err
		}
		if ok {
			low = try
		} else {
			high = try
		}
	}
	return low, nil
}

// beyond is a date on or after which nothing can have been updated.
const beyond = "2999-01-01"

// findFilters asks for what was updated in the far future. A platform that answers with rows does not look at the dates, and every
// read of it is a full one.
func (d *Dialect) findFilters(ctx context.Context, client *platform.Client, s *Stream) error {
	page, err := client.Probe(ctx, s.Resource, s.filter(live, beyond, ""), d.FirstPage, 1)
	if err != nil && !refused(err) {
		return err
	}
	if d.Ignores == nil {
		d.Ignores = map[string]bool{}
	}
	d.Ignores[s.Name()] = err == nil && len(page.Records) > 0
	return nil
}

// refused says whether the platform did answer, and did not want what was asked: not that it could not be reached, or
// did not know us.
func refused(err error) bool {
	var status *platform.StatusError
	var said *platform.RefusedError
	if errors.As(err, &status) {
		return status.Location == "" && status.Status != http.StatusTooManyRequests && status.Status != http.StatusServiceUnavailable
	}
	return errors.As(err, &said)
}

// misfits says whether an error may come of a dialect that is no longer the platform's.
func misfits(err error) bool {
	var repeated *RepeatedPageError
	return refused(err) || errors.As(err, &repeated)
}
