package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/charts"
	"solarmirror/cmd/internal/config"
	"solarmirror/cmd/internal/report"
	"solarmirror/store"
)

type reportFlags struct {
	out, lang, source string
	open              bool
	restriction       report.Restriction
}

func newReportCommand(a *app) *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Write the sales report, one HTML page for any browser",
		Long: `Write one HTML page with the answers of the last 12 months: what was sold, at what
margin, how it compares with a year earlier, how many budgets are won, what is open and
unpaid, discounts, freight, prices, manufacturers, states, sellers, time in each status,
what runs out of stock, and how fresh all this is. It needs no network and no
JavaScript, and prints well; send it or put it on a share as it is.

--since, --until, --seller and --state limit the page, and its title says so. Orders
count on the day of the order, budgets on the day they were created. Stock is always
that of today, and stock and prices are those of all sellers and states.

The figures are those of the marts (bi_*), which every sync brings up to date. It names
sellers, and no customer; a new page has [mirror] file_mode, unless the names are masked.
In a masked copy (--source published) sellers have numbers and codes (p_...).
It is in Portuguese unless --lang is en, whatever the system's language, so that a
scheduled report looks like the one made by hand.`,
		Example: `  solarmirror report --open
  solarmirror report --since 2026-01-01 --until 2026-06-30 --state SP
  solarmirror report --seller ana@example.com --out ana.html
  solarmirror report --source published --lang en --out /srv/www/sales.html
  solarmirror report --out - | ssh www "cat > /srv/www/sales.html"`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range []string{"out", "since", "until", "seller", "state"} {
				if flag := cmd.Flags().Lookup(name); flag.Changed && strings.TrimSpace(flag.Value.String()) == "" {
					return &usageError{command: cmd.CommandPath(), err: fmt.Errorf("--%s is empty; give it a value, or leave it out", name)}
				}
			}
			err := a.report(cmd.Context(), f)
			var refused *report.RestrictionError
			if errors.As(err, &refused) || errors.Is(err, report.ErrNoFile) || errors.Is(err, report.ErrNoPage) || errors.Is(err, errLanguage) || errors.Is(err, errOpenNothing) {
				return &usageError{command: cmd.CommandPath(), err: err}
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.out, "out", report.FileName, "`file` to write; - is standard output")
	flags.StringVar(&f.lang, "lang", "pt", "`language`: pt or en")
	flags.StringVar(&f.source, "source", config.SourceMirror, "`copy` to read: mirror, published, or the path of another copy")
	flags.StringVar(&f.restriction.Since, "since", "", "first `day`, YYYY-MM-DD (default: 12 months)")
	flags.StringVar(&f.restriction.Until, "until", "", "last `day`, YYYY-MM-DD (default: that of the data)")
	flags.StringVar(&f.restriction.Seller, "seller", "", "`e-mail` of one seller, or the code p_... in a masked copy")
	flags.StringVar(&f.restriction.State, "state", "", "one federative `unit`: SP")
	flags.BoolVar(&f.open, "open", false, "open the page in the browser")
	return cmd
}

var reportLanguages = map[string]charts.Language{"pt": charts.Portuguese, "en": charts.English}

var (
	errLanguage    = errors.New("it must be pt or en")
	errOpenNothing = errors.New("--open opens a file, and --out - writes none; leave out one of them")
)

func (a *app) report(ctx context.Context, f reportFlags) error {
	language, known := reportLanguages[f.lang]
	if !known {
		return fmt.Errorf("--lang is %q; %w", f.lang, errLanguage)
	}
	if f.open && f.out == "-" {
		return errOpenNothing
	}
	return a.withSource(ctx, f.source, func(c config.Config, mirror *store.Mirror, _ bool) error {
		o := report.Options{Language: language, Zone: c.Platform.TimeZone, Now: time.Now(), FileMode: c.Mirror.FileMode, Restriction: f.restriction}
		if f.out == "-" {
			return report.Write(ctx, a.stdout, mirror, o)
		}
		if err := report.WriteFile(ctx, f.out, mirror, o); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(a.stdout, "The report is %s\n", f.out); err != nil || !f.open {
			return err
		}
		return openInBrowser(f.out)
	})
}

// openInBrowser has the desktop open a file. Some openers run for as long as the browser, so it
// waits for their verdict only a moment.
func openInBrowser(file string) error {
	line := map[string][]string{"darwin": {"open"}, "windows": {"rundll32", "url.dll,FileProtocolHandler"}}[runtime.GOOS]
	if line == nil {
		line = []string{"xdg-open"}
	}
	cmd := exec.Command(line[0], append(line[1:], file)...)
	err := cmd.Start()
	if err == nil {
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		select {
		case err = <-ended:
		case <-time.After(5 * time.Second):
		}
	}
	if err != nil {
		return fmt.Errorf("no browser could be opened: %w; open %s yourself", err, file)
	}
	return nil
}
