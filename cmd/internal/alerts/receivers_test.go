package alerts

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"
)

// What no message, log line or file may hold.
const (
	canaryPassword = "c4nary-p4ssword"
	canaryToken    = "c4narytokenc4nary"
	canaryPerson   = "ana.souza@example.com"
)

func TestMain(m *testing.M) {
	firstWait = 20 * time.Millisecond
	code := m.Run()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// hook is a web hook that takes what it gets.
type hook struct {
	*httptest.Server
	got    chan string
	answer func(http.ResponseWriter, *http.Request) // after it was taken; nil: 200
}

func newHook(t *testing.T, answer http.HandlerFunc) *hook {
	t.Helper()
	h := &hook{got: make(chan string, 100), answer: answer}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		h.got <- r.URL.Path + " " + string(body)
		if h.answer != nil {
			h.answer(w, r)
		}
	}))
	t.Cleanup(h.Close)
	return h
}

// address is the hook as one to alert, with secrets in it.
func (h *hook) address() string {
	return strings.Replace(h.URL, "http://", "generic+http://ops:"+canaryPassword+"@", 1) + "/hook/" + canaryToken + "?template=json"
}

func (h *hook) next(t *testing.T) string {
	t.Helper()
	select {
	case text := <-h.got:
		return text
	case <-time.After(time.Minute):
		t.Fatal("nothing came")
		return ""
	}
}

// fails answers as many requests with 500, which quotes what should not be told.
func fails(times int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if times--; times >= 0 {
			http.Error(w, canaryPerson, http.StatusInternalServerError)
		}
	}
}

// mailbox is an SMTP server that takes what it gets.
func mailbox(t *testing.T) (address string, got chan string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	got = make(chan string, 10)
	var served sync.WaitGroup
	served.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			takeMail(conn, got)
		}
	})
	t.Cleanup(func() { _ = listener.Close(); served.Wait() })
	return "smtp://" + listener.Addr().String() + "/?from=solarmirror@example.com&to=ops@example.com&auth=None&encryption=None&usestarttls=No", got
}

func takeMail(conn net.Conn, got chan<- string) {
	defer conn.Close()
	lines := bufio.NewScanner(conn)
	say := func(text string) { fmt.Fprintf(conn, "%s\r\n", text) }
	say("220 here")
	for lines.Scan() {
		switch command, _, _ := strings.Cut(lines.Text(), " "); command {
		case "DATA":
			say("354 go on")
			var mail strings.Builder
			for lines.Scan() && lines.Text() != "." {
				mail.WriteString(lines.Text() + "\n")
			}
			got <- mail.String()
			say("250 taken")
		case "QUIT":
			say("221 bye")
			return
		default:
			say("250 yes")
		}
	}
}

// logged is a log that may be read meanwhile.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// process is one that watches, beside others.
func process(path string, log io.Writer, addresses ...string) Options {
	return Options{
		Path: path, Log: zerolog.New(log), Now: time.Now, Tongue: Tongue{Lang: "pt", Zone: time.UTC}, Once: true,
		Addresses: func(context.Context) ([]string, error) { return addresses, nil },
		Ping:      func(context.Context) (string, error) { return "", nil },
		Facts:     func(string) Facts { return Facts{Every: time.Hour} },
		Look:      func(context.Context) Look { return Look{} },
	}
}

func mustHoldNoSecret(t *testing.T, what, text string) {
	t.Helper()
	for _, secret := range []string{canaryPassword, canaryToken, canaryPerson, "Ana Souza"} {
		if strings.Contains(text, secret) {
			t.Errorf("%s holds %s:\n%s", what, secret, text)
		}
	}
}

