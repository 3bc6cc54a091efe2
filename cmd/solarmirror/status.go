package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/age"
	"solarmirror/store"
	"solarmirror/sync/pull"
	"solarmirror/sync/scan"
)

func newStatusCommand(a *app) *cobra.Command {
	var asJSON bool
	var maxAge time.Duration
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say how fresh the mirror is, what ran, and what was left out",
		Long: `Say up to when each stream is complete, how the platform was found to answer, what ran
last, and what was rejected or differs from the platform's documentation. With --max-age
the exit code is 12 when a stream is older than that.`,
		Example: "  solarmirror status --max-age 2h",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if maxAge < 0 {
				return &usageError{command: cmd.CommandPath(), err: fmt.Errorf("--max-age is %s; it must not be negative", maxAge)}
			}
			return a.withReader(cmd.Context(), func(mirror *store.Mirror) error {
				s, err := readStatus(cmd.Context(), mirror, time.Now())
				if err != nil {
					return err
				}
				if err := a.printStatus(s, asJSON); err != nil {
					return err
				}
				return s.stale(maxAge)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	cmd.Flags().DurationVar(&maxAge, "max-age", 0, "greatest `age` of every stream, such as 2h; 0 accepts any")
	return cmd
}

// status is what the mirror says of itself.
type status struct {
	Path          string         `json:"path"`
	BaseURL       string         `json:"base_url"`
	SchemaVersion int            `json:"schema_version"`
	ErasureDue    *time.Time     `json:"erasure_due_since"` // nil: the file holds no old copies of erased rows
	Dialect       *dialectStatus `json:"dialect"`           // nil: not found yet
	Streams       []streamStatus `json:"streams"`
	Tables        []tableStatus  `json:"tables"`
	LastRuns      []runStatus    `json:"last_runs"`
	Drift         []driftStatus  `json:"drift"`
}

// dialectStatus is how the platform answers, as far as it was found by asking.
type dialectStatus struct {
	FirstPage     *int     `json:"first_page"`    // nil: not seen yet, the lists were empty
	PageLimit     int      `json:"page_limit"`    // rows a page is asked for
	OneSize       []string `json:"one_page_size"` // the streams that are read in pages of one size, since the platform honours no other
	Envelope      string   `json:"envelope"`
	DatesIgnored  []string `json:"dates_ignored"`  // the streams whose date filters the platform does not look at
	TotalsIgnored []string `json:"totals_ignored"` // the streams whose totals count another list
}

type streamStatus struct {
	Stream          string     `json:"stream"`
	CompleteThrough *time.Time `json:"complete_through"` // nil: not yet
	AgeSeconds      *float64   `json:"age_seconds"`
	LastFullScanAt  *time.Time `json:"last_full_scan_at"`
	Rejected        int64      `json:"rejected"`
	Promise         string     `json:"promise,omitempty"` // what weakens the last clean passes
}

// age is AgeSeconds in words.
func (s *streamStatus) age() string {
	return age.Of(time.Duration(*s.AgeSeconds * float64(time.Second)))
}

type tableStatus struct {
	Table   string `json:"table"`
	Live    int64  `json:"live"`
	Deleted int64  `json:"deleted"`
}

type runStatus struct {
	RunID     int64      `json:"run_id"`
	Command   string     `json:"command"`
	StartedAt time.Time  `json:"started_at"`
	Finished  *time.Time `json:"finished_at"`
	Outcome   string     `json:"outcome"`
	Records   int64      `json:"records"`
	Inserted  int64      `json:"inserted"`
	Changed   int64      `json:"changed"`
	Rejected  int64      `json:"rejected"`
	Error     string     `json:"error,omitempty"`
}

type driftStatus struct {
	Stream      string    `json:"stream"`
	Path        string    `json:"path"`
	Kind        string    `json:"kind"`
	Occurrences int64     `json:"occurrences"`
	FirstSeenAt time.Time `json:"first_seen_at"`
}

// shownRuns is how many of the last runs are shown.
const shownRuns = 5

func readStatus(ctx context.Context, mirror *store.Mirror, now time.Time) (*status, error) {
	meta, err := mirror.Meta(ctx)
	if err != nil {
		return nil, err
	}
	s := &status{Path: mirror.Path(), BaseURL: meta.BaseURL, SchemaVersion: meta.SchemaVersion, ErasureDue: meta.ErasureDueSince, Dialect: dialectOf(meta)}
	for _, read := range []func(context.Context, *store.Mirror, time.Time) error{s.readStreams, s.readTables, s.readRuns, s.readDrift} {
		if err := read(ctx, mirror, now); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// dialectOf is nil while nothing is remembered.
func dialectOf(meta store.Meta) *dialectStatus {
	d := pull.ParseDialect(meta.Dialect)
	if d.Limit == 0 {
		return nil
	}
	s := &dialectStatus{PageLimit: d.Limit, OneSize: []string{}, Envelope: d.Envelope, DatesIgnored: []string{}, TotalsIgnored: []string{}}
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

// String is one line for people.
func (d *dialectStatus) String() string {
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

func (s *status) readStreams(ctx context.Context, mirror *store.Mirror, now time.Time) error {
	list, err := mirror.Freshness(ctx)
	for _, f := range list {
		at := streamStatus{
			Stream: f.Stream.Name, CompleteThrough: known(f.CompleteThrough), LastFullScanAt: known(f.LastFullScanAt), Rejected: f.Rejects, Promise: f.Promise,
		}
		if at.CompleteThrough != nil {
			seconds := f.Age(now).Seconds()
			at.AgeSeconds = &seconds
		}
		s.Streams = append(s.Streams, at)
	}
	return err
}

func (s *status) readTables(ctx context.Context, mirror *store.Mirror, _ time.Time) error {
	counts, err := mirror.RecordCounts(ctx)
	for _, c := range counts {
		s.Tables = append(s.Tables, tableStatus{Table: c.Table, Live: c.Live, Deleted: c.Deleted})
	}
	return err
}

func (s *status) readRuns(ctx context.Context, mirror *store.Mirror, _ time.Time) error {
	runs, err := mirror.Runs(ctx, shownRuns)
	for _, r := range runs {
		s.LastRuns = append(s.LastRuns, runStatus{
			RunID: r.ID, Command: r.Command, StartedAt: r.StartedAt, Finished: known(r.FinishedAt), Outcome: string(r.Outcome),
			Records: r.Records, Inserted: r.Inserted, Changed: r.Changed, Rejected: r.Rejected, Error: r.Error,
		})
	}
	return err
}

// readDrift puts new fields first: they are what a newer schema may have a column for.
func (s *status) readDrift(ctx context.Context, mirror *store.Mirror, _ time.Time) error {
	list, err := mirror.DriftList(ctx)
	for _, d := range list {
		s.Drift = append(s.Drift, driftStatus{Stream: d.Stream, Path: d.Path, Kind: d.Kind, Occurrences: d.Occurrences, FirstSeenAt: d.FirstSeenAt})
	}
	slices.SortStableFunc(s.Drift, func(a, b driftStatus) int { return cmp.Compare(a.rank(), b.rank()) })
	return err
}

func (d driftStatus) rank() int {
	if d.isNewField() {
		return 0
	}
	return 1
}

func (d driftStatus) isNewField() bool { return d.Kind == "unknown" }

// staleError is a stream older than --max-age allows.
type staleError struct {
	stream string
	why    string
	max    time.Duration
}

func (e *staleError) Error() string {
	return fmt.Sprintf("%s %s, and at most %s is allowed; run \"solarmirror sync\", or look at its last error above", e.stream, e.why, e.max)
}

// stale returns a *staleError for the first stream older than allowed; 0 allows any age.
func (s *status) stale(maxAge time.Duration) error {
	if maxAge == 0 {
		return nil
	}
	for _, at := range s.Streams {
		switch {
		case at.AgeSeconds == nil:
			return &staleError{stream: at.Stream, why: "has never been read to its end", max: maxAge}
		case *at.AgeSeconds > maxAge.Seconds():
			return &staleError{stream: at.Stream, why: "is " + at.age() + " old", max: maxAge}
		}
	}
	return nil
}

// finishErasure is what to do about old copies of erased rows.
const finishErasure = "end the programs that read the mirror, then: solarmirror sync"

func (a *app) printStatus(s *status, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(a.stdout).Encode(s)
	}
	base := s.BaseURL
	if base == "" {
		base = "nothing yet"
	}
	fmt.Fprintf(a.stdout, "%s mirrors %s\ndialect: %s\n", s.Path, base, s.Dialect)
	if s.ErasureDue != nil {
		fmt.Fprintf(a.stdout, "old copies of rows erased at %s (UTC) may still be in the file: %s\n", minute(*s.ErasureDue), finishErasure)
	}
	fmt.Fprintln(a.stdout)
	promises := newTable("stream", "what its last clean reads rely on")
	streams := newTable("stream", "complete through (UTC)", "age", "last full read (UTC)", "rejected")
	for _, at := range s.Streams {
		old := "never complete"
		if at.AgeSeconds != nil {
			old = at.age()
		}
		streams.add(at.Stream, minuteOrNil(at.CompleteThrough), old, minuteOrNil(at.LastFullScanAt), at.Rejected)
		if at.Promise != "" {
			promises.add(at.Stream, at.Promise)
		}
	}
	tables := newTable("table", "present", "gone")
	for _, t := range s.Tables {
		tables.add(t.Table, t.Live, t.Deleted)
	}
	runs := newTable("run", "command", "started (UTC)", "outcome", "records", "new", "changed", "rejected", "error")
	for _, r := range s.LastRuns {
		runs.add(r.RunID, r.Command, minute(r.StartedAt), r.Outcome, r.Records, r.Inserted, r.Changed, r.Rejected, printable(r.Error))
	}
	for _, t := range []*table{streams, promises, tables, runs} {
		if err := a.printSection("", t); err != nil {
			return err
		}
	}
	return a.printDrift(s.Drift)
}

func (a *app) printDrift(list []driftStatus) error {
	fields := newTable("stream", "new field", "times", "since (UTC)")
	others := newTable("stream", "differs at", "how", "times", "since (UTC)")
	for _, d := range list {
		if d.isNewField() {
			fields.add(d.Stream, printable(d.Path), d.Occurrences, minute(d.FirstSeenAt))
		} else {
			others.add(d.Stream, printable(d.Path), d.Kind, d.Occurrences, minute(d.FirstSeenAt))
		}
	}
	return errors.Join(
		a.printSection("Fields the platform sends that no column holds yet: kept in extra", fields),
		a.printSection("Values of another type or shape than documented: converted where nothing is lost, else kept in extra", others))
}

// printSection prints a table that has rows, under its title, and an empty line.
func (a *app) printSection(title string, t *table) error {
	if len(t.rows) == 0 {
		return nil
	}
	if title != "" {
		fmt.Fprintln(a.stdout, title)
	}
	if err := t.write(a.stdout); err != nil {
		return err
	}
	_, err := fmt.Fprintln(a.stdout)
	return err
}

// known is nil for the zero time.
func known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func minute(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }

func minuteOrNil(t *time.Time) any {
	if t == nil {
		return nil
	}
	return minute(*t)
}
