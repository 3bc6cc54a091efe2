// Package report writes the sales report: one HTML page with the answers that sales, purchasing and management ask for, without SQL.
//
// # Model
//
// The figures are read from the marts (bi_*) in one snapshot, so that they fit each other, and become a page of sections: words, charts
// and, for every chart, a table with the same values. The page needs no network and no JavaScript: charts are SVG of package charts,
// the style sheet stands in it, and a Content-Security-Policy lets it load nothing. It can be sent by e-mail, opened from a disk and printed; tables that
// are folded away on a screen are open on paper.
//
// Today is the day the marts were brought up to (_marts.as_of), not that of the clock, so that "the last 12 months" and what sold in the last 90 days end on
// one day. Series by month show up to 24 months, those without a sale as zero; what lies before, after or at no date has a line of
// its own, and so the total is that of the mart.
//
// Money has no currency sign: the platform states none. Power is kWp, as [marts] power_unit read it. A value nobody knows is a dash, which is not zero.
// Sellers are named by name; customers are counted and not named.
package report

import (
	"bufio"
	"context"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"time"

	"solarmirror/cmd/internal/charts"
	"solarmirror/store"
)

// Options are what a report depends on besides the mirror.
type Options struct {
	Language charts.Language
	Zone     *time.Location // of the times shown: the platform's
	Now      time.Time      // when the report is made
	FileMode fs.FileMode    // of a new file; [publish.MaskedMode] where the mirror is a masked copy
}

// Write writes the report on a mirror. A mirror without records gives a report that says so.
func Write(ctx context.Context, w io.Writer, mirror *store.Mirror, o Options) error {
	f, err := read(ctx, mirror, o)
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