// Each address gets each message once, whatever the others do; what one process could not send the
// next one does.
func TestReceivers(t *testing.T) {
	t.Parallel()
	path, log := filepath.Join(t.TempDir(), "m.db.alerts"), &logged{}
	release := make(chan struct{})
	good, unwell := newHook(t, nil), newHook(t, fails(1000))
	hanging := newHook(t, func(http.ResponseWriter, *http.Request) { <-release })
	nonsense, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var talking sync.WaitGroup
	talking.Go(func() {
		for conn, err := nonsense.Accept(); err == nil; conn, err = nonsense.Accept() {
			if r, err := http.ReadRequest(bufio.NewReader(conn)); err == nil { // an answer before it is told in other words
				_, _ = io.Copy(io.Discard, r.Body)
			}
			fmt.Fprintf(conn, "SSH-2.0 %s\r\n", canaryToken)
			_ = conn.Close()
		}
	})
	t.Cleanup(func() { _ = nonsense.Close(); talking.Wait() })
	down := newHook(t, nil)
	downAddress := down.address()
	down.Close()
	mail, mails := mailbox(t)
	addresses := []string{hanging.address(), downAddress, unwell.address(), "generic+http://" + nonsense.Addr().String() + "/" + canaryToken, mail, good.address()}

	w := Start(process(path, log, addresses...))
	w.Ended("sync", time.Now(), fmt.Errorf("of %q: %w", canaryPerson, errRefused))
	var message struct{ Title, Message string }
	if err := json.Unmarshal([]byte(strings.TrimPrefix(good.next(t), "/hook/"+canaryToken+" ")), &message); err != nil {
		t.Fatal(err)
	}
	if message.Title != "solarmirror: a plataforma não aceita o token, ou falta um" || !strings.Contains(message.Message, "Causa: the platform refused the token with 401 Unauthorized\nDigite: solarmirror doctor") {
		t.Errorf("the message is %+v", message)
	}
	posted := <-mails
	if !strings.Contains(posted, "Subject: =?utf-8?q?solarmirror:_a_plataforma_n=C3=A3o_aceita") || !strings.Contains(posted, "Digite: solarmirror doctor") {
		t.Errorf("the mail is %s", posted)
	}
	hanging.next(t)
	unwell.next(t)
	w.Stop(100 * time.Millisecond)
	close(release)
	state, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	mustHoldNoSecret(t, "the state", string(state))
	mustHoldNoSecret(t, "the mail", posted)
	mustHoldNoSecret(t, "the message", message.Title+message.Message)
	for _, want := range []string{"500 Internal Server Error", "malformed HTTP", "refused"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %s:\n%s", want, log)
		}
	}

	unwell.answer = nil
	w = Start(process(path, log, addresses[0], addresses[2], addresses[4], addresses[5]))
	w.Ended("sync", time.Now(), nil)
	for _, h := range []*hook{hanging, unwell} {
		for _, want := range []string{"solarmirror: a plataforma", "solarmirror: resolvido"} {
			if got := h.next(t); !strings.Contains(got, want) {
				t.Errorf("after a restart: %s, want %s", got, want)
			}
		}
	}
	if got := good.next(t); !strings.Contains(got, "resolvido") {
		t.Errorf("what was sent is sent again: %s", got)
	}
	w.Stop(time.Minute)
	mustHoldNoSecret(t, "the log", log.String())
	if s, err := readState(path); err != nil || len(s.Queue) > 0 || len(s.Incidents) > 0 {
		t.Errorf("all is sent, and there are %+v, %v", s, err)
	}
}

// What fails is tried again, and does not keep the process waiting for ever.
func TestSendingIsTriedAgain(t *testing.T) {
	t.Parallel()
	unwell, log := newHook(t, fails(2)), &logged{}
	w := Start(process(filepath.Join(t.TempDir(), "m.alerts"), log, unwell.address()))
	w.Ended("sync", time.Now(), errRefused)
	w.Stop(time.Minute)
	if n := strings.Count(log.String(), "could not be sent"); n != 2 || len(unwell.got) != 3 {
		t.Errorf("%d failures, %d requests\n%s", n, len(unwell.got), log)
	}
}

// Two processes share the file: an incident that both see is told once.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	path, log, receiver := filepath.Join(t.TempDir(), "m.alerts"), &logged{}, newHook(t, nil)
	one, other := Start(process(path, log, receiver.address())), Start(process(path, log, receiver.address()))
	for range 5 {
		one.Ended("sync", time.Now(), errRefused)
		other.Ended("full_equipments", time.Now(), errRefused)
	}
	var both sync.WaitGroup
	both.Go(func() { one.Stop(time.Minute) })
	both.Go(func() { other.Stop(time.Minute) })
	both.Wait()
	if len(receiver.got) != 1 {
		t.Errorf("%d messages\n%s", len(receiver.got), log)
	}
}

// While another process sends, none does; one that died meanwhile is not waited for longer than
// half a minute.
func TestOneProcessSends(t *testing.T) {
	t.Parallel()
	path, log, receiver := filepath.Join(t.TempDir(), "m.alerts"), &logged{}, newHook(t, nil)
	for until, want := range map[time.Duration]int{20 * time.Second: 0, -time.Second: 1, time.Hour: 1} {
		s := &State{Format: stateFormat, SendingUntil: time.Now().Add(until)}
		if err := s.write(path); err != nil {
			t.Fatal(err)
		}
		w := Start(process(path, log, receiver.address()))
		w.Ended("sync", time.Now(), errRefused)
		w.Stop(time.Second)
		for range want {
			receiver.next(t)
		}
		if len(receiver.got) != 0 {
			t.Errorf("%v: %d messages too many", until, len(receiver.got))
		}
	}
}

