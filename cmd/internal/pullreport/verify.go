package pullreport

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"solarmirror/cmd/internal/terminal"
	"solarmirror/store"
	"solarmirror/sync/pull"
)

// DifferencesError reports unexplained differences between mirror and platform.
type DifferencesError struct {
	n      int
	totals int  // of n: the platform counts more records than it lists
	repair bool // some differences need "sync --full --repair"
}

func (e *DifferencesError) Error() string {
	if e.n == e.totals {
		return "the platform counts more records than it lists; ask its operators for them: no command can read them"
	}
	command := "solarmirror sync --full"
	if e.repair {
		command += " --repair"
	}
	differences := "differences"
	if e.n == 1 {
		differences = "difference"
	}
	return fmt.Sprintf("%d unexplained %s; run %q, then verify again", e.n, differences, command)
}

// Discrepancy returns the error of a verification, which decides the exit code: nil when every
// stream was read and no difference is unexplained, a *DifferencesError when every stream was read
// and one is, and a *pull.PartialError when some streams, but not all, could not be read.
func Discrepancy(list []pull.Verification) error {
	var found DifferencesError
	var failed []*pull.StreamError
	for _, v := range list {
		unexplained := inState(v.Differences, store.Unexplained)
		found.n += len(unexplained)
		for _, d := range unexplained {
			if d.Kind == pull.DiffTotal {
				found.totals++
			}
			found.repair = found.repair || d.NeedsRepair()
		}
		if v.Err != nil {
			failed = append(failed, &pull.StreamError{Streams: []string{v.Stream}, Err: v.Err})
		}
	}
	switch {
	case len(failed) == len(list):
		return pull.JoinFailures(failed)
	case len(failed) > 0:
		return &pull.PartialError{Err: pull.JoinFailures(failed)}
	case found.n > 0:
		return &found
	}
	return nil
}

func inState(list []pull.Difference, state store.State) (some []pull.Difference) {
	for _, d := range list {
		if d.State == state {
			some = append(some, d)
		}
	}
	return some
}

// Pending counts the pending differences of a verification.
func Pending(list []pull.Verification) (n int) {
	for _, v := range list {
		n += len(inState(v.Differences, store.Pending))
	}
	return n
}

type verificationJSON struct {
	Stream      string           `json:"stream"`
	Platform    *int             `json:"platform"` // this and the other counts are null when it could not be compared
	Mirror      *int             `json:"mirror"`
	Rejected    *int             `json:"rejected"`
	Erased      *int             `json:"erased"`
	Differences []differenceJSON `json:"differences"`
	Error       string           `json:"error,omitempty"`
}

// PrintVerification prints the result of a verification.
func PrintVerification(w io.Writer, list []pull.Verification, asJSON bool) error {
	if asJSON {
		return printVerificationJSON(w, list)
	}
	sums := terminal.NewTable("stream", "on the platform", "in the mirror", "missing", "extra", "different", "edited", "orphans", "rejected")
	unexplained, pending, erased := newDifferenceTable(), newDifferenceTable(), 0
	for _, v := range list {
		if v.Err != nil { // which Discrepancy returns
			sums.Add(v.Stream)
			continue
		}
		count := map[string]int{}
		for _, d := range v.Differences {
			count[d.Kind]++
		}
		erased += v.Erased
		addDifferences(unexplained, inState(v.Differences, store.Unexplained))
		addDifferences(pending, inState(v.Differences, store.Pending))
		sums.Add(v.Stream, v.Platform, v.Mirror, count[pull.DiffMissing], count[pull.DiffExtra], count[pull.DiffContent],
			count[pull.DiffEdited], count[pull.DiffOrphan], v.Rejected)
	}
	if err := sums.Write(w); err != nil {
		return err
	}
	if erased > 0 {
		fmt.Fprintf(w, "\n%d erased with \"forget\": their rows are not compared\n", erased)
	}
	if unexplained.Len() > 0 {
		fmt.Fprintln(w)
		if err := unexplained.Write(w); err != nil {
			return err
		}
	}
	if pending.Len() == 0 {
		return nil
	}
	if n := Pending(list); n == 1 {
		fmt.Fprint(w, "\n1 difference is pending: the next sync or full reads are expected to settle it\n")
	} else {
		fmt.Fprintf(w, "\n%d differences are pending: the next sync or full reads are expected to settle them\n", n)
	}
	return pending.Write(w)
}

func printVerificationJSON(w io.Writer, list []pull.Verification) error {
	out := struct {
		At      time.Time          `json:"at"`
		Streams []verificationJSON `json:"streams"`
	}{At: time.Now().UTC()}
	for _, v := range list {
		s := verificationJSON{Stream: v.Stream, Differences: differencesJSON(v.Differences)}
		if v.Err != nil {
			s.Error = v.Err.Error()
		} else {
			s.Platform, s.Mirror, s.Rejected, s.Erased = &v.Platform, &v.Mirror, &v.Rejected, &v.Erased
		}
		out.Streams = append(out.Streams, s)
	}
	return json.NewEncoder(w).Encode(out)
}
