package pull

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"solarmirror/sync/platform"
)

// TestJoinFailures: the same cause is one line, whatever request met it; other causes have lines of their own.
func TestJoinFailures(t *testing.T) {
	t.Parallel()
	lost := func(path string) error {
		return &fetchError{&platform.TransportError{Request: platform.Request{Path: path, Attempts: 8}, Err: io.EOF}}
	}
	gone := &platform.StatusError{Request: platform.Request{Path: "/c", Attempts: 1}, Status: http.StatusNotFound}
	err := JoinFailures([]*StreamError{
		{Streams: []string{"orders"}, Err: lost("/a")}, {Streams: []string{"budgets"}, Err: gone}, {Streams: []string{"equipments"}, Err: lost("/b")},
		{Streams: []string{"orders"}, Err: lost("/d")},
	})
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "orders, equipments: GET /a: EOF (8 attempts)") || !strings.HasPrefix(lines[1], "budgets: GET /c: ") {
		t.Errorf("%q", lines)
	}
	if !errors.Is(err, io.EOF) || !as[*platform.StatusError](err) {
		t.Errorf("%v lost an error that it joins", err)
	}
	if err := JoinFailures(nil); err != nil {
		t.Error(err)
	}
}
