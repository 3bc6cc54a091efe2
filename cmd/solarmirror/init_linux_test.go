package main

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"solarmirror/sync/platform/platformtest"
)

// beginner has a platform and an empty directory to set up in.
func beginner(t *testing.T) *program {
	t.Helper()
	w := newProgram(t, platformtest.New(platformtest.Options{Seed: 2, Requests: 60, Token: canaryToken}))
	w.env = []string{"SOLARMIRROR_PLATFORM_BASE_URL=", "SOLARMIRROR_PLATFORM_TOKEN="}
	w.mirror = "data/mirror/solarmirror.db"
	return w
}

// files lists what is below the directory of the program, with modes.
func (p *program) files(t *testing.T) (list []string) {
	t.Helper()
	err := filepath.WalkDir(p.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == p.dir {
			return err
		}
		info, err := entry.Info()
		name, _ := filepath.Rel(p.dir, path)
		list = append(list, info.Mode().String()+" "+name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestInitAsks has a person answer wrongly first: each is told why and asked again, and the token is not shown.
func TestInitAsks(t *testing.T) {
	t.Parallel()
	w := beginner(t)
	elsewhere := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(elsewhere.Close)
	p := sit(t, w.command(t, "init"))
	p.answer("Address of the platform: ", "")
	p.waitFor("the address is missing")
	p.answer("Address of the platform: ", "sales.example.com")
	p.waitFor("want http:// or https:// and a host")
	p.answer("Address of the platform: ", "http://127.0.0.1:1")
	p.waitFor("nothing listens there")
	p.answer("Address of the platform [http://127.0.0.1:1]: ", elsewhere.URL)
	p.answerHidden("Access token (not shown): ", canaryToken)
	p.waitFor("check [platform] base_url, which ends before /api/v2")
	p.answer("Address of the platform ["+elsewhere.URL+"]: ", w.url)
	p.answerHidden("Access token (not shown): ", "")
	p.waitFor("The token is missing.")
	p.answerHidden("Access token (not shown): ", "wrong"+canaryToken)
	p.waitFor("the platform refuses the token with 401")
	p.answerHidden("Access token (not shown): ", " "+canaryToken)
	p.mustEnd(exitOK)
	if !strings.Contains(p.stdout.String(), "\n  solarmirror sync ") || strings.Contains(p.stdout.String(), "warning") {
		t.Errorf("in the end it says:\n%s", p.stdout.String())
	}
	if strings.Contains(p.shown()+p.stdout.String(), canaryToken) {
		t.Errorf("the token is on the screen:\n%s%s", p.shown(), p.stdout.String())
	}
	want := []string{"-rw------- config.toml", "drwxr-xr-x data", "drwxr-xr-x data/mirror", "drwx------ data/private", "-rw------- platform-token"}
	if d := cmp.Diff(want, w.files(t)); d != "" {
		t.Error(d)
	}
	if token, err := os.ReadFile(filepath.Join(w.dir, "platform-token")); err != nil || string(token) != canaryToken+"\n" {
		t.Errorf("the token file holds %q, %v", token, err)
	}
	if text, err := os.ReadFile(filepath.Join(w.dir, "config.toml")); err != nil || strings.Contains(string(text), canaryToken) {
		t.Errorf("the configuration holds the token, %v", err)
	}
	if code := w.sync(t); code != exitOK {
		t.Errorf("the next sync exits with %d", code)
	}

	again := w.command(t, "init", "--config", "other.toml")
	out, err := again.CombinedOutput()
	if code := exitCodeOf(t, again, err); code != exitFailed || !strings.Contains(string(out), "platform-token is there already, and nothing is overwritten; if it holds the token, add --token-file 'platform-token'") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

// TestInitIsInterrupted presses Ctrl-C at each question, and Ctrl-D at the first: nothing is left, and the terminal is as it was.
func TestInitIsInterrupted(t *testing.T) {
	t.Parallel()
	w := beginner(t)
	for keys, code := range map[string]int{"\x03": exitInterrupted, "\x04": exitFailed} {
		early := sit(t, w.command(t, "init"))
		early.waitFor("Address of the platform: ")
		early.keys(keys)
		early.mustEnd(code)
	}
	late := sit(t, w.command(t, "init"))
	late.answer("Address of the platform: ", w.url)
	late.waitFor("Access token (not shown): ")
	late.eventually("no echo", func() bool { return !late.echoes() })
	late.keys("\x03")
	late.mustEnd(exitInterrupted)
	if left := w.files(t); left != nil {
		t.Errorf("it leaves %q", left)
	}
}

// TestInitHidesWhatIsTypedAhead types the token while the address is tried: it is taken, and not shown.
func TestInitHidesWhatIsTypedAhead(t *testing.T) {
	t.Parallel()
	simulated := platformtest.New(platformtest.Options{Seed: 2, Requests: 60, Token: canaryToken})
	answer := make(chan struct{})
	w := newProgram(t, http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		<-answer
		simulated.ServeHTTP(out, r)
	}))
	release := sync.OnceFunc(func() { close(answer) })
	t.Cleanup(release) // before the server closes, which waits for its answers
	w.env = []string{"SOLARMIRROR_PLATFORM_BASE_URL=", "SOLARMIRROR_PLATFORM_TOKEN="}
	p := sit(t, w.command(t, "init"))
	p.answer("Address of the platform: ", w.url)
	p.waitFor("asking …")
	p.eventually("no echo", func() bool { return !p.echoes() })
	p.keys(canaryToken + "\n")
	release()
	p.mustEnd(exitOK)
	if strings.Contains(p.shown()+p.stdout.String(), canaryToken) {
		t.Errorf("the token is on the screen:\n%s%s", p.shown(), p.stdout.String())
	}
}
