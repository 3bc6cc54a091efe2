// Package demo implements the demo command. It runs a simulated platform in this process, syncs a
// mirror in [Dir] with it while the platform's clock advances, prints some queries and writes the
// sales report. It needs no configuration and no network.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"solarmirror/cmd/internal/buildinfo"
	"solarmirror/cmd/internal/charts"
	"solarmirror/cmd/internal/progress"
	"solarmirror/cmd/internal/pullreport"
	"solarmirror/cmd/internal/query"
	"solarmirror/cmd/internal/report"
	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/publish"
	"solarmirror/store/sqlitefile"
	"solarmirror/sync/platform"
	"solarmirror/sync/platform/platformtest"
	"solarmirror/sync/pull"
	"solarmirror/sync/scan"
)

const (
	Dir      = "solarmirror-demo"            // in the current directory
	Days     = 30                            // by which the platform's clock advances
	Syncs    = 6                             // in Days: records are seen in more than two states
	requests = 2000                          // budgets and orders on the platform
	step     = Days * 24 * time.Hour / Syncs // from one of the Syncs to the next
	token    = "simulated-token"             // protects nothing
)

// Run replaces the files of an earlier demo in Dir and prints each step to stdout. Progress goes to
// stderr, unless quiet is set.
func Run(ctx context.Context, stdout, stderr io.Writer, quiet bool) error {
	d := &demo{stdout: stdout, stderr: stderr, quiet: quiet, path: filepath.Join(Dir, "solarmirror.db")}
	lock, err := sqlitefile.AcquireLock(ctx, d.path, "demo", false)
	if err != nil {
		return err
	}
	defer lock.Release()
	if err := d.replaceFiles(); err != nil {
		return err
	}
	// Start the platform's clock Days ago, so that it shows the present after the last step.
	d.time.Store(time.Now().Add(-Syncs * step).UnixMilli())
	url, stop, err := d.startPlatform(ctx)
	if err != nil {
		return err
	}
	defer stop()
	return d.run(ctx, url)
}

type demo struct {
	stdout, stderr io.Writer
	quiet          bool

	path string       // of the mirror
	time atomic.Int64 // of the platform's clock, in milliseconds since 1970
}

func (d *demo) now() time.Time { return time.UnixMilli(d.time.Load()) }

// replaceFiles removes the mirror of an earlier demo, and no other file, and writes the
// configuration.
func (d *demo) replaceFiles() error {
	for _, name := range []string{d.path, d.path + "-wal", d.path + "-shm"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("demo: %w; close whatever has it open", err)
		}
	}
	config := "# Written by \"solarmirror demo\".\n[mirror]\npath = \"" + filepath.ToSlash(d.path) + "\"\n"
	return os.WriteFile(filepath.Join(Dir, "config.toml"), []byte(config), 0o644)
}

// startPlatform serves the simulated platform on a free port of the loopback interface.
func (d *demo) startPlatform(ctx context.Context) (url string, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("demo: %w", err)
	}
	handler := platformtest.New(platformtest.Options{Seed: 1, Requests: requests, Token: token, Clock: d.now})
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan error, 1)
	go func() { done <- platformtest.Serve(ctx, listener, handler) }()
	return "http://" + listener.Addr().String(), func() { cancel(); <-done }, nil
}

func (d *demo) run(ctx context.Context, url string) error {
	client, err := platform.New(platform.Config{
		BaseURL: url, Token: func(context.Context) (string, error) { return token, nil },
		RequestsPerSecond: 10_000, Log: zerolog.Nop(), Now: d.now,
	})
	if err != nil {
		return err
	}
	defer client.Close()
	zone, err := time.LoadLocation("America/Sao_Paulo")
	if err != nil {
		return err
	}
	mirror, err := store.Open(ctx, d.path, store.Options{Now: d.now, Log: zerolog.Nop(), Zone: zone, FileMode: publish.MaskedMode})
	if err != nil {
		return err
	}
	defer mirror.Close()
	engine := &pull.Engine{
		Client: client, Mirror: mirror, Zone: zone, OverlapDays: 2, Paging: pull.Paging{FirstPage: scan.FindFirstPage, Limit: 50}, InFlight: 4,
		Now: time.Now, Log: zerolog.Nop(),
	}
	return d.runSteps(ctx, engine)
}

