package pullreport

import (
	"encoding/json"
	"fmt"
	"io"

	"solarmirror/cmd/internal/progress"
	"solarmirror/cmd/internal/terminal"
	"solarmirror/store"
	"solarmirror/sync/pull"
)

// SyncFields are the fields of PrintSync's JSON, for the help.
const SyncFields = "run_id, dry_run, outcome, streams (stream, full, seen, new, changed, unchanged, rejected, requests, seconds, rows_per_second, outcome, repairs, error)"

type reportJSON struct {
	RunID   int64        `json:"run_id,omitempty"`  // absent in a dry run
	DryRun  bool         `json:"dry_run,omitempty"` // nothing was written
	Outcome string       `json:"outcome"`
	Streams []streamJSON `json:"streams"`
}

type streamJSON struct {
	Stream    string  `json:"stream"`
	Full      bool    `json:"full"`
	Seen      int64   `json:"seen"`
	New       int64   `json:"new"`
	Changed   int64   `json:"changed"`
	Unchanged int64   `json:"unchanged"`
	Rejected  int64   `json:"rejected"`
	Requests  int64   `json:"requests"`
	Seconds   float64 `json:"seconds"`
	RowsPerS  float64 `json:"rows_per_second"`
	Outcome   string  `json:"outcome"`

	Repairs []differenceJSON `json:"repairs,omitempty"`
	Error   string           `json:"error,omitempty"`
}

func newStreamJSON(s pull.StreamReport) streamJSON {
	out := streamJSON{
		Stream: s.Stream, Outcome: string(s.Outcome()), Full: s.Full, Seen: s.Counts.Records, New: s.Counts.Inserted, Changed: s.Counts.Changed,
		Unchanged: s.Counts.Unchanged, Rejected: s.Counts.Rejected, Requests: s.Requests,
		Seconds: s.Duration.Seconds(), RowsPerS: progress.PerSecond(s.Counts.Records, s.Duration), Repairs: differencesJSON(s.Repairs),
	}
	if s.Outcome() == store.Failed {
		out.Error = s.Err.Error()
	}
	return out
}

// NothingWritten is the last line of a dry run.
const NothingWritten = "Dry run: nothing was written. The same command without --dry-run writes it."

// PrintSync prints the result of a run to w, and notes what stands beside it: how many records were
// rejected and the command that lists them, and the last line of a dry run where the result is
// JSON.
func PrintSync(w, notes io.Writer, r *pull.Report, asJSON bool) error {
	if len(r.Streams) == 0 {
		return nil // the run never started; its error gives the cause
	}
	if rejected := r.Total().Rejected; rejected > 0 {
		fmt.Fprintf(notes, "%d records could not be loaded and are kept as they came; see \"solarmirror rejects list\"\n", rejected)
	}
	last := w
	if asJSON {
		last = notes
	}
	if err := printSync(w, r, asJSON); err != nil || !r.DryRun {
		return err
	}
	_, err := fmt.Fprintln(last, "\n"+NothingWritten)
	return err
}

func printSync(w io.Writer, r *pull.Report, asJSON bool) error {
	if asJSON {
		return printSyncJSON(w, r)
	}
	return printSyncTable(w, r)
}

func printSyncJSON(w io.Writer, r *pull.Report) error {
	out := reportJSON{RunID: r.RunID, DryRun: r.DryRun, Outcome: string(r.Outcome)}
	for _, s := range r.Streams {
		out.Streams = append(out.Streams, newStreamJSON(s))
	}
	return json.NewEncoder(w).Encode(out)
}

func printSyncTable(w io.Writer, r *pull.Report) error {
	repairs, repaired := newDifferenceTable(), 0
	t := terminal.NewTable("stream", "seen", "new", "changed", "unchanged", "rejected", "requests", "seconds", "rows/s", "outcome")
	for _, s := range r.Streams {
		v := newStreamJSON(s)
		outcome := v.Outcome
		if r.DryRun {
			outcome += ", nothing written"
		}
		t.Add(v.Stream, v.Seen, v.New, v.Changed, v.Unchanged, v.Rejected, v.Requests,
			fmt.Sprintf("%.1f", v.Seconds), fmt.Sprintf("%.0f", v.RowsPerS), outcome)
		addDifferences(repairs, s.Repairs)
		repaired += len(s.Repairs)
	}
	if err := t.Write(w); err != nil || repaired == 0 {
		return err
	}
	done := "repaired"
	if r.DryRun {
		done = "to be repaired"
	}
	fmt.Fprintf(w, "\n%d differences %s:\n", repaired, done)
	return repairs.Write(w)
}
