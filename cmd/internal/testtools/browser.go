package testtools

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// Browser is a headless Chromium. It is driven by its DevTools protocol over a pair of pipes, which needs no library; one test uses it at a time.
type Browser struct {
	t       testing.TB
	in      io.Writer
	answers chan message
	last    int
}

// View is what a page is looked at with. JavaScript is off in all of them.
type View struct {
	Width, Height int // in CSS pixels
	Dark          bool
}

// Sight is what the browser made of a page.
type Sight struct {
	ContentWidth int      // in CSS pixels; more than the view's means that the page scrolls sideways
	Complaints   []string // what stands in the console: refused style sheets, answers that are errors
}

// screenshots names the directory that pictures of everything looked at are kept in, for people; nothing is kept where it is not set.
const screenshots = "TEST_SCREENSHOTS"

// browserWait is how long the browser may take for one thing.
const browserWait = 30 * time.Second

// message is one of the protocol: an answer, or an event.
type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// OpenBrowser starts a browser that ends with the test.
func OpenBrowser(t testing.TB) *Browser {
	t.Helper()
	chromium := Program(t, "chromium", "chromium")
	theirIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage",
		"--remote-debugging-pipe", "--user-data-dir="+t.TempDir(), "about:blank")
	cmd.ExtraFiles = []*os.File{theirIn, theirOut} // the browser's 3 and 4
	if err := errors.Join(cmd.Start(), theirIn.Close(), theirOut.Close()); err != nil {
		t.Fatal(err)
	}
	b := &Browser{t: t, in: in, answers: make(chan message, 1000)}
	go b.listen(out)
	t.Cleanup(func() {
		b.ask("", "Browser.close", nil, nil)
		_ = cmd.Wait()
		_ = errors.Join(in.Close(), out.Close())
		for range b.answers { // until the listener has ended
		}
	})
	return b
}

// listen takes messages, which end in a zero byte each, until the browser has gone.
func (b *Browser) listen(out io.Reader) {
	defer close(b.answers)
	for text := bufio.NewReader(out); ; {
		line, err := text.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(line[:len(line)-1], &m) == nil {
			b.answers <- m
		}
	}
}

// ask sends a command and waits for its answer. Events that come before are given to onEvent, which may be nil.
func (b *Browser) ask(session, method string, params any, onEvent func(message)) json.RawMessage {
	b.t.Helper()
	b.last++
	command := map[string]any{"id": b.last, "method": method}
	if params != nil {
		command["params"] = params
	}
	if session != "" {
		command["sessionId"] = session
	}
	text, err := json.Marshal(command)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.in.Write(append(text, 0)); err != nil {
		b.t.Fatalf("the browser is gone: %v", err)
	}
	var answer message
	b.await(method, func(m message) bool {
		if m.ID == 0 && onEvent != nil {
			onEvent(m)
		}
		answer = m
		return m.ID == b.last
	})
	if answer.Error != nil {
		b.t.Fatalf("the browser refused %s: %s", method, answer.Error.Message)
	}
	return answer.Result
}

// await takes messages until one is the wanted one.
func (b *Browser) await(what string, wanted func(message) bool) {
	b.t.Helper()
	late := time.After(browserWait)
	for {
		select {
		case m, open := <-b.answers:
			if !open {
				b.t.Fatalf("the browser ended during %s", what)
			}
			if wanted(m) {
				return
			}
		case <-late:
			b.t.Fatalf("the browser took longer than %v for %s", browserWait, what)
		}
	}
}

// Look opens url in a fresh tab and says what came of it. name is that of the picture.
func (b *Browser) Look(name, url string, v View) Sight {
	b.t.Helper()
	var s Sight
	note := func(m message) {
		if m.Method == "Log.entryAdded" || m.Method == "Runtime.exceptionThrown" {
			s.Complaints = append(s.Complaints, string(m.Params))
		}
	}
	var target struct{ TargetID string }
	b.decode(b.ask("", "Target.createTarget", map[string]any{"url": "about:blank"}, nil), &target)
	var tab struct{ SessionID string }
	b.decode(b.ask("", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, nil), &tab)
	do := func(method string, params any) json.RawMessage { return b.ask(tab.SessionID, method, params, note) }
	scheme := "light"
	if v.Dark {
		scheme = "dark"
	}
	for _, domain := range []string{"Page.enable", "Log.enable", "Runtime.enable"} {
		do(domain, nil)
	}
	do("Emulation.setScriptExecutionDisabled", map[string]any{"value": true})
	do("Emulation.setDeviceMetricsOverride", map[string]any{"width": v.Width, "height": v.Height, "deviceScaleFactor": 1, "mobile": v.Width < 600})
	do("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}})
	loaded := false
	earlier := note
	note = func(m message) { loaded = loaded || m.Method == "Page.loadEventFired"; earlier(m) }
	do("Page.navigate", map[string]any{"url": url})
	if !loaded {
		b.await("the loading of "+url, func(m message) bool { note(m); return loaded })
	}
	var layout struct {
		CSSContentSize struct{ Width, Height float64 }
	}
	b.decode(do("Page.getLayoutMetrics", nil), &layout)
	s.ContentWidth = int(layout.CSSContentSize.Width)
	if dir := os.Getenv(screenshots); dir != "" {
		var picture struct{ Data string }
		clip := map[string]any{"x": 0, "y": 0, "width": layout.CSSContentSize.Width, "height": layout.CSSContentSize.Height, "scale": 1}
		b.decode(do("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true, "clip": clip}), &picture)
		image, err := base64.StdEncoding.DecodeString(picture.Data)
		file := fmt.Sprintf("%s-%d-%s.png", name, v.Width, scheme)
		if err := errors.Join(err, os.WriteFile(filepath.Join(dir, file), image, 0o644)); err != nil {
			b.t.Fatal(err)
		}
	}
	b.ask("", "Target.closeTarget", map[string]any{"targetId": target.TargetID}, note)
	return s
}

func (b *Browser) decode(from json.RawMessage, to any) {
	b.t.Helper()
	if err := json.Unmarshal(from, to); err != nil {
		b.t.Fatalf("the browser's answer %s: %v", from, err)
	}
}
