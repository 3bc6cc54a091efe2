package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/charts"
	"solarmirror/cmd/internal/report"
	"solarmirror/store"
)

func newReportCommand(a *app) *cobra.Command {
	var out, lang string
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Write the sales report, one HTML page for any browser",
		Long: `Write one HTML page: revenue and power by month, how many budgets are won,
discounts, manufacturers, states, sellers, time in each status, what runs out of stock
next, and how fresh all this is. It needs no network and no JavaScript, and prints well;
send it or put it on a share as it is.

The figures are those of the marts (bi_*), which every sync brings up to date. It names
sellers, and no customer; a new page has [mirror] file_mode, unless the names are masked.
It is in Portuguese unless --lang is en, whatever the system's language, so that a
scheduled report looks like the one made by hand.`,
		Example: `  solarmirror report
  solarmirror report --lang en --out /srv/www/sales.html
  solarmirror report --out - | ssh www "cat > /srv/www/sales.html"`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := a.report(cmd.Context(), out, lang)
			if errors.Is(err, report.ErrNoFile) || errors.Is(err, report.ErrNoPage) || errors.Is(err, errLanguage) {
				return &usageError{command: cmd.CommandPath(), err: err}
			}
			return err
		},
	}
	cmd.Flags().StringVar(&out, "out", report.FileName, "`file` to write; - is standard output")
	cmd.Flags().StringVar(&lang, "lang", "pt", "`language`: pt or en")
	return cmd
}

var reportLanguages = map[string]charts.Language{"pt": charts.Portuguese, "en": charts.English}

var errLanguage = errors.New("it must be pt or en")

func (a *app) report(ctx context.Context, out, lang string) error {
	language, known := reportLanguages[lang]
	if !known {
		return fmt.Errorf("--lang is %q; %w", lang, errLanguage)
	}
	c, err := a.config()
	if err != nil {
		return err
	}
	o := report.Options{Language: language, Zone: c.Platform.TimeZone, Now: time.Now(), FileMode: c.Mirror.FileMode}
	return a.withReader(ctx, func(mirror *store.Mirror) error {
		if err := a.warnOfMarts(ctx, mirror); err != nil {
			return err
		}
		if out == "-" {
			return report.Write(ctx, a.stdout, mirror, o)
		}
		if err := report.WriteFile(ctx, out, mirror, o); err != nil {
			return err
		}
		_, err := fmt.Fprintf(a.stdout, "The report is %s\n", out)
		return err
	})
}
