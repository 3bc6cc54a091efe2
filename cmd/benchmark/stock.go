package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"solarmirror/sync/platform/platformtest"
)

// templates is how many requests the simulated platform renders; longer lists repeat them under other ids and codes.
const templates = 10_000

// pageSize is the page limit of all contenders.
const pageSize = 50

// newestID is the first half of the newest record's id, which is a time.
const newestID = 0x6af36643

// setting is how the platform answers from now on.
type setting struct {
	Records int // of orders and budgets together
	Every   int // of so many records one says what it said in no other Version; 0 leaves all as they are
	Version int
	Latency time.Duration
	Fail    int // of so many requests one is answered 503; 0 is none
}

// traffic is what has been asked since the last setting.
type traffic struct {
	Requests    int
	First, Last time.Time // when they arrived
}

// stock answers lists from records that were rendered beforehand, so that serving takes next to nothing: a copy with the id and the code of
// the record's place. It does not look at dates, hence every sync reads it whole.
type stock struct {
	lists   map[string][]template // by the path's request type
	buffers sync.Pool

	mu      sync.Mutex // guards what follows
	setting setting
	traffic traffic
}

// template is a rendered request, and where in it stands what is replaced.
type template struct {
	json           []byte
	id, code, name int
}

func newStock() *stock {
	p := platformtest.New(platformtest.Options{
		Seed: 1, Requests: templates, Clock: func() time.Time { return time.Date(2026, 3, 10, 15, 0, 0, 0, time.UTC) },
	})
	s := &stock{lists: map[string][]template{}, buffers: sync.Pool{New: func() any { return new(bytes.Buffer) }}}
	for kind, resource := range map[string]string{"order": platformtest.ResourceOrders, "budget": platformtest.ResourceBudgets} {
		for rec := range p.Records(resource) {
			if !rec.Removed {
				s.lists[kind] = append(s.lists[kind], newTemplate(rec.JSON))
			}
		}
	}
	return s
}

// codeDigits is the length of the number that a code ends in.
const codeDigits = 6

func newTemplate(raw []byte) template {
	behind := func(text string) int { return bytes.Index(raw, []byte(text)) + len(text) }
	code := behind(`"code":"`)
	return template{
		json: raw, id: behind(`"id":"`), name: behind(`"name":"`),
		code: code + bytes.IndexByte(raw[code:], '"') - codeDigits,
	}
}

// appendTo writes the template as the record at a place of its list.
func (t template) appendTo(b *bytes.Buffer, at int, version string) {
	start := b.Len()
	b.Write(t.json[:t.name])
	b.WriteString(version)
	record := b.Bytes()[start:]
	copy(record[t.id:], fmt.Sprintf("%08x", newestID-at))
	rest := b.Len() - t.name
	b.Write(t.json[t.name:])
	copy(b.Bytes()[rest+t.code:], fmt.Sprintf("%0*d", codeDigits, at%1_000_000))
}

// length is how many records a list has of those of the setting: its share of the templates.
func (s *stock) length(kind string, records int) int {
	orders := records * len(s.lists["order"]) / (len(s.lists["order"]) + len(s.lists["budget"]))
	switch kind {
	case "order":
		return orders
	case "budget":
		return records - orders
	}
	return 0
}

func (s *stock) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v2/requests/{kind}/{page}/{limit}", s.serveList)
	mux.HandleFunc("POST /setting", s.serveSetting)
	mux.HandleFunc("GET /traffic", s.serveTraffic)
	return mux
}

func (s *stock) serveList(w http.ResponseWriter, req *http.Request) {
	now, failed := s.note()
	time.Sleep(now.Latency)
	if failed {
		http.Error(w, "busy", http.StatusServiceUnavailable)
		return
	}
	kind := req.PathValue("kind")
	page, _ := strconv.Atoi(req.PathValue("page"))
	limit, _ := strconv.Atoi(req.PathValue("limit"))
	length := s.length(kind, now.Records)
	if req.URL.Query().Get("removed") == "true" {
		length = 0
	}
	if page < 1 || limit < 1 {
		http.Error(w, "pages are counted from 1", http.StatusBadRequest)
		return
	}
	from, to := (page-1)*limit, page*limit
	b := s.buffers.Get().(*bytes.Buffer)
	defer s.buffers.Put(b)
	b.Reset()
	b.WriteString(`{"error":null,"data":{"items":[`)
	for i := from; i < min(to, length); i++ {
		if i > from {
			b.WriteByte(',')
		}
		version := ""
		if now.Every > 0 && i%now.Every == 0 {
			version = fmt.Sprintf("%d: ", now.Version)
		}
		s.lists[kind][i%len(s.lists[kind])].appendTo(b, i, version)
	}
	fmt.Fprintf(b, `],"totalItems":%d}}`, length)
	w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	_, _ = w.Write(b.Bytes())
}

// note counts a request; failed says that it is to be refused.
func (s *stock) note() (now setting, failed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.traffic.Last = time.Now()
	if s.traffic.Requests++; s.traffic.Requests == 1 {
		s.traffic.First = s.traffic.Last
	}
	return s.setting, s.setting.Fail > 0 && s.traffic.Requests%s.setting.Fail == 0
}

func (s *stock) serveSetting(w http.ResponseWriter, req *http.Request) {
	var next setting
	if err := json.NewDecoder(req.Body).Decode(&next); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.setting, s.traffic = next, traffic{}
}

func (s *stock) serveTraffic(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = json.NewEncoder(w).Encode(s.traffic)
}

// servePlatform serves a stock until stdin ends. The first line it writes is its URL.
func servePlatform(stdin io.Reader, stdout io.Writer) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: newStock().handler()}
	go func() {
		_, _ = io.Copy(io.Discard, stdin)
		_ = server.Close()
	}()
	fmt.Fprintf(stdout, "http://%s\n", listener.Addr())
	if err := server.Serve(listener); err != http.ErrServerClosed {
		return err
	}
	return nil
}

// farPlatform is the stock as the parent process sees it.
type farPlatform struct {
	URL  string
	stop func() error
}

// startPlatform serves a stock in a process of its own, whose work is counted for nobody.
func startPlatform(ctx context.Context) (*farPlatform, error) {
	cmd, err := childCommand(ctx, task{}, nil)
	if err != nil {
		return nil, err
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &farPlatform{stop: func() error {
		_ = in.Close()
		return cmd.Wait()
	}}
	if _, err := fmt.Fscanln(out, &p.URL); err != nil {
		_ = p.stop()
		return nil, fmt.Errorf("the platform did not start: %w", err)
	}
	return p, nil
}

func (p *farPlatform) set(s setting) error {
	body, err := json.Marshal(s)
	if err != nil {
		return err
	}
	answer, err := http.Post(p.URL+"/setting", "application/json", strings.NewReader(string(body)))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the platform refused a setting: %s", answer.Status)
	}
	return nil
}

func (p *farPlatform) traffic() (t traffic, err error) {
	answer, err := http.Get(p.URL + "/traffic")
	if err != nil {
		return t, err
	}
	defer answer.Body.Close()
	return t, json.NewDecoder(answer.Body).Decode(&t)
}
