package pull

import (
	"errors"
	"slices"
	"strings"

	"solarmirror/sync/platform"
)

// StreamError is one failure, and the streams that it stopped.
type StreamError struct {
	Streams []string
	Err     error // of the first of them
}

func (e *StreamError) Error() string { return strings.Join(e.Streams, ", ") + ": " + e.Err.Error() }
func (e *StreamError) Unwrap() error { return e.Err }

// JoinFailures joins the failures of streams. Each cause is told once, since an outage of the platform stops all
// streams. No failure is nil.
func JoinFailures(list []*StreamError) error {
	var causes []error
	told := map[string]*StreamError{}
	for _, e := range list {
		cause := platform.Cause(e.Err)
		if told[cause] == nil {
			told[cause] = &StreamError{Err: e.Err}
			causes = append(causes, told[cause])
		}
		for _, stream := range e.Streams {
			if !slices.Contains(told[cause].Streams, stream) {
				told[cause].Streams = append(told[cause].Streams, stream)
			}
		}
	}
	return errors.Join(causes...)
}
