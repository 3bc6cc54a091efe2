package pull

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"solarmirror/store/testsize"
)

// undated keeps the server's date from an answer.
type undated struct{ http.ResponseWriter }

func (w undated) Write(body []byte) (int, error) {
	w.Header()["Date"] = nil
	return w.ResponseWriter.Write(body)
}

// A clock that is ahead or behind for a sync, by as much as a year, loses no update: the syncs after it, with the clock right again,
// bring the mirror up to date by themselves, and no interval of the history ends before it begins.
func TestClockThatJumps(t *testing.T) {
	t.Parallel()
	requests, err := ParseStreams([]string{"orders"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tells := range []bool{true, false} {
		for _, jump := range testsize.Some([]time.Duration{365 * 24 * time.Hour, 30 * time.Minute, -30 * time.Minute, -365 * 24 * time.Hour}) {
			t.Run(fmt.Sprintf("by %v, dated answers %v", jump, tells), func(t *testing.T) {
				t.Parallel()
				list := &datedList{zone: time.UTC}
				right := newClock("2026-03-10T15:00:00Z")
				list.clock = right // the server's clock is right throughout
				r := newRigFor(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
					if !tells {
						w = undated{w}
					}
					list.ServeHTTP(w, req)
				}))
				list.updated = []time.Time{right.now().Add(-time.Hour)}
				sync := func(off time.Duration) {
					r.clock.ms.Store(right.now().Add(off).UnixMilli())
					r.sync(Options{Streams: requests})
				}
				sync(0)
				right.advance(time.Hour)
				list.updated[0] = right.now() // the record changes as the clock is wrong
				sync(jump)
				right.advance(time.Hour)
				list.updated[0] = right.now() // and once more when it is right again
				list.updated = append(list.updated, right.now())
				right.advance(time.Hour)
				sync(0)
				sync(0)
				if got, want := r.query("SELECT name FROM requests ORDER BY id"), [][]any{{list.updated[0].String()}, {list.updated[1].String()}}; diff(want, got) != "" {
					t.Error(diff(want, got))
				}
				if n := r.value("SELECT count(*) FROM request_status_history WHERE valid_to < valid_from"); n != int64(0) {
					t.Errorf("%v intervals end before they begin", n)
				}
				for _, pass := range []string{"live", "removed"} {
					mark, _, err := r.mirror.Watermark(t.Context(), "orders", pass)
					if err != nil || mark.Watermark != "2026-03-10" || mark.CompleteThrough.After(right.now()) {
						t.Errorf("the watermark of %s: %+v, %v", pass, mark, err)
					}
				}
				if ahead := r.value("SELECT count(*) FROM requests WHERE _changed_at > '2026-03-10 18:00:00.000'"); tells && ahead != int64(0) {
					t.Errorf("%v records changed in the future, although the server told the time", ahead)
				}
			})
		}
	}
}
