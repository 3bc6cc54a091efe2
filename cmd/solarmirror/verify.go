package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/progress"
	"solarmirror/cmd/internal/setup"
	"solarmirror/cmd/internal/terminal"
	"solarmirror/store"
	"solarmirror/sync/pull"
)

func newVerifyCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify [stream…]",
		Short: "Compare the mirror with the platform; changes nothing",
		Long: `Read the streams whole and compare keys, counts, content and rows with the mirror.
Exits with 3 when it finds a difference:

  missing  the platform lists the record, the mirror does not have it
  extra    the mirror has the record, the platform does not list it
  differs  the platform changed the record since the last sync: sync first
  edited   the platform did not change the record; its rows in the mirror are not those
           a sync would write: somebody edited, added or deleted rows by SQL
  orphan   child rows without a root row, named by the surrogate key they hold

"solarmirror sync --full" brings in what is missing or differs, and the second one in a row
marks what is extra as gone. "solarmirror sync --full --repair" also writes edited records
anew and deletes orphans. History, ledger and marts are not compared, nor are the rows of
records erased with "forget"; such a record differs once the platform changes it.`,
		Example:   "  solarmirror verify equipments",
		ValidArgs: pull.StreamNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			streams, err := pull.ParseStreams(args)
			if err != nil {
				return &usageError{command: cmd.CommandPath(), err: err}
			}
			return a.verify(cmd.Context(), streams, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as one JSON object")
	return cmd
}

// differencesError is a mirror that does not hold what the platform lists.
type differencesError struct {
	n      int
	totals int  // of them: the platform counts more than it lists
	repair bool // some of them a plain sync leaves as they are
}

func (e *differencesError) Error() string {
	if e.n == e.totals {
		return "the platform counts more records than it lists; ask its operators for them: no command can read them"
	}
	command := "solarmirror sync --full"
	if e.repair {
		command += " --repair"
	}
	return fmt.Sprintf("%d differences; run %q, then verify again", e.n, command)
}

func (a *app) verify(ctx context.Context, streams []*pull.Stream, asJSON bool) error {
	c, err := a.config()
	if err != nil {
		return err
	}
	log, err := a.log()
	if err != nil {
		return err
	}
	client, err := setup.Client(c, log, nil)
	if err != nil {
		return err
	}
	defer client.Close()
	return a.withReader(ctx, func(mirror *store.Mirror) error {
		engine := setup.Engine(c, log, client, mirror)
		show, done := progress.Show(a.stderr, a.flags.quiet)
		engine.Progress = show
		list, err := engine.Verify(ctx, streams)
		done()
		if err != nil {
			return err
		}
		return errors.Join(a.printVerification(list, asJSON), discrepancy(list))
	})
}

// discrepancy is what the exit code follows from.
func discrepancy(list []pull.Verification) error {
	var found differencesError
	var failed []error
	for _, v := range list {
		found.n += len(v.Differences)
		for _, d := range v.Differences {
			if d.Kind == pull.DiffTotal {
				found.totals++
			}
		}
		found.repair = found.repair || slices.ContainsFunc(v.Differences, pull.Difference.NeedsRepair)
		if v.Err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", v.Stream, v.Err))
		}
	}
	switch {
	case len(failed) == len(list):
		return errors.Join(failed...)
	case len(failed) > 0:
		return &pull.PartialError{Err: errors.Join(failed...)}
	case found.n > 0:
		return &found
	}
	return nil
}

type verificationJSON struct {
	Stream      string           `json:"stream"`
	Platform    int              `json:"platform"`
	Mirror      int              `json:"mirror"`
	Rejected    int              `json:"rejected"`
	Erased      int              `json:"erased"`
	Differences []differenceJSON `json:"differences"`
	Error       string           `json:"error,omitempty"`
}

type differenceJSON struct {
	Type   string   `json:"type"`
	Key    string   `json:"key"`
	Kind   string   `json:"kind"`
	Tables []string `json:"tables,omitempty"`
}

func differencesJSON(list []pull.Difference) []differenceJSON {
	out := make([]differenceJSON, len(list))
	for i, d := range list {
		out[i] = differenceJSON{Type: d.Key[0], Key: d.Key[1], Kind: d.Kind, Tables: d.Tables}
	}
	return out
}

func newDifferenceTable() *terminal.Table {
	return terminal.NewTable("stream", "type", "key", "how", "tables")
}

// addDifferences adds rows up to shownDifferences.
func addDifferences(t *terminal.Table, list []pull.Difference) {
	for _, d := range list[:min(len(list), shownDifferences-t.Len())] {
		t.Add(d.Stream, d.Key[0], terminal.Cell(d.Key[1]), d.Kind, strings.Join(d.Tables, ", "))
	}
}

// shownDifferences is how many differences the table lists; --json lists all.
const shownDifferences = 50

func (a *app) printVerification(list []pull.Verification, asJSON bool) error {
	if asJSON {
		return a.printVerificationJSON(list)
	}
	sums := terminal.NewTable("stream", "on the platform", "in the mirror", "missing", "extra", "different", "edited", "orphans", "rejected")
	rows, erased := newDifferenceTable(), 0
	for _, v := range list {
		if v.Err != nil { // the error is told apart
			sums.Add(v.Stream, nil, nil, nil, nil, nil, nil, nil, nil)
			continue
		}
		count := map[string]int{}
		for _, d := range v.Differences {
			count[d.Kind]++
		}
		erased += v.Erased
		addDifferences(rows, v.Differences)
		sums.Add(v.Stream, v.Platform, v.Mirror, count[pull.DiffMissing], count[pull.DiffExtra], count[pull.DiffContent],
			count[pull.DiffEdited], count[pull.DiffOrphan], v.Rejected)
	}
	if err := sums.Write(a.stdout); err != nil {
		return err
	}
	if erased > 0 {
		fmt.Fprintf(a.stdout, "\n%d erased with \"forget\": their rows are not compared\n", erased)
	}
	if rows.Len() == 0 {
		return nil
	}
	fmt.Fprintln(a.stdout)
	return rows.Write(a.stdout)
}

func (a *app) printVerificationJSON(list []pull.Verification) error {
	out := struct {
		At      time.Time          `json:"at"`
		Streams []verificationJSON `json:"streams"`
	}{At: time.Now().UTC()}
	for _, v := range list {
		s := verificationJSON{Stream: v.Stream, Platform: v.Platform, Mirror: v.Mirror, Rejected: v.Rejected, Erased: v.Erased, Differences: differencesJSON(v.Differences)}
		if v.Err != nil {
			s.Error = v.Err.Error()
		}
		out.Streams = append(out.Streams, s)
	}
	return json.NewEncoder(a.stdout).Encode(out)
}
