//go:build unix

package pull

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"solarmirror/store"
	"solarmirror/sync/platform"
	"solarmirror/sync/platform/platformtest"
)

// benchRecords is how many requests the platform of the benchmarks was made with: budgets that became orders are listed twice, removed
// ones are left out.
const benchRecords = 20_000

// stock answers lists from records that were rendered beforehand, so that what is measured is the reader. It does not look at
// dates, hence every sync reads it whole.
type stock struct {
	orders, budgets [][]byte
	each            int // of so many records the first says something else; 0 leaves all as they are
}

var benchStock = sync.OnceValue(func() *stock {
	p := platformtest.New(platformtest.Options{Seed: 1, Requests: benchRecords, Clock: newClock("2026-03-10T15:00:00Z").now})
	s := &stock{}
	for rec := range p.Records(platformtest.ResourceOrders) {
		s.orders = append(s.orders, rec.JSON)
	}
	for rec := range p.Records(platformtest.ResourceBudgets) {
		s.budgets = append(s.budgets, rec.JSON)
	}
	return s
})

var pageBuffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func (s *stock) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	var list [][]byte
	switch {
	case req.URL.Query().Get("removed") == "true":
	case strings.Contains(req.URL.Path, "/requests/order/"):
		list = s.orders
	case strings.Contains(req.URL.Path, "/requests/budget/"):
		list = s.budgets
	}
	at := pageOf(req)
	b := pageBuffers.Get().(*bytes.Buffer)
	defer pageBuffers.Put(b)
	b.Reset()
	b.WriteString(`{"data":[`)
	from, to := min(max(0, at.start()), len(list)), min(max(0, at.end()), len(list))
	for i, record := range list[from:to] {
		if i > 0 {
			b.WriteByte(',')
		}
		if s.each > 0 && (from+i)%s.each == 0 {
			record = bytes.Replace(record, []byte(`"name":"`), []byte(`"name":"another `), 1)
		}
		b.Write(record)
	}
	fmt.Fprintf(b, `],"totalItems":%d}`, len(list))
	w.Header().Set("Content-Length", fmt.Sprint(b.Len()))
	_, _ = w.Write(b.Bytes())
}

// benchEngine reads a stock over HTTP into a mirror file of its own.
func benchEngine(b *testing.B, h http.Handler, limit int, tweaks ...func(*platform.Config)) *Engine {
	b.Helper()
	server := httptest.NewServer(h)
	b.Cleanup(server.Close)
	config := platform.Config{
		BaseURL: server.URL, Token: func(context.Context) (string, error) { return token, nil }, RequestsPerSecond: 10_000, Log: zerolog.Nop(),
	}
	for _, tweak := range tweaks {
		tweak(&config)
	}
	client, err := platform.New(config)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(client.Close)
	return &Engine{
		Client: client, Zone: time.UTC, Paging: Paging{FirstPage: 1, Limit: limit}, InFlight: 4, Now: time.Now, Log: zerolog.Nop(),
	}
}

func benchMirror(b *testing.B) *store.Mirror {
	b.Helper()
	mirror, err := store.Open(b.Context(), filepath.Join(b.TempDir(), "mirror.db"), store.Options{Log: zerolog.Nop()})
	if err != nil {
		b.Fatal(err)
	}
	return mirror
}

func benchSync(b *testing.B, e *Engine) store.Counts {
	b.Helper()
	report, err := e.Sync(b.Context(), Options{Streams: Streams()[:2], Full: true, Trigger: store.TriggerManual})
	if err != nil {
		b.Fatal(err)
	}
	return report.Total()
}

// meter measures what a benchmark takes for each record, the answering of the requests included.
type meter struct {
	b       *testing.B
	records int64
	before  syscall.Rusage
}

func newMeter(b *testing.B) *meter {
	m := &meter{b: b}
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &m.before); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	return m
}

func (m *meter) report() {
	var now syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &now); err != nil {
		m.b.Fatal(err)
	}
	cpu := now.Utime.Nano() + now.Stime.Nano() - m.before.Utime.Nano() - m.before.Stime.Nano()
	m.b.ReportMetric(float64(m.records)/m.b.Elapsed().Seconds(), "records/s")
	m.b.ReportMetric(float64(cpu)/1000/float64(m.records), "cpu-µs/record")
}

// BenchmarkFirstLoad reads a whole platform into an empty file.
func BenchmarkFirstLoad(b *testing.B) {
	for _, limit := range []int{50, 500} {
		b.Run(fmt.Sprintf("pages of %d", limit), func(b *testing.B) {
			e := benchEngine(b, benchStock(), limit)
			m := newMeter(b)
			for b.Loop() {
				e.Mirror = benchMirror(b)
				m.records += benchSync(b, e).Inserted
				if err := e.Mirror.Close(); err != nil {
					b.Fatal(err)
				}
				if err := os.Remove(e.Mirror.Path()); err != nil {
					b.Fatal(err)
				}
			}
			m.report()
		})
	}
}

// BenchmarkResync reads a whole platform again of which some has changed since.
func BenchmarkResync(b *testing.B) {
	for _, each := range []int{0, 100, 1} {
		share := 0
		if each > 0 {
			share = 100 / each
		}
		b.Run(fmt.Sprintf("%d%% changed", share), func(b *testing.B) {
			before := benchStock()
			after := &stock{orders: before.orders, budgets: before.budgets, each: each}
			var now http.Handler = before
			e := benchEngine(b, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { now.ServeHTTP(w, req) }), 50)
			e.Mirror = benchMirror(b)
			defer e.Mirror.Close()
			benchSync(b, e)
			m := newMeter(b)
			for b.Loop() {
				if now == http.Handler(before) {
					now = after
				} else {
					now = before
				}
				got := benchSync(b, e)
				m.records += got.Unchanged + got.Changed
			}
			m.report()
		})
	}
}

// BenchmarkThrottled reads a slow platform that fails now and then: 5 requests a second, answers after 200 ms, every 40th one a 503. It says how
// much of the allowed rate a first load makes use of, and takes a minute.
func BenchmarkThrottled(b *testing.B) {
	const perSecond, latency, failing = 5, 200 * time.Millisecond, 40
	all := benchStock()
	for _, streams := range [][]*Stream{Streams()[:1], Streams()[:2]} {
		b.Run(fmt.Sprintf("%d streams", len(streams)), func(b *testing.B) {
			small := &stock{orders: all.orders[:5000/len(streams)], budgets: all.budgets[:2500]}
			var mu sync.Mutex
			var first, last time.Time
			served := 0
			e := benchEngine(b, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				mu.Lock()
				last = time.Now()
				if served++; served == 1 {
					first = last
				}
				fails := served%failing == 0
				mu.Unlock()
				time.Sleep(latency)
				if fails {
					http.Error(w, "not now", http.StatusServiceUnavailable)
					return
				}
				small.ServeHTTP(w, req)
			}), 50, func(c *platform.Config) {
				c.RequestsPerSecond = perSecond
			})
			used := 0.0
			for b.Loop() {
				served = 0
				e.Mirror = benchMirror(b)
				if _, err := e.Sync(b.Context(), Options{Streams: streams, Trigger: store.TriggerManual}); err != nil {
					b.Fatal(err)
				}
				used = 100 * float64(served-1) / last.Sub(first).Seconds() / perSecond
				if err := e.Mirror.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(used, "%of-allowed-rate")
		})
	}
}
