package push

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"solarmirror/store/outbox"
)

// TestProxyThatAnswersItself has an HTTP proxy answer in the platform's place. Its page is no
// refusal: the row is in doubt, or pending where the request provably did not leave, and keeps its
// password either way. In a process of its own, which reads HTTP_PROXY anew.
func TestProxyThatAnswersItself(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		url    string
		status int // 0 is a proxy that is not there
		want   outbox.State
		says   string
	}{
		"403":            {"http://platform.example", 403, outbox.StateAmbiguous, "403 Forbidden is a web page"},
		"407":            {"http://platform.example", 407, outbox.StateAmbiguous, "407 Proxy Authentication Required is a web page"},
		"409":            {"http://platform.example", 409, outbox.StateAmbiguous, "409 Conflict is a web page"},
		"502":            {"http://platform.example", 502, outbox.StateAmbiguous, "502 Bad Gateway is a web page"},
		"no proxy":       {"http://platform.example", 0, outbox.StatePending, "no connection"},
		"CONNECT 403":    {"https://platform.example", 403, outbox.StatePending, "answered 403 Forbidden; check HTTPS_PROXY"},
		"CONNECT 407":    {"https://platform.example", 407, outbox.StatePending, "answered 407 Proxy Authentication Required; check HTTPS_PROXY"},
		"CONNECT 502":    {"https://platform.example", 502, outbox.StatePending, "answered 502 Bad Gateway; check HTTPS_PROXY"},
		"CONNECT nobody": {"https://platform.example", 0, outbox.StatePending, "no connection"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int64
			proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				asked.Add(1)
				w.Header().Set("Content-Type", "text/html")
				w.WriteHeader(c.status)
				fmt.Fprintf(w, "<html><h1>%d</h1></html>", c.status)
			}))
			defer proxy.Close()
			if c.status == 0 {
				proxy.Close()
			}
			r := newRig(t, nil)
			r.clock.ms.Store(time.Now().UnixMilli())
			r.add(company(0))
			r.server.URL = c.url
			for range 2 { // the second time it has to wait, or never goes
				cmd := r.command(childPush{Timeout: time.Minute})
				cmd.Env = append(cmd.Env, "HTTP_PROXY="+proxy.URL, "HTTPS_PROXY="+proxy.URL, "NO_PROXY=")
				var said bytes.Buffer
				cmd.Stderr = &said
				_ = cmd.Run() // nothing was decided
				mustHoldNoSecret(t, "the log", said.Bytes())
			}
			row := r.rows()[0]
			if row.State != c.want || !row.HasPassword || !strings.Contains(row.Error, c.says) {
				t.Errorf("the row is %s (%s), its password is kept: %v", row.State, row.Error, row.HasPassword)
			}
			if waits := row.NextAttemptAt.After(r.clock.now()); waits != (c.want == outbox.StatePending) {
				t.Errorf("it is sent next at %v", row.NextAttemptAt)
			}
			if n := asked.Load(); n > 1 {
				t.Errorf("the proxy was asked %d times", n)
			}
		})
	}
}
