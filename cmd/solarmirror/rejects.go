package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/buildinfo"
	"solarmirror/cmd/internal/setup"
	"solarmirror/cmd/internal/terminal"
	"solarmirror/cmd/internal/words"
	"solarmirror/store"
	"solarmirror/store/sqlitefile"
	"solarmirror/sync/pull"
)

func newRejectsCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "rejects",
		Short:   "Look at records that could not be loaded, and load them after all",
		Example: "  solarmirror rejects list",
	}
	cmd.AddCommand(newRejectsListCommand(a), newRejectsShowCommand(a), newRejectsReplayCommand(a))
	return cmd
}

func newRejectsListCommand(a *app) *cobra.Command {
	var limit int
	var asJSON bool
	cmd := &cobra.Command{
		Use:       "list [stream]",
		Short:     "List the records that could not be loaded, newest first",
		Example:   "  solarmirror rejects list orders",
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: pull.StreamNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := pull.ParseStreams(args); err != nil {
				return &usageError{command: cmd.CommandPath(), err: err}
			}
			filter := store.RejectFilter{Limit: limit}
			if len(args) == 1 {
				filter.Stream = args[0]
			}
			return a.withReader(cmd.Context(), func(mirror *store.Mirror) error {
				list, err := mirror.Rejects(cmd.Context(), filter)
				if err != nil {
					return err
				}
				if asJSON {
					return encodeLines(a.stdout, rejectRows(list))
				}
				return a.printRejects(list)
			})
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 100, "most `records` to list; 0 lists all")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per reject, with the names of the table _rejects: reject_id, stream, source, reason, pointer, run_id, first_seen_at; and bytes, the size of raw")
	return cmd
}

// rejectJSON is a row of the table _rejects, without the record itself.
type rejectJSON struct {
	ID          int64     `json:"reject_id"`
	Stream      string    `json:"stream"`
	Source      string    `json:"source"`
	Reason      string    `json:"reason"`
	Pointer     *string   `json:"pointer"`
	RunID       int64     `json:"run_id"`
	FirstSeenAt time.Time `json:"first_seen_at"`
	Bytes       int64     `json:"bytes"`
}

func rejectRows(list []store.RejectRecord) []rejectJSON {
	rows := make([]rejectJSON, len(list))
	for i, r := range list {
		rows[i] = rejectJSON{r.ID, r.Stream, r.Source, r.Reason, notEmpty(r.Pointer), r.RunID, r.FirstSeenAt, r.Size}
	}
	return rows
}

func (a *app) printRejects(list []store.RejectRecord) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(a.stdout, "Nothing was rejected.")
		return err
	}
	t := terminal.NewTable("id", "stream", "first seen (UTC)", "bytes", "reason", "at", "source")
	for _, r := range list {
		t.Add(r.ID, r.Stream, words.Minute(r.FirstSeenAt), r.Size, terminal.Cell(r.Reason), terminal.Cell(r.Pointer), r.Source)
	}
	if err := t.Write(a.stdout); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.stdout, "\nSee one whole with \"%s rejects show %d\".\n", buildinfo.Command(), list[0].ID)
	return err
}

func newRejectsShowCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "show ID",
		Short:   "Print one rejected record as it came",
		Long:    "Print one rejected record as it came, on standard output; what is known of it goes to standard error. On a\nterminal, characters that would control it are blanks.",
		Example: "  solarmirror rejects show 3",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ids, err := rejectIDs(args)
			if err != nil {
				return &usageError{command: cmd.CommandPath(), err: err}
			}
			return a.withReader(cmd.Context(), func(mirror *store.Mirror) error {
				r, known, err := mirror.Reject(cmd.Context(), ids[0])
				if err != nil {
					return err
				}
				if !known {
					return unknownReject(&pull.UnknownRejectError{ID: ids[0]})
				}
				return a.printReject(r)
			})
		},
	}
}

func (a *app) printReject(r store.RejectRecord) error {
	fmt.Fprintf(a.stderr, "stream  %s\nsource  %s\nreason  %s\n", r.Stream, terminal.Harmless(r.Source), terminal.Harmless(r.Reason))
	if r.Pointer != "" {
		fmt.Fprintf(a.stderr, "at      %s\n", terminal.Harmless(r.Pointer))
	}
	fmt.Fprintf(a.stderr, "first   %s UTC, run %d\n", words.Minute(r.FirstSeenAt), r.RunID)
	raw := string(r.Raw)
	if terminal.Is(a.stdout) {
		raw = terminal.HarmlessLines(raw)
	}
	_, err := fmt.Fprintln(a.stdout, raw)
	return err
}

