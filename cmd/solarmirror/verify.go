package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"solarmirror/store"
	"solarmirror/sync/pull"
)

func newVerifyCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify [stream…]",
		Short: "Compare the mirror with the platform; changes nothing",
		Long: `Read the streams whole and compare keys, counts and content with the mirror. Lists
what is missing, extra or different, and exits with 3 when there is any of it. What was
updated since the last sync differs, rightly: sync first.`,
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
type differencesError struct{ n int }

func (e *differencesError) Error() string {
	return fmt.Sprintf("%d records differ; run \"solarmirror sync --full\", then verify again", e.n)
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
	client, err := newClient(c, log, nil)
	if err != nil {
		return err
	}
	defer client.Close()
	return a.withReader(ctx, func(mirror *store.Mirror) error {
		engine := newEngine(c, log, client, mirror)
		show, done := a.newProgress()
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
	n := 0
	var failed []error
	for _, v := range list {
		n += len(v.Differences)
		if v.Err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", v.Stream, v.Err))
		}
	}
	switch {
	case len(failed) == len(list):
		return errors.Join(failed...)
	case len(failed) > 0:
		return &pull.PartialError{Err: errors.Join(failed...)}
	case n > 0:
		return &differencesError{n}
	}
	return nil
}

type verificationJSON struct {
	Stream      string           `json:"stream"`
	Platform    int              `json:"platform"`
	Mirror      int              `json:"mirror"`
	Rejected    int              `json:"rejected"`
	Differences []differenceJSON `json:"differences"`
	Error       string           `json:"error,omitempty"`
}

type differenceJSON struct {
	Type string `json:"type"`
	Key  string `json:"key"`
	Kind string `json:"kind"`
}

// shownDifferences is how many differences the table lists; --json lists all.
const shownDifferences = 50

func (a *app) printVerification(list []pull.Verification, asJSON bool) error {
	if asJSON {
		return a.printVerificationJSON(list)
	}
	sums := newTable("stream", "on the platform", "in the mirror", "missing", "extra", "different", "rejected")
	rows := newTable("stream", "type", "key", "how")
	for _, v := range list {
		if v.Err != nil { // the error is told apart
			sums.add(v.Stream, nil, nil, nil, nil, nil, nil)
			continue
		}
		count := map[string]int{}
		for _, d := range v.Differences {
			if count[d.Kind]++; len(rows.rows) < shownDifferences {
				rows.add(v.Stream, d.Key[0], printable(d.Key[1]), d.Kind)
			}
		}
		sums.add(v.Stream, v.Platform, v.Mirror, count[pull.DiffMissing], count[pull.DiffExtra], count[pull.DiffContent], v.Rejected)
	}
	if err := sums.write(a.stdout); err != nil || len(rows.rows) == 0 {
		return err
	}
	fmt.Fprintln(a.stdout)
	return rows.write(a.stdout)
}

func (a *app) printVerificationJSON(list []pull.Verification) error {
	out := struct {
		At      time.Time          `json:"at"`
		Streams []verificationJSON `json:"streams"`
	}{At: time.Now().UTC()}
	for _, v := range list {
		s := verificationJSON{Stream: v.Stream, Platform: v.Platform, Mirror: v.Mirror, Rejected: v.Rejected, Differences: []differenceJSON{}}
		for _, d := range v.Differences {
			s.Differences = append(s.Differences, differenceJSON{Type: d.Key[0], Key: d.Key[1], Kind: d.Kind})
		}
		if v.Err != nil {
			s.Error = v.Err.Error()
		}
		out.Streams = append(out.Streams, s)
	}
	return json.NewEncoder(a.stdout).Encode(out)
}
