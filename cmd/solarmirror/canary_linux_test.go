package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"solarmirror/sync/platform/platformtest"
)

const (
	canaryToken    = "canary-token-81c0de"
	canaryPassword = "canary-password-7e57ed"
)

// watched is the program under the eyes of every other user of the machine.
type watched struct {
	*program
	onRequest atomic.Pointer[func()] // called while the program waits for an answer
}

func newWatched(t *testing.T) *watched {
	w := &watched{}
	platform := platformtest.New(platformtest.Options{Seed: 2, Requests: 60, Token: canaryToken})
	w.program = newProgram(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if look := w.onRequest.Load(); look != nil {
			(*look)()
		}
		platform.ServeHTTP(rw, r)
	}))
	w.token = canaryToken
	return w
}

func companyJSON(taxID string) string {
	return fmt.Sprintf(`{"name":"Ana","email":"%s@example.com","password":"%s","CNPJ":"%s"}`, taxID[:2], canaryPassword, taxID)
}

// TestSecretsOnNoCommandLine looks at the command lines of all processes, as any user of the machine can, while the program holds passwords and
// the token: half-way through what it reads, and at every request it makes.
func TestSecretsOnNoCommandLine(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	pipe := filepath.Join(w.dir, "companies.csv")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	w.mustShowNothing(t, "", companyJSON("11.222.333/0001-81"), "outbox", "add", "--log-level", "trace")
	w.mustShowNothing(t, "", companyJSON("12.ABC.345/01DE-35"), "outbox", "import", "-", "--format", "jsonl")
	w.mustShowNothing(t, pipe, "name,email,password,cpf\nBia,bia@example.com,"+canaryPassword+",529.982.247-25\n", "outbox", "import", pipe)
	w.mustShowNothing(t, "", "", "sync", "orders", "--log-level", "trace")
	w.mustShowNothing(t, "", "", "push", "--log-level", "trace")
	if got := w.strings(t, "SELECT group_concat(state) FROM company_creations"); got[0] != "done,done,done" {
		t.Errorf("the companies are %v, so not all has been seen", got)
	}
}

// mustShowNothing runs a command line that reads a text from standard input or from a named pipe, and looks for secrets from outside and in what
// it prints.
func (w *watched) mustShowNothing(t *testing.T, pipe, text string, args ...string) {
	t.Helper()
	cmd := w.command(t, args...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var looks atomic.Int64
	started := make(chan struct{})
	look := func() {
		<-started
		if hasCommandLine(t, cmd.Process.Pid, strings.Join(cmd.Args, " ")) {
			looks.Add(1)
		}
	}
	w.onRequest.Store(&look)
	defer w.onRequest.Store(nil)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	close(started)
	if pipe != "" {
		if in, err = os.OpenFile(pipe, os.O_WRONLY, 0); err != nil {
			t.Fatal(err)
		}
	}
	if text != "" {
		// What fills the pipe twice after the text has been written only when the text has been read.
		if _, err := io.WriteString(in, text+strings.Repeat("\n", 2*pipeSize)); err != nil {
			t.Fatal(err)
		}
		look()
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, said.Bytes())
	}
	if looks.Load() == 0 {
		t.Errorf("%v was never seen running, so nothing is proved", args)
	}
	mustHoldNoCanary(t, fmt.Sprint(args), said.Bytes())
}

const pipeSize = 64 << 10

// hasCommandLine looks at the command lines of all processes for secrets, and says whether that of one reads as given.
func hasCommandLine(t *testing.T, pid int, want string) bool {
	list, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Error(err)
	}
	seen := false
	for _, path := range list {
		raw, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		line := bytes.ReplaceAll(bytes.TrimSuffix(raw, []byte{0}), []byte{0}, []byte(" "))
		mustHoldNoCanary(t, path, line)
		seen = seen || path == fmt.Sprintf("/proc/%d/cmdline", pid) && string(line) == want
	}
	return seen
}

func mustHoldNoCanary(t *testing.T, what string, text []byte) {
	t.Helper()
	for _, canary := range []string{canaryToken, canaryPassword} {
		if i := bytes.Index(text, []byte(canary)); i >= 0 {
			t.Errorf("%s holds a secret: …%s…", what, text[max(0, i-80):min(len(text), i+80)])
		}
	}
}

// TestCrashesTellNoSecret has the program dump all its goroutines in the middle of a request, as Go does on SIGQUIT: what a crash would print
// and leave behind.
func TestCrashesTellNoSecret(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	w.mustExit(t, exitOK, "", "outbox", "keygen", "key")
	w.env = []string{"SOLARMIRROR_OUTBOX_KEY_FILE=key"}
	w.mustExit(t, exitOK, "", "sync", "orders")
	w.crash(t, "sync", "--log-level", "trace")
	w.mustExit(t, exitOK, companyJSON("11.222.333/0001-81"), "outbox", "add")
	if dump := w.crash(t, "push", "--log-level", "trace"); !bytes.Contains(dump, []byte("sync/push.(*Pusher).Push")) {
		t.Errorf("it was not pushing when it crashed:\n%s", dump)
	}
	if got := w.strings(t, "SELECT state FROM company_creations"); got[0] != "sending" {
		t.Errorf("the company is %v", got)
	}
	err := filepath.WalkDir(w.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		mustHoldNoCanary(t, path, content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// crash runs a command line up to its first request and returns what it says as it ends.
func (w *watched) crash(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := w.command(t, args...)
	cmd.Env = append(cmd.Env, "GOTRACEBACK=system")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	started, ended := make(chan struct{}), make(chan struct{})
	quit := func() {
		<-started
		_ = cmd.Process.Signal(syscall.SIGQUIT) // a second request finds it quitting
		<-ended
	}
	w.onRequest.Store(&quit)
	defer w.onRequest.Store(nil)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	close(started)
	err := cmd.Wait()
	close(ended)
	if !bytes.Contains(said.Bytes(), []byte("SIGQUIT")) || !bytes.Contains(said.Bytes(), []byte("goroutine ")) {
		t.Fatalf("%v did not crash: %v\n%s", args, err, said.Bytes())
	}
	mustHoldNoCanary(t, fmt.Sprintf("the crash of %v", args), said.Bytes())
	return said.Bytes()
}
