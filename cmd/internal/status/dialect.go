package status

import (
	"fmt"
	"strings"

	"solarmirror/store"
	"solarmirror/sync/pull"
	"solarmirror/sync/scan"
)

// Dialect describes how the platform answers, as syncs observed it.
type Dialect struct {
	FirstPage     *int     `json:"first_page"`    // nil: unknown, because the lists were empty
	PageLimit     int      `json:"page_limit"`    // rows per page in a request
	OneSize       []string `json:"one_page_size"` // streams with one working page size only
	Envelope      string   `json:"envelope"`
	DatesIgnored  []string `json:"dates_ignored"`  // streams whose date filters have no effect
	TotalsIgnored []string `json:"totals_ignored"` // streams whose totals count another list
}

// DialectOf returns the dialect saved in a mirror; nil before the first sync.
func DialectOf(meta store.Meta) *Dialect {
	d := pull.ParseDialect(meta.Dialect)
	if d.Limit == 0 {
		return nil
	}
	s := &Dialect{PageLimit: d.Limit, OneSize: []string{}, Envelope: d.Envelope, DatesIgnored: []string{}, TotalsIgnored: []string{}}
	if d.Known {
		s.FirstPage = &d.First
	}
	for _, stream := range pull.StreamNames() {
		traits := d.Streams[stream]
		if traits.IgnoresDates {
			s.DatesIgnored = append(s.DatesIgnored, stream)
		}
		if traits.ForeignTotals {
			s.TotalsIgnored = append(s.TotalsIgnored, stream)
		}
		if traits.Sizes == scan.SizesOne {
			s.OneSize = append(s.OneSize, stream)
		}
	}
	return s
}

// String formats the dialect as one line; a nil Dialect is allowed.
func (d *Dialect) String() string {
	if d == nil {
		return "not found yet; the first sync asks"
	}
	first := "first page not known yet"
	if d.FirstPage != nil {
		first = fmt.Sprintf("first page %d", *d.FirstPage)
	}
	parts := []string{first, fmt.Sprintf("page limit %d", d.PageLimit)}
	if d.Envelope != "" {
		parts = append(parts, "envelope "+d.Envelope)
	}
	if len(d.DatesIgnored) > 0 {
		parts = append(parts, "dates ignored for "+strings.Join(d.DatesIgnored, ", "))
	}
	if len(d.TotalsIgnored) > 0 {
		parts = append(parts, "totals not used for "+strings.Join(d.TotalsIgnored, ", "))
	}
	if len(d.OneSize) > 0 {
		parts = append(parts, "pages of one size for "+strings.Join(d.OneSize, ", "))
	}
	return strings.Join(parts, ", ")
}