func newRejectsReplayCommand(a *app) *cobra.Command {
	var wait, asJSON bool
	cmd := &cobra.Command{
		Use:   "replay [ID…]",
		Short: "Load rejected records after all, without asking the platform",
		Long: `Run rejected records, those named or all that wait, through the program as it is
now; an upgrade may have taught it to read them. What is accepted is loaded as when
it was first read, never over newer content. The rest stays rejected.`,
		Example: "  solarmirror rejects replay\n  solarmirror rejects replay 3 4",
		RunE: func(cmd *cobra.Command, args []string) error {
			ids, err := rejectIDs(args)
			if err != nil {
				return &usageError{command: cmd.CommandPath(), err: err}
			}
			return a.replay(cmd.Context(), ids, wait, asJSON)
		},
	}
	cmd.Flags().BoolVar(&wait, "wait", false, "wait for another run to end instead of failing with exit code 11")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per reject: reject_id, stream, became, reason, pointer")
	return cmd
}

func (a *app) replay(ctx context.Context, ids []int64, wait, asJSON bool) error {
	c, log, err := a.configAndLog()
	if err != nil {
		return err
	}
	if err := setup.FinishRestore(ctx, c, log, wait); err != nil {
		return err
	}
	if err := sqlitefile.MustExist(c.Mirror.Path); err != nil {
		return err
	}
	mirror, release, err := setup.Mirror(ctx, c, log, setup.Writing{Command: "rejects replay", Wait: wait})
	if err != nil {
		return err
	}
	defer release()
	report, err := pull.Replay(ctx, mirror, ids)
	return errors.Join(unknownReject(err), a.printReplay(report, asJSON))
}

// printReplay prints what became of each reject; nothing when the replay never began.
func (a *app) printReplay(r *pull.ReplayReport, asJSON bool) error {
	if r.RunID == 0 {
		return nil
	}
	if asJSON {
		return encodeLines(a.stdout, replayRows(r.Rejects))
	}
	if len(r.Rejects) == 0 {
		_, err := fmt.Fprintln(a.stdout, "No reject waits to be replayed.")
		return err
	}
	t := terminal.NewTable("id", "stream", "became", "reason", "at")
	for _, reject := range r.Rejects {
		if reject.Fate == pull.StillBad {
			t.Add(reject.ID, reject.Stream, reject.Fate, terminal.Cell(reject.Reason), terminal.Cell(reject.Pointer))
			continue
		}
		t.Add(reject.ID, reject.Stream, reject.Fate)
	}
	return t.Write(a.stdout)
}

// replayJSON is what became of one reject; it has a reason while it stays rejected.
type replayJSON struct {
	ID      int64   `json:"reject_id"`
	Stream  string  `json:"stream"`
	Became  string  `json:"became"`
	Reason  *string `json:"reason"`
	Pointer *string `json:"pointer"`
}

func replayRows(list []pull.Replayed) []replayJSON {
	rows := make([]replayJSON, len(list))
	for i, r := range list {
		rows[i] = replayJSON{ID: r.ID, Stream: r.Stream, Became: string(r.Fate)}
		if r.Fate == pull.StillBad {
			rows[i].Reason, rows[i].Pointer = notEmpty(r.Reason), notEmpty(r.Pointer)
		}
	}
	return rows
}

// rejectIDs reads the numbers of rejects.
func rejectIDs(args []string) ([]int64, error) {
	ids := make([]int64, len(args))
	for i, arg := range args {
		id, err := strconv.ParseInt(arg, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is no number of a reject", arg)
		}
		ids[i] = id
	}
	return ids, nil
}

// unknownReject says where to look when err names a reject that does not exist.
func unknownReject(err error) error {
	var unknown *pull.UnknownRejectError
	if !errors.As(err, &unknown) {
		return err
	}
	return fmt.Errorf("%w; \"%s rejects list\" shows those there are", err, buildinfo.Command())
}
