package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/config"
	"solarmirror/cmd/internal/pullreport"
	"solarmirror/cmd/internal/setup"
	"solarmirror/cmd/internal/terminal"
	"solarmirror/store"
	"solarmirror/sync/platform"
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
		ValidArgs: pull.StreamNames(), Annotations: map[string]string{goesOn: "yes"},
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
	flags.BoolVar(&f.plan, "plan", false, "print the windows, what they hold and how long they take; reads no window and writes nothing")
	flags.BoolVar(&f.restart, "restart", false, "read finished windows again")
	flags.BoolVar(&f.asJSON, "json", false, "print the result as one JSON object: "+pullreport.SyncFields+"; with --plan: windows (stream, pass, from, to, done, records, pages, requests), records, pages, requests, seconds, plan_requests")
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
	b := &backfill{app: a, options: o, report: &pull.Report{Outcome: store.OK}}
	return a.observed([]string{"backfill"}, func() error {
		return errors.Join(b.run(ctx), pullreport.PrintSync(a.stdout, a.stderr, b.report, f.asJSON))
	})
}

// backfill is one backfill command at work.
type backfill struct {
	*app
	options pull.BackfillOptions // its streams are those that have not failed
	report  *pull.Report
	failed  []*pull.StreamError // why the others have
}

// run reads what is left to read, giving the mirror's lock back after each window.
func (b *backfill) run(ctx context.Context) error {
	var pending []pull.Stretch
	var all int
	err := b.locked(ctx, func(e *pull.Engine) (err error) {
		pending, all, err = e.PendingStretches(ctx, b.options)
		return err
	})
	if err != nil {
		return err
	}
	began := time.Now()
	for i, at := range pending {
		b.announce(at, all-len(pending)+i+1, all, left(time.Since(began), i, len(pending)))
		err := b.read(ctx, func(e *pull.Engine) (*pull.Report, error) { return e.BackfillWindow(ctx, b.options, at) })
		if err != nil {
			return err
		}
	}
	err = b.read(ctx, func(e *pull.Engine) (*pull.Report, error) { return e.BackfillTail(ctx, b.options) })
	if err == nil && len(b.failed) > 0 {
		return &pull.PartialError{Err: pull.JoinFailures(b.failed)}
	}
	return err
}

func (b *backfill) locked(ctx context.Context, work func(*pull.Engine) error) error {
	return b.withEngine(ctx, setup.Writing{Command: "backfill", Wait: true}, nil, work)
}

// read does one reading. Streams that fail while others do not are left out from then on.
func (b *backfill) read(ctx context.Context, reading func(*pull.Engine) (*pull.Report, error)) error {
	var done *pull.Report
	err := b.locked(ctx, func(e *pull.Engine) (err error) {
		done, err = reading(e)
		return err
	})
	if done != nil {
		b.report.Merge(done)
	}
	var partial *pull.PartialError
	if !errors.As(err, &partial) {
		return err
	}
	for _, r := range done.Streams {
		if r.Err != nil {
			b.failed = append(b.failed, &pull.StreamError{Streams: []string{r.Stream}, Err: r.Err})
			b.options.Streams = slices.DeleteFunc(slices.Clone(b.options.Streams), func(s *pull.Stream) bool { return s.Name == r.Stream })
		}
	}
	return nil
}

func (b *backfill) announce(at pull.Stretch, n, all int, left time.Duration) {
	if b.flags.quiet {
		return
	}
	line := fmt.Sprintf("window %d of %d: %s to %s", n, all, at.From, at.To)
	if left > 0 {
		line += fmt.Sprintf(", about %s left", left)
	}
	fmt.Fprintln(b.stderr, line)
}

// left is how long the windows that are left take, if they take as long as those that are done; 0 before the first is.
func left(took time.Duration, done, all int) time.Duration {
	if done == 0 {
		return 0
	}
	return (took / time.Duration(done) * time.Duration(all-done)).Round(time.Second)
}

func (a *app) planBackfill(ctx context.Context, c config.Config, o pull.BackfillOptions, asJSON bool) error {
	var sent atomic.Int64
	count := func(platform.Exchange) { sent.Add(1) }
	return a.withEngine(ctx, setup.Writing{Command: "backfill", DryRun: true}, count, func(e *pull.Engine) error {
		asks, err := e.PlanRequests(ctx, o)
		if err != nil {
			return err
		}
		if asks > quietPlan {
			took := time.Duration(float64(asks) / c.Platform.RequestsPerSecond * float64(time.Second)).Round(time.Second)
			fmt.Fprintf(a.stderr, "the plan itself asks the platform what each window holds: about %d requests, at least %s at %g requests a second\n",
				asks, took, c.Platform.RequestsPerSecond)
		}
		plan, err := e.PlanBackfill(ctx, o)
		if err != nil {
			return err
		}
		out := newPlanJSON(plan, c.Platform.RequestsPerSecond)
		out.PlanRequests = sent.Load()
		if asJSON {
			return json.NewEncoder(a.stdout).Encode(out)
		}
		return a.printPlan(out, c.Platform.RequestsPerSecond)
	})
}

// quietPlan is how many requests a plan makes at the most without a word beforehand.
const quietPlan = 20

// planJSON is a plan as --json prints it.
type planJSON struct {
	Windows  []windowJSON `json:"windows"`
	Records  int          `json:"records"`
	Pages    int          `json:"pages"`
	Requests int          `json:"requests"`
	Seconds  float64      `json:"seconds"` // at least, by requests_per_second

	PlanRequests int64 `json:"plan_requests"` // that the plan itself has made
}

type windowJSON struct {
	Stream   string `json:"stream"`
	Pass     string `json:"pass"`
	From     string `json:"from"`
	To       string `json:"to"`
	Done     bool   `json:"done"`
	Records  *int   `json:"records"` // null: done, or the platform does not count
	Pages    int    `json:"pages"`
	Requests int    `json:"requests"`
}

func newPlanJSON(plan []pull.WindowPlan, perSecond float64) planJSON {
	out := planJSON{Windows: make([]windowJSON, len(plan))}
	for i, p := range plan {
		out.Windows[i] = windowJSON{
			Stream: p.Stream, Pass: p.Pass, From: p.Stretch.From, To: p.Stretch.To, Done: p.Done, Pages: p.Pages, Requests: p.Requests,
		}
		if p.Records >= 0 {
			out.Windows[i].Records = &plan[i].Records
			out.Records += p.Records
		}
		out.Pages += p.Pages
		out.Requests += p.Requests
	}
	out.Seconds = float64(out.Requests) / perSecond
	return out
}

func (a *app) printPlan(plan planJSON, perSecond float64) error {
	t := terminal.NewTable("stream", "pass", "from", "to", "records", "pages", "requests", "")
	for _, w := range plan.Windows {
		var records any
		state := ""
		switch {
		case w.Done:
			state = "done"
		case w.Records == nil:
			state = "the platform does not count"
		default:
			records = *w.Records
		}
		t.Add(w.Stream, w.Pass, w.From, w.To, records, w.Pages, w.Requests, state)
	}
	if err := t.Write(a.stdout); err != nil {
		return err
	}
	took := time.Duration(plan.Seconds * float64(time.Second)).Round(time.Second)
	_, err := fmt.Fprintf(a.stdout, "\n%d windows, %d records on %d pages, about %d requests, at least %s at %g requests a second. The plan made %d requests; nothing was written.\n",
		len(plan.Windows), plan.Records, plan.Pages, plan.Requests, took, perSecond, plan.PlanRequests)
	return err
}
