package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/config"
	"solarmirror/store"
	"solarmirror/sync/pull"
)

type backfillFlags struct {
	from, to string
	chunk    string
	plan     bool
	restart  bool
	asJSON   bool
}

func newBackfillCommand(a *app) *cobra.Command {
	var f backfillFlags
	cmd := &cobra.Command{
		Use:   "backfill --from DATE [--to DATE] [stream…]",
		Short: "Read a stretch of the past, window by window",
		Long: `Read what was updated (equipment: created) between two dates, window by window.
A finished window is not read again, an interrupted one goes on where it stopped; so
the same command may be stopped and started as often as need be. Between two windows
other runs get their turn. The end is a read of what was updated meanwhile.`,
		Example:   "  solarmirror backfill --from 2024-01-01 --to 2024-12-31 orders\n  solarmirror backfill --from 2024-01-01 --plan",
		ValidArgs: pull.StreamNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			streams, err := pull.ParseStreams(args)
			if err != nil {
				return &usageError{command: cmd.CommandPath(), err: err}
			}
			return a.backfill(cmd.Context(), cmd.CommandPath(), f, streams)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.from, "from", "", "first `day`, YYYY-MM-DD")
	flags.StringVar(&f.to, "to", "", "last `day`, YYYY-MM-DD (default today)")
	flags.StringVar(&f.chunk, "chunk", string(pull.Month), "length of a `window`: month, week or day")
	flags.BoolVar(&f.plan, "plan", false, "print the windows, what they hold and how long they take, and read nothing")
	flags.BoolVar(&f.restart, "restart", false, "read finished windows again")
	flags.BoolVar(&f.asJSON, "json", false, "print the result as one JSON object")
	if err := cmd.MarkFlagRequired("from"); err != nil {
		panic(err) // the flag stands above
	}
	return cmd
}

// options checks the flags.
func (f backfillFlags) options(streams []*pull.Stream, today time.Time) (pull.BackfillOptions, error) {
	o := pull.BackfillOptions{Chunk: pull.Chunk(f.chunk), Restart: f.restart}
	o.Streams, o.Trigger = streams, store.TriggerManual
	var err error
	if o.From, err = parseDay("--from", f.from); err != nil {
		return o, err
	}
	o.To = today
	if f.to != "" {
		if o.To, err = parseDay("--to", f.to); err != nil {
			return o, err
		}
	}
	if o.To.After(today) {
		o.To = today
	}
	return o, o.Check()
}

func parseDay(flag, text string) (time.Time, error) {
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return day, fmt.Errorf("%s %q is no day of the form YYYY-MM-DD", flag, text)
	}
	return day, nil
}

func (a *app) backfill(ctx context.Context, command string, f backfillFlags, streams []*pull.Stream) error {
	c, err := a.config()
	if err != nil {
		return err
	}
	year, month, day := time.Now().In(c.Platform.TimeZone).Date()
	o, err := f.options(streams, time.Date(year, month, day, 0, 0, 0, 0, time.UTC))
	if err != nil {
		return &usageError{command: command, err: err}
	}
	if f.plan {
		return a.planBackfill(ctx, c, o, f.asJSON)
	}
	report := &pull.Report{Outcome: store.OK}
	windows := o.Stretches()
	for i, at := range windows {
		a.announceWindow(i, len(windows), at)
		err := a.withEngine(ctx, c, writeFlags{command: "backfill", wait: true}, func(e *pull.Engine) error {
			done, err := e.BackfillWindow(ctx, o, at)
			report.Merge(done)
			return err
		})
		if err != nil {
			return errors.Join(err, a.printReport(report, f.asJSON))
		}
	}
	err = a.withEngine(ctx, c, writeFlags{command: "backfill", wait: true}, func(e *pull.Engine) error {
		done, err := e.BackfillTail(ctx, o)
		report.Merge(done)
		return err
	})
	return errors.Join(err, a.printReport(report, f.asJSON))
}

func (a *app) announceWindow(i, n int, at pull.Stretch) {
	if !a.flags.quiet {
		fmt.Fprintf(a.stderr, "window %d of %d: %s to %s\n", i+1, n, at.From, at.To)
	}
}

func (a *app) planBackfill(ctx context.Context, c config.Config, o pull.BackfillOptions, asJSON bool) error {
	return a.withEngine(ctx, c, writeFlags{command: "backfill", dryRun: true}, func(e *pull.Engine) error {
		plan, err := e.PlanBackfill(ctx, o)
		if err != nil {
			return err
		}
		if asJSON {
			return json.NewEncoder(a.stdout).Encode(planJSON(plan))
		}
		return a.printPlan(plan, c.Platform.RequestsPerSecond)
	})
}

type windowJSON struct {
	Stream   string `json:"stream"`
	Pass     string `json:"pass"`
	From     string `json:"from"`
	To       string `json:"to"`
	Done     bool   `json:"done"`
	Records  *int   `json:"records"` // null: the platform does not count
	Requests int    `json:"requests"`
}

func planJSON(plan []pull.WindowPlan) []windowJSON {
	list := make([]windowJSON, len(plan))
	for i, p := range plan {
		list[i] = windowJSON{Stream: p.Stream, Pass: p.Pass, From: p.Stretch.From, To: p.Stretch.To, Done: p.Done, Requests: p.Requests}
		if p.Records >= 0 {
			list[i].Records = &plan[i].Records
		}
	}
	return list
}

func (a *app) printPlan(plan []pull.WindowPlan, perSecond float64) error {
	t := newTable("stream", "pass", "from", "to", "records", "requests", "")
	records, requests := 0, 0
	for _, p := range plan {
		var n any
		state := ""
		switch {
		case p.Done:
			state = "done"
		case p.Records < 0:
			state = "the platform does not count"
		default:
			n = p.Records
			records += p.Records
			requests += p.Requests
		}
		t.add(p.Stream, p.Pass, p.Stretch.From, p.Stretch.To, n, p.Requests, state)
	}
	if err := t.write(a.stdout); err != nil {
		return err
	}
	took := (time.Duration(float64(requests)/perSecond) * time.Second).String()
	_, err := fmt.Fprintf(a.stdout, "\n%d windows, %d records, about %d requests, at least %s at %g requests a second. Nothing was read or written.\n",
		len(plan), records, requests, took, perSecond)
	return err
}
