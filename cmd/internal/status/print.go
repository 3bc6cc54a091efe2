package status

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"

	"solarmirror/cmd/internal/terminal"
	"solarmirror/cmd/internal/words"
)

// Print prints the status as tables, or as one JSON object.
func (s *Status) Print(w io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(s)
	}
	fmt.Fprintf(w, "%s mirrors %s\ndialect: %s\n", s.Path, cmp.Or(s.BaseURL, "nothing yet"), s.Dialect)
	if s.ErasureDue != nil {
		fmt.Fprintf(w, "old copies of rows erased at %s (UTC) may still be in the file: %s\n", words.Minute(*s.ErasureDue), FinishErasure)
	}
	if s.MartsBehind {
		fmt.Fprintln(w, MartsBehind)
	}
	if len(s.FailedMarts) > 0 {
		fmt.Fprintf(w, "%s: solarmirror marts list\n", FailedMarts(s.FailedMarts))
	}
	if len(s.Undecided) > 0 {
		fmt.Fprintf(w, "deal statuses in no list of [marts], so neither lost, cancelled nor closed: %s\n", s.Undecided.First(10))
	}
	fmt.Fprintln(w)
	promises := terminal.NewTable("stream", "what its last clean reads rely on")
	streams := terminal.NewTable("stream", "complete through (UTC)", "age", "last full read (UTC)", "rejected")
	for _, at := range s.Streams {
		age := "never complete"
		if at.AgeSeconds != nil {
			age = at.age()
		}
		streams.Add(at.Stream, words.MinuteOrNil(at.CompleteThrough), age, words.MinuteOrNil(at.LastFullScanAt), at.Rejected)
		if at.Promise != "" {
			promises.Add(at.Stream, at.Promise)
		}
	}
	tables := terminal.NewTable("table", "present", "gone")
	for _, t := range s.Tables {
		tables.Add(t.Table, t.Live, t.Deleted)
	}
	return cmp.Or(streams.Section(w, ""), promises.Section(w, ""), tables.Section(w, ""), PrintRuns(w, s.LastRuns), printDrift(w, s.Drift))
}

func printDrift(w io.Writer, list []drift) error {
	fields := terminal.NewTable("stream", "new field", "times", "since (UTC)")
	others := terminal.NewTable("stream", "differs at", "how", "times", "since (UTC)")
	for _, d := range list {
		if d.isNewField() {
			fields.Add(d.Stream, terminal.Cell(d.Path), d.Occurrences, words.Minute(d.FirstSeenAt))
		} else {
			others.Add(d.Stream, terminal.Cell(d.Path), d.Kind, d.Occurrences, words.Minute(d.FirstSeenAt))
		}
	}
	return cmp.Or(
		fields.Section(w, "Fields the platform sends that no column holds yet: kept in extra"),
		others.Section(w, "Values of another type or shape than documented: converted where nothing is lost, else kept in extra"))
}
