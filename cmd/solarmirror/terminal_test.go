package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// steering holds what must not reach a terminal: 7-bit and 8-bit escapes, and bidirectional
// controls.
const steering = "\x1b]0;owned\x07\u009b31m\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"

// steeringJSON is steering as written in a JSON string.
const steeringJSON = `\u001b]0;owned\u0007` + "\u009b31m\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"

// hostilePlatform puts steering in every text it sends. Once emptied it lists no record.
func hostilePlatform(emptied *atomic.Bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := steeringJSON
		switch list := strings.Split(r.URL.Path, "/"); {
		case strings.Contains(r.URL.Path, "/budget"):
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"error":"%s"}`, s)
		case emptied.Load() || list[len(list)-2] != "1" || r.URL.Query().Get("removed") == "true":
			fmt.Fprint(w, "[]")
		case strings.Contains(r.URL.Path, "/equipments"):
			fmt.Fprintf(w, `[{"type":"%[1]s","productCode":"A%[1]s","name":"%[1]s"},{"type":"%[1]s","name":"no key %[1]s"},{"productCode":"B"},{"productCode":"C"}]`, s)
		default:
			fmt.Fprintf(w, `[{"id":"1%[1]s","name":"%[1]s","%[1]s":1,"finalValue":"%[1]s"},{"id":"2","%[1]s":1,"%[1]s":2},{"id":"3"},{"id":"4"}]`, s)
		}
	})
}

// atHostilePlatform starts a hostile platform and returns the path of a configuration for it.
func atHostilePlatform(t *testing.T) (config string, emptied *atomic.Bool) {
	t.Helper()
	emptied = &atomic.Bool{}
	server := httptest.NewServer(hostilePlatform(emptied))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	config = filepath.Join(dir, "config.toml")
	text := fmt.Sprintf("[platform]\nbase_url = %q\ntoken = \"x\"\nrequests_per_second = 1000\n[mirror]\npath = %q\n[outbox]\npath = %q\n[log]\nformat = \"console\"\n",
		server.URL, filepath.Join(dir, "mirror.db"), filepath.Join(dir, "private", "outbox.db"))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return config, emptied
}

// mustNotSteer fails when text holds a character of steering that is not printable ASCII.
func mustNotSteer(t *testing.T, what, text string) {
	t.Helper()
	if i := strings.IndexFunc(text, func(r rune) bool { return r > '~' && strings.ContainsRune(steering, r) || r == 0x1b || r == 7 }); i >= 0 {
		t.Errorf("%s: %q", what, text[max(0, i-80):min(len(text), i+40)])
	}
}

func TestNothingSteersTheTerminal(t *testing.T) {
	t.Parallel()
	config, emptied := atHostilePlatform(t)
	for _, step := range []struct {
		line  []string
		code  int
		shows string
	}{
		{[]string{"sync"}, exitPartial, "owned"},
		{[]string{"status"}, exitOK, "owned"},
		{[]string{"rejects", "list"}, exitOK, "/ ]0;owned"},
		{[]string{"rejects", "replay"}, exitOK, "/ ]0;owned"},
		{[]string{"query", "SELECT type, product_code AS \"" + steering + "\" FROM equipments"}, exitOK, "A ]0;owned"},
		{[]string{"query", "UPDATE equipments SET type = '" + steering}, exitFailed, ""},
		{[]string{"doctor"}, exitOK, ""},
		{[]string{"query", "SELECT nothing AS \"" + steering + "\""}, exitFailed, ""},
		{[]string{"verify", "equipments"}, exitOK, " ]0;owned"},
	} {
		emptied.Store(step.line[0] == "verify")
		var out bytes.Buffer
		code := run(t.Context(), append([]string{"--config", config}, step.line...), nil, &out, &out)
		if code != step.code || !strings.Contains(out.String(), step.shows) {
			t.Errorf("%q: exit code %d\n%s", step.line, code, &out)
		}
		mustNotSteer(t, step.line[0], out.String())
	}
	var data, notes bytes.Buffer
	if code := run(t.Context(), []string{"--config", config, "rejects", "show", "1"}, nil, &data, &notes); code != exitOK {
		t.Errorf("rejects show: exit code %d, %s", code, &notes)
	}
	mustNotSteer(t, "rejects show", notes.String())
	if !strings.Contains(data.String(), "\u202e") {
		t.Errorf("off a terminal a reject is not as it came: %s", &data)
	}
}
