//go:build unix

package pull

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/sync/platform"
	"solarmirror/sync/scan"
)

// benchEngine reads a stock over HTTP.
func benchEngine(b *testing.B, url string, limit int, tweaks ...func(*platform.Config)) *Engine {
	b.Helper()
	config := platform.Config{
		BaseURL: url, Token: func(context.Context) (string, error) { return token, nil }, RequestsPerSecond: 10_000, Log: zerolog.Nop(),
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
	report, err := e.Sync(b.Context(), Options{Streams: requestStreams(), Full: true, Trigger: store.TriggerManual})
	if err != nil {
		b.Fatal(err)
	}
	return report.Total()
}

// meter measures what a benchmark takes for each record, in this process: the answering of the requests is not in it.
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

// BenchmarkScan reads a list over HTTP, checks its order and finds keys and hashes, and writes nothing.
func BenchmarkScan(b *testing.B) {
	server := startStock(b)
	orders := named("orders")[0]
	for _, limit := range []int{50, 500} {
		b.Run(fmt.Sprintf("pages of %d", limit), func(b *testing.B) {
			e := benchEngine(b, server.url, limit)
			e.dialect = Dialect{Streams: map[string]Traits{"orders": {Numbering: scan.Numbering{Known: true, First: 1, Limit: limit}}}}
			m := newMeter(b)
			for b.Loop() {
				r := &reading{stream: orders, pass: schema.Live, traits: e.traits(orders)}
				for sl, err := range scan.New(e.source(r), r.scanOptions(e.InFlight)).Slices(b.Context()) {
					if err != nil {
						b.Fatal(err)
					}
					m.records += int64(len(sl.Records))
				}
			}
			m.report()
		})
	}
}

// BenchmarkFirstLoad reads a whole platform into an empty file.
func BenchmarkFirstLoad(b *testing.B) {
	server := startStock(b)
	for _, limit := range []int{50, 500} {
		b.Run(fmt.Sprintf("pages of %d", limit), func(b *testing.B) {
			e := benchEngine(b, server.url, limit)
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
	server := startStock(b)
	for _, each := range []int{0, 100, 1} {
		share := 0
		if each > 0 {
			share = 100 / each
		}
		b.Run(fmt.Sprintf("%d%% changed", share), func(b *testing.B) {
			e := benchEngine(b, server.url, 50)
			e.Mirror = benchMirror(b)
			defer e.Mirror.Close()
			server.change(b, 0)
			benchSync(b, e)
			m := newMeter(b)
			changed := false
			for b.Loop() {
				if changed = !changed; changed {
					server.change(b, each)
				} else {
					server.change(b, 0)
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
	all := newStock()
	for _, streams := range [][]*Stream{named("orders"), requestStreams()} {
		b.Run(fmt.Sprintf("%d streams", len(streams)), func(b *testing.B) {
			small := &stock{orders: all.orders[:5000/len(streams)], budgets: all.budgets[:2500]}
			var mu sync.Mutex
			var first, last time.Time
			served := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
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
			}))
			defer server.Close()
			e := benchEngine(b, server.URL, 50, func(c *platform.Config) { c.RequestsPerSecond = perSecond })
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
