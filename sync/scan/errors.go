package scan

import (
	"errors"
	"fmt"
	"net/http"

	"solarmirror/sync/platform"
)

// UnstableError is a pass that came out differently every time it was read: its order changes, or
// rows are missing.
type UnstableError struct {
	Rounds  int  // how often it was read whole
	Moved   int  // unchanged rows that had changed places in the last round
	Missing int  // rows that the platform counts and no round has found
	Emptied bool // the last round was answered with nothing where rows had been listed
}

func (e *UnstableError) Error() string {
	if e.Emptied {
		return fmt.Sprintf("in the last of %d readings the platform answered with nothing where it had listed rows; "+
			"the watermark stays, run the command again later, and ask the platform's operators about an outage if that does not help", e.Rounds)
	}
	if e.Moved == 0 && e.Missing == 0 {
		return fmt.Sprintf("after %d complete readings it cannot be shown that no row was missed between two pages, since the list changes and "+
			"the platform honours too few page sizes; the watermark stays, run the command again when the platform is quieter", e.Rounds)
	}
	return fmt.Sprintf("the list is not stable: after %d complete readings %d unchanged rows had changed places and %d rows of the platform's count were missing; "+
		"the watermark stays, run the command again when the platform is quieter, and tell its operators if that does not help", e.Rounds, e.Moved, e.Missing)
}

// ChurnError is a pass that moved so much under the scan that reading it took too many requests.
type ChurnError struct {
	Requests  int // sent in this reading
	Planned   int // needed for a list that stands still
	StepsBack int // because a slice did not follow on what was read
	Rows      int // read so far
}

func (e *ChurnError) Error() string {
	return fmt.Sprintf("the list moves too much while it is read: %d requests where %d were planned, %d steps back, %d rows read; "+
		"the watermark stays, run the command again when the platform is quieter", e.Requests, e.Planned, e.StepsBack, e.Rows)
}

// RepeatedPageError is a platform that answers different pages with the same rows.
type RepeatedPageError struct{ Rows int }

func (e *RepeatedPageError) Error() string {
	return fmt.Sprintf("the platform answers different pages with the same %d rows, so it seems to ignore the page number; check platform.base_url and what stands between", e.Rows)
}

// Refused says whether the platform did answer, and did not want what was asked: not that it could
// not be reached, or did not know us.
func Refused(err error) bool {
	var status *platform.StatusError
	var said *platform.RefusedError
	if errors.As(err, &status) {
		return status.Location == "" && status.Status != http.StatusTooManyRequests && status.Status != http.StatusServiceUnavailable
	}
	return errors.As(err, &said)
}

// HiddenRowsError is a platform that answers a page with nothing, although it lists rows there.
type HiddenRowsError struct{ Page, Limit int } // the page is counted from 0

func (e *HiddenRowsError) Error() string {
	return fmt.Sprintf("the platform answers page %d of %d rows with nothing, although its first page holds those rows in another size; "+
		"it seems to end every list after a few pages. The watermark stays; ask the platform's operators about a limit of pages", e.Page+1, e.Limit)
}

// SparseError is a platform that leaves rows out of pages after it has cut them.
type SparseError struct{ Page, Rows, Full int } // the page is counted from 0

func (e *SparseError) Error() string {
	return fmt.Sprintf("page %d holds %d rows and others %d: the platform seems to filter after it cuts the list into pages, so an empty page may hide more. "+
		"The watermark stays; ask the platform's operators for totals, or to filter first", e.Page+1, e.Rows, e.Full)
}

// behindEnd says whether a page was refused in a way in which one behind the end of a list may be.
func behindEnd(err error) bool {
	var status *platform.StatusError
	if errors.As(err, &status) && status.Status >= http.StatusInternalServerError {
		return false
	}
	return Refused(err)
}