// Pings come in their order, with the cause of a failure and nothing more.
func TestPings(t *testing.T) {
	t.Parallel()
	receiver, log := newHook(t, nil), &logged{}
	o := process("", log)
	o.Ping = func(context.Context) (string, error) {
		return strings.Replace(receiver.URL, "http://", "http://ops:"+canaryPassword+"@", 1) + "/" + canaryToken + "/{job}?create=1", nil
	}
	w := Start(o)
	began := time.Now()
	var pings []string
	for _, c := range []struct {
		err   error
		pings int
	}{{nil, 2}, {errDown, 2}, {context.Canceled, 1}} {
		w.Began("sync --full")
		w.Ended("sync --full", began, c.err)
		for range c.pings {
			pings = append(pings, receiver.next(t))
		}
	}
	w.Ended("run", began, errDown) // never said to begin
	w.Ended("run", began, nil)
	w.Stop(time.Minute)
	base := "/" + canaryToken + "/sync---full"
	want := []string{base + "/start ", base + " ", base + "/start ", base + "/fail the platform answered 503 Service Unavailable, saying \"…\"", base + "/start "}
	if diff := cmp.Diff(want, pings); diff != "" || len(receiver.got) > 0 {
		t.Errorf("pings (-want +got), and %d more:\n%s", len(receiver.got), diff)
	}

	receiver.answer = fails(1000)
	w = Start(o)
	w.Began("sync")
	w.Stop(time.Minute)
	receiver.Close()
	w = Start(o)
	w.Began("sync")
	w.Stop(time.Minute)
	if !strings.Contains(log.String(), "answered 500") || !strings.Contains(log.String(), "refused") {
		t.Errorf("the log says %s", log)
	}
	mustHoldNoSecret(t, "the log", log.String())
}

// A file that is none of ours is begun anew, one that cannot be written keeps no message from being
// sent.
func TestStateFile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		make func(path string) error
		says string
	}{
		"none": {func(string) error { return nil }, ""},
		"damaged": {func(path string) error {
			return os.WriteFile(path, []byte(`{"Format":"solarmirror alerts 1","Que`), 0o600)
		}, "begun anew"},
		"foreign":   {func(path string) error { return os.WriteFile(path, []byte("SQLite format 3"), 0o600) }, "begun anew"},
		"of later":  {func(path string) error { return os.WriteFile(path, []byte(`{"Format":"solarmirror alerts 2"}`), 0o600) }, "begun anew"},
		"directory": {func(path string) error { return os.Mkdir(path, 0o700) }, "cannot be kept"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, log, receiver := filepath.Join(t.TempDir(), "m.alerts"), &logged{}, newHook(t, nil)
			if err := c.make(path); err != nil {
				t.Fatal(err)
			}
			w := Start(process(path, log, receiver.address()))
			w.Ended("sync", time.Now(), errRefused)
			w.Stop(time.Minute)
			if len(receiver.got) != 1 {
				t.Errorf("%d messages", len(receiver.got))
			}
			if said := log.String(); !strings.Contains(said, c.says) || c.says == "" && said != "" {
				t.Errorf("the log says %q, want %q", said, c.says)
			}
			if info, err := os.Stat(path); name != "directory" && (err != nil || info.Mode() != 0o600) {
				t.Errorf("%v, %v", info.Mode(), err)
			}
		})
	}
}

// A list of addresses that cannot be read keeps the message for later.
func TestAddressesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	path, log, receiver := filepath.Join(t.TempDir(), "m.alerts"), &logged{}, newHook(t, nil)
	o := process(path, log)
	tries := 0
	o.Addresses = func(context.Context) ([]string, error) {
		if tries++; tries < 3 {
			return nil, errors.New("no such file")
		}
		return []string{receiver.address()}, nil
	}
	w := Start(o)
	w.Ended("sync", time.Now(), errRefused)
	w.Stop(time.Minute)
	if len(receiver.got) != 1 || strings.Count(log.String(), "cannot be read") != 2 {
		t.Errorf("%d messages\n%s", len(receiver.got), log)
	}
}

// A message that nobody took for three days is dropped, and says so.
func TestOldMessagesAreDropped(t *testing.T) {
	t.Parallel()
	path, log, receiver := filepath.Join(t.TempDir(), "m.alerts"), &logged{}, newHook(t, nil)
	s := &State{Format: stateFormat, Queue: []Queued{{Number: 1, At: time.Now().Add(-keepFor - time.Minute), Title: "old"}, {Number: 2, At: time.Now(), Title: "new"}}, Last: 2}
	if err := s.write(path); err != nil {
		t.Fatal(err)
	}
	w := Start(process(path, log, receiver.address()))
	w.Ended("sync", time.Now(), nil)
	w.Stop(time.Minute)
	if got := receiver.next(t); len(receiver.got) > 0 || !strings.Contains(got, "new") || !strings.Contains(log.String(), "dropped") {
		t.Errorf("came %s, and %d more\n%s", got, len(receiver.got), log)
	}
}
