package testtools

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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

// View is what a page is looked at with. Its own JavaScript is off in all of them.
type View struct {
	Width, Height int // in CSS pixels
	Dark          bool
	Paper         bool   // as it is laid out for printing
	Language      string // that the browser prefers, as Accept-Language has it; "" for its own
}

// Sight is what the browser made of a page.
type Sight struct {
	ContentWidth int      // in CSS pixels; more than the view's means that the page scrolls sideways
	Complaints   []string // what stands in the console: refused style sheets, answers that are errors
	Requests     []string // what the page asked for beside itself
	Collisions   []string // texts of drawings that cover one another, or are cut off
	Scrolling    []string // what scrolls sideways by itself, so that a part of it is not seen
}

// screenshots names the directory that pictures of everything looked at are kept in, for people; nothing is kept where it is not set.
const screenshots = "TEST_SCREENSHOTS"

// browserWait is how long the browser may take for one thing, on a machine with much else to do.
const browserWait = 2 * time.Minute

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
		switch m.Method {
		case "Log.entryAdded", "Runtime.exceptionThrown":
			s.Complaints = append(s.Complaints, string(m.Params))
		case "Network.requestWillBeSent":
			var asked struct{ Request struct{ URL string } }
			b.decode(m.Params, &asked)
			if asked.Request.URL != url && !strings.HasPrefix(asked.Request.URL, "data:") {
				s.Requests = append(s.Requests, asked.Request.URL)
			}
		}
	}
	tab := b.open(note)
	defer tab.close()
	tab.show(url, v)
	var layout struct {
		CSSContentSize struct{ Width, Height float64 }
	}
	b.decode(tab.do("Page.getLayoutMetrics", nil), &layout)
	s.ContentWidth = int(layout.CSSContentSize.Width)
	s.Collisions, s.Scrolling = tab.list(collisions), tab.list(scrolling)
	if dir := os.Getenv(screenshots); dir != "" {
		var picture struct{ Data []byte } // base64, as encoding/json has it
		clip := map[string]any{"x": 0, "y": 0, "width": layout.CSSContentSize.Width, "height": layout.CSSContentSize.Height, "scale": 1}
		b.decode(tab.do("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true, "clip": clip}), &picture)
		file := fmt.Sprintf("%s-%d-%s.png", name, v.Width, v.media())
		if err := os.WriteFile(filepath.Join(dir, file), picture.Data, 0o644); err != nil {
			b.t.Fatal(err)
		}
	}
	return s
}

// list evaluates a script that lists texts.
func (t *tab) list(script string) []string {
	t.t.Helper()
	var found struct {
		Result           struct{ Value []string }
		ExceptionDetails json.RawMessage
	}
	t.decode(t.do("Runtime.evaluate", map[string]any{"expression": script, "returnByValue": true}), &found)
	if found.ExceptionDetails != nil {
		t.t.Fatalf("%.40s: %s", script, found.ExceptionDetails)
	}
	return found.Result.Value
}

// scrolling is a script that lists the elements whose content is wider than they are, folded ones too.
const scrolling = `[...document.querySelectorAll("body *")].filter(e => {
	const folded = e.closest("details:not([open])")
	if (folded) folded.open = true
	const wide = e.clientWidth > 1 && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX != "visible"
	if (folded) folded.open = false
	return wide
}).map(e => e.tagName + "." + e.className + ": " + e.textContent.slice(0, 60))`

// Print returns the page at url as PDF, printed on A4 with the browser's own settings: no backgrounds.
func (b *Browser) Print(url string) []byte {
	b.t.Helper()
	tab := b.open(nil)
	defer tab.close()
	tab.show(url, View{Width: 800, Height: 600, Paper: true})
	var printed struct{ Data []byte }
	b.decode(tab.do("Page.printToPDF", map[string]any{"preferCSSPageSize": true, "paperWidth": 8.27, "paperHeight": 11.69}), &printed)
	return printed.Data
}

// collisions is a script that lists the texts of drawings that cover another one or reach out of their figure.
const collisions = `[...document.querySelectorAll("svg")].filter(svg => svg.getClientRects().length).flatMap(svg => {
	const room = (svg.closest("figure") ?? svg).getBoundingClientRect(), found = [], seen = []
	for (const text of svg.querySelectorAll("text")) {
		if (!text.textContent.trim()) continue
		const at = text.getBoundingClientRect()
		if (at.left < room.left - 1 || at.right > room.right + 1) found.push(text.textContent + " is cut off")
		for (const [other, there] of seen) {
			if (Math.min(at.right, there.right) - Math.max(at.left, there.left) > 1 && Math.min(at.bottom, there.bottom) - Math.max(at.top, there.top) > 3)
				found.push(text.textContent + " covers " + other)
		}
		seen.push([text.textContent, at])
	}
	return found
})`

func (v View) media() string {
	switch {
	case v.Paper:
		return "paper"
	case v.Dark:
		return "dark"
	}
	return "light"
}

// tab is an empty page of the browser, of which nothing is kept.
type tab struct {
	*Browser
	target, session string
	note            func(message) // given every event
}

func (b *Browser) open(note func(message)) *tab {
	b.t.Helper()
	var target struct{ TargetID string }
	b.decode(b.ask("", "Target.createTarget", map[string]any{"url": "about:blank"}, nil), &target)
	var session struct{ SessionID string }
	b.decode(b.ask("", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, nil), &session)
	return &tab{Browser: b, target: target.TargetID, session: session.SessionID, note: note}
}

func (t *tab) do(method string, params any) json.RawMessage {
	t.t.Helper()
	return t.ask(t.session, method, params, t.note)
}

func (t *tab) close() { t.ask("", "Target.closeTarget", map[string]any{"targetId": t.target}, t.note) }

// show loads url, and returns when that is done.
func (t *tab) show(url string, v View) {
	t.t.Helper()
	for _, domain := range []string{"Page.enable", "Log.enable", "Runtime.enable", "Network.enable"} {
		t.do(domain, nil)
	}
	if v.Language != "" {
		t.do("Network.setExtraHTTPHeaders", map[string]any{"headers": map[string]string{"Accept-Language": v.Language}})
	}
	t.do("Emulation.setScriptExecutionDisabled", map[string]any{"value": true})
	t.do("Emulation.setDeviceMetricsOverride", map[string]any{"width": v.Width, "height": v.Height, "deviceScaleFactor": 1, "mobile": v.Width < 600})
	media, scheme := "screen", "light"
	if v.Paper {
		media = "print"
	}
	if v.Dark {
		scheme = "dark"
	}
	t.do("Emulation.setEmulatedMedia", map[string]any{"media": media, "features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}})
	loaded, earlier := false, t.note
	t.note = func(m message) {
		loaded = loaded || m.Method == "Page.loadEventFired"
		if earlier != nil {
			earlier(m)
		}
	}
	t.do("Page.navigate", map[string]any{"url": url})
	if !loaded {
		t.await("the loading of "+url, func(m message) bool { t.note(m); return loaded })
	}
}

func (b *Browser) decode(from json.RawMessage, to any) {
	b.t.Helper()
	if err := json.Unmarshal(from, to); err != nil {
		b.t.Fatalf("the browser's answer %s: %v", from, err)
	}
}
