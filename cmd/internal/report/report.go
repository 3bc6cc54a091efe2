// Package report writes the sales report: one HTML page that answers the questions of sales,
// purchasing and management without SQL.
//
// # Model
//
// The figures are read in one snapshot of the marts (bi_*), so that they agree with one another.
// They become a page of sections; each has one answer in words, charts, and tables with every value
// of the charts. The page loads nothing: charts are SVG, the style sheet is inside, there is no
// script, and a Content-Security-Policy forbids the rest. So it can be mailed, opened from a disk
// and printed.
//
// A [Restriction] limits the page to a seller, a state or a range of days. Orders count on the day
// of the order, budgets on the day of their creation. Sections about the catalogue (stock, prices)
// and the streams cannot be restricted to sellers or states, and say so. Figures without a
// restriction are those of the summaries (bi_revenue_month, bi_margin, …); they are computed from
// the facts because the summaries do not carry every restriction.
//
// Today is the day of the marts (_marts.as_of), not that of the clock, so that all sections end on
// the same day. Cards and rankings show the last 12 months, the running one included, and cards
// compare them with the same period one year earlier; sentences about shares are about these days, or
// name theirs. Series show up to 24 months; older and undated orders, and those of days to come,
// have lines of their own, so that a total is that of the mart.
//
// Money has no currency sign, because the platform states no currency. Power is in kWp. An unknown
// value is a dash, which is not zero. Customers are counted, never named. Sellers have names; in a
// masked copy they have numbers, in order of value.
package report

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"time"

	"solarmirror/cmd/internal/charts"
	"solarmirror/store"
)

// Options are the parameters of a report.
type Options struct {
	Language    charts.Language
	Zone        *time.Location // the platform's, for times
	Now         time.Time      // when the report is made
	FileMode    fs.FileMode    // of a new file; [publish.MaskedMode] where the mirror is a masked copy
	Restriction Restriction
}

// Write writes the report on a mirror. For a mirror without records the report says so. A
// restriction that makes no sense for the data is a [*RestrictionError].
func Write(ctx context.Context, w io.Writer, mirror *store.Mirror, o Options) error {
	f, err := read(ctx, mirror, o)
	if refused := (*RestrictionError)(nil); errors.As(err, &refused) {
		return refused
	}
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	p, err := newPage(f, o)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	buffered := bufio.NewWriter(w)
	if err := pageTemplate.Execute(buffered, p); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if err := buffered.Flush(); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string

	pageTemplate = template.Must(template.New("page").Parse(pageHTML))
)
