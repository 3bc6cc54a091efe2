package status

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"solarmirror/cmd/internal/terminal"
	"solarmirror/cmd/internal/words"
	"solarmirror/store"
)

// Run is a run of the ledger, or all runs of a backfill, as JSON has it.
type Run struct {
	RunID     int64           `json:"run_id"`
	Runs      []int64         `json:"runs,omitempty"` // of a backfill, the newest first
	Command   string          `json:"command"`
	Trigger   string          `json:"trigger"`
	StartedAt time.Time       `json:"started_at"`
	Finished  *time.Time      `json:"finished_at"`
	Outcome   string          `json:"outcome"`
	Streams   json.RawMessage `json:"streams,omitempty"` // the outcome of each
	Pages     int64           `json:"pages"`
	Records   int64           `json:"records"`
	Inserted  int64           `json:"inserted"`
	Changed   int64           `json:"changed"`
	Unchanged int64           `json:"unchanged"`
	Deleted   int64           `json:"deleted"`
	Rejected  int64           `json:"rejected"`
	Error     string          `json:"error,omitempty"`
	Windows   []Window        `json:"windows,omitempty"` // that it read last
}

// Window is a stretch of a stream that was read whole, or is being read; without dates, everything.
type Window struct {
	Stream      string     `json:"stream"`
	Pass        string     `json:"pass"`
	From        string     `json:"from,omitempty"`
	To          string     `json:"to,omitempty"`
	Pages       int64      `json:"pages"`
	Records     int64      `json:"records"`
	StartedAt   time.Time  `json:"started_at"`
	CompletedAt *time.Time `json:"completed_at"` // nil: it goes on where it stopped
	Promise     string     `json:"promise,omitempty"`
	RunID       int64      `json:"run_id"`
}

// NewRun returns a run with the windows that it read last.
func NewRun(r store.Run, windows []store.Window) Run {
	return newRun(store.Entry{Run: r, IDs: []int64{r.ID}}, windows)
}

func newRun(e store.Entry, windows []store.Window) Run {
	r := Run{
		RunID: e.ID, Command: e.Command, Trigger: e.Trigger, StartedAt: e.StartedAt, Finished: words.Known(e.FinishedAt), Outcome: string(e.Outcome),
		Streams: json.RawMessage(e.Streams), Pages: e.Pages, Records: e.Records, Inserted: e.Inserted, Changed: e.Changed, Unchanged: e.Unchanged,
		Deleted: e.Deleted, Rejected: e.Rejected, Error: e.Error,
	}
	if len(e.IDs) > 1 {
		r.Runs = e.IDs
	}
	for _, w := range windows {
		if slices.Contains(e.IDs, w.RunID) {
			r.Windows = append(r.Windows, Window{
				Stream: w.Stream, Pass: w.Pass, From: w.From, To: w.To, Pages: w.Pages, Records: w.Records, StartedAt: w.StartedAt,
				CompletedAt: words.Known(w.CompletedAt), Promise: w.Promise, RunID: w.RunID,
			})
		}
	}
	return r
}

// numbers names the run, or the first and the last of a backfill's.
func (r *Run) numbers() string {
	if len(r.Runs) == 0 {
		return fmt.Sprint(r.RunID)
	}
	return fmt.Sprintf("%d–%d", slices.Min(r.Runs), r.RunID)
}

// windowsInWords sums the windows of a backfill up; "" when it read none.
func (r *Run) windowsInWords() string {
	var stretches, open []string
	var from, to string
	for _, w := range r.Windows {
		if w.From == "" {
			continue
		}
		if stretch := w.From + w.To; !slices.Contains(stretches, stretch) {
			stretches = append(stretches, stretch)
		}
		if from == "" || w.From < from {
			from = w.From
		}
		to = max(to, w.To)
		if w.CompletedAt == nil {
			open = append(open, fmt.Sprintf("%s (%s) %s to %s", w.Stream, w.Pass, w.From, w.To))
		}
	}
	switch {
	case len(stretches) == 0:
		return ""
	case len(open) == 0:
		return fmt.Sprintf("%d windows from %s to %s, all read to their end", len(stretches), from, to)
	}
	return fmt.Sprintf("%d windows from %s to %s; not read to their end: %s", len(stretches), from, to, strings.Join(open, ", "))
}

// PrintRuns prints runs as a table, and what is to be said of each whole below it.
func PrintRuns(w io.Writer, runs []Run) error {
	t := terminal.NewTable("run", "command", "started (UTC)", "outcome", "records", "new", "changed", "rejected")
	for _, r := range runs {
		t.Add(r.numbers(), r.Command, words.Minute(r.StartedAt), r.Outcome, r.Records, r.Inserted, r.Changed, r.Rejected)
	}
	if err := t.Section(w, ""); err != nil {
		return err
	}
	said := false
	for _, r := range runs {
		for _, note := range []string{r.windowsInWords(), r.Error} {
			if note == "" {
				continue
			}
			said = true
			fmt.Fprintf(w, "run %s, %s %s:\n", r.numbers(), r.Command, r.Outcome)
			if err := terminal.Paragraph(w, "    ", note); err != nil {
				return err
			}
		}
	}
	if said {
		fmt.Fprintln(w)
	}
	return nil
}

// PrintRun prints all of one run.
func PrintRun(w io.Writer, r Run) error {
	took, ended := "", "not yet"
	if r.Finished != nil {
		took, ended = " ("+words.Age(r.Finished.Sub(r.StartedAt))+")", words.Minute(*r.Finished)
	}
	fmt.Fprintf(w, "run %s: %s, by %s, %s\n", r.numbers(), terminal.Harmless(r.Command), terminal.Harmless(r.Trigger), r.Outcome)
	fmt.Fprintf(w, "started %s UTC, ended %s%s\n", words.Minute(r.StartedAt), ended, took)
	fmt.Fprintf(w, "%d records on %d pages: %d new, %d changed, %d unchanged, %d gone, %d rejected\n",
		r.Records, r.Pages, r.Inserted, r.Changed, r.Unchanged, r.Deleted, r.Rejected)
	if r.Error != "" {
		fmt.Fprintln(w, "error:")
		if err := terminal.Paragraph(w, "    ", r.Error); err != nil {
			return err
		}
	}
	streams := map[string]string{}
	if len(r.Streams) > 0 {
		if err := json.Unmarshal(r.Streams, &streams); err != nil {
			return fmt.Errorf("streams of run %d: %w", r.RunID, err)
		}
	}
	outcomes := terminal.NewTable("stream", "outcome")
	for _, name := range slices.Sorted(maps.Keys(streams)) {
		outcomes.Add(name, streams[name])
	}
	windows := terminal.NewTable("stream", "pass", "from", "to", "pages", "records", "read to its end (UTC)", "promise")
	for _, at := range r.Windows {
		windows.Add(at.Stream, at.Pass, cmp.Or(at.From, "the beginning"), cmp.Or(at.To, "now"), at.Pages, at.Records, words.MinuteOrNil(at.CompletedAt), at.Promise)
	}
	fmt.Fprintln(w)
	return cmp.Or(outcomes.Section(w, ""), windows.Section(w, "Windows that no later run has read again"))
}