// runSteps runs the steps of the demo and prints the title and the result of each.
func (d *demo) runSteps(ctx context.Context, engine *pull.Engine) error {
	fmt.Fprintf(d.stdout, "A simulated platform with %d budgets and orders and a catalogue runs in this process.\n", requests)
	steps := []struct {
		title   string
		options pull.Options
		syncs   int // each after the clock advanced by one step; 0: one sync, the clock unchanged
	}{
		{"First sync: everything", pull.Options{}, 0},
		{fmt.Sprintf("%d days pass on the platform, with %d syncs: what was updated, and new equipment", Days, Syncs), pull.Options{}, Syncs},
		{"Prices and stock change without a trace in the filters: a full sync of the catalogue", pull.Options{Full: true}, 0},
	}
	for i, step := range steps {
		step.options.Trigger = store.TriggerManual
		streams := pull.Streams()
		if step.options.Full {
			streams = pull.FullJobStreams(schema.FullEquipments)
		}
		step.options.Streams = streams
		fmt.Fprintf(d.stdout, "\n%d. %s\n\n", i+1, step.title)
		show, done := progress.Show(d.stderr, d.quiet)
		engine.Progress = show
		report, err := d.sync(ctx, engine, step.options, step.syncs)
		done()
		if err := errors.Join(err, pullreport.PrintSync(d.stdout, d.stderr, report, false)); err != nil {
			return err
		}
	}
	if err := d.printAnswers(ctx, engine.Zone); err != nil {
		return err
	}
	d.printNextCommands()
	return nil
}

// sync runs one sync when times is 0. Otherwise it advances the clock by one step before each of so
// many syncs and returns the sum of their reports.
func (d *demo) sync(ctx context.Context, engine *pull.Engine, o pull.Options, times int) (*pull.Report, error) {
	if times == 0 {
		return engine.Sync(ctx, o)
	}
	sum := &pull.Report{Streams: make([]pull.StreamReport, len(o.Streams))}
	for range times {
		d.time.Add(step.Milliseconds())
		report, err := engine.Sync(ctx, o)
		if err != nil {
			return report, err
		}
		for i, s := range report.Streams {
			s.Counts.Add(sum.Streams[i].Counts)
			s.Requests += sum.Streams[i].Requests
			s.Duration += sum.Streams[i].Duration
			sum.Streams[i] = s
		}
	}
	return sum, nil
}

// queries work on every mirror.
var queries = []struct{ question, sql string }{
	{"What was sold, by month?", `
SELECT month, sum(orders) AS orders, round(sum(final_value), 2) AS final_value, round(sum(power_kwp), 1) AS kwp,
  round(sum(final_value) / sum(power_kwp) / 1000, 2) AS value_per_wp,
  round(100 * total(cancelled_value) / (total(final_value) + total(cancelled_value)), 1) AS cancelled_percent
FROM bi_revenue_month GROUP BY month ORDER BY month DESC LIMIT 6`},
	{"Which states buy most?", `
SELECT state, sum(orders) AS orders, round(sum(final_value), 2) AS final_value
FROM bi_revenue_month GROUP BY state ORDER BY 3 DESC LIMIT 5`},
	{"What becomes of budgets?", `
SELECT cohort_month, sum(budgets) AS budgets, sum(won) AS won, sum(open) AS open, sum(lost) AS lost, sum(cancelled) AS cancelled,
  round(100.0 * sum(won) / sum(budgets), 1) AS percent_won
FROM bi_funnel GROUP BY cohort_month ORDER BY cohort_month DESC LIMIT 6`},
	{"Whose inverters sell, and at what margin?", `
SELECT manufacturer, sum(lines) AS lines, round(sum(net_value), 2) AS net_value, round(sum(margin), 2) AS margin,
  round(100 * sum(margin) / sum(net_value_with_cost), 1) AS margin_percent
FROM bi_margin WHERE product_type = 'inverter' GROUP BY manufacturer ORDER BY 3 DESC LIMIT 5`},
	{"What runs out next?", `
SELECT s.product_code, e.name, s.center_code, s.current - s.reserved AS free, s.sold_90d, round(s.days_of_cover, 1) AS days_of_cover
FROM bi_stock s JOIN equipments e USING (equipment_key)
WHERE s.days_of_cover > 0 ORDER BY s.days_of_cover, s.sold_90d DESC LIMIT 5`},
}

// printAnswers prints the results of queries, and writes the sales report.
func (d *demo) printAnswers(ctx context.Context, zone *time.Location) error {
	reader, err := store.OpenReadOnly(ctx, d.path)
	if err != nil {
		return err
	}
	defer reader.Close()
	for _, q := range queries {
		fmt.Fprintf(d.stdout, "\n%s\n\n", q.question)
		if err := query.Print(ctx, d.stdout, reader, q.sql, "table"); err != nil {
			return err
		}
	}
	o := report.Options{Language: charts.Portuguese, Zone: zone, Now: d.now(), FileMode: publish.MaskedMode} // nobody in it is real
	return report.WriteFile(ctx, d.reportPath(), reader, o)
}

func (d *demo) reportPath() string { return filepath.Join(Dir, report.FileName) }

func (d *demo) printNextCommands() {
	config := "--config " + filepath.Join(Dir, "config.toml")
	fmt.Fprintf(d.stdout, `
The report on all this is %s: open it in a browser.
The mirror is %s: open it with any SQLite tool. To go on:

  %[3]s %[4]s status
  %[3]s %[4]s query "SELECT deal_status, count(*) FROM requests GROUP BY 1"
  %[3]s %[4]s report --open --lang en
  %[3]s schema tables
  %[3]s simulate          # a platform to sync with, from another terminal
`, d.reportPath(), d.path, buildinfo.Command(), config)
}
