package platformtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
)

// BenchmarkNew builds worlds of different sizes and states the memory that each holds.
func BenchmarkNew(b *testing.B) {
	for _, n := range []int{10_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var p *Platform
			for b.Loop() {
				p = New(Options{Seed: 1, Requests: n, Clock: newHandClock().Now})
			}
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "MiB-held")
			runtime.KeepAlive(p)
		})
	}
}

// BenchmarkPage reads pages of 50 from a world of a million requests: from a list that is cached, and by a filter
// that has to derive every request when the world has changed.
func BenchmarkPage(b *testing.B) {
	p := New(Options{Seed: 1, Requests: 1_000_000, Token: testToken, Clock: newHandClock().Now})
	read := func(b *testing.B, path string) int {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header.Set("Authorization", "Bearer "+testToken)
		w := httptest.NewRecorder()
		p.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			b.Fatal(w.Code, w.Body)
		}
		return w.Body.Len()
	}
	b.Run("cached", func(b *testing.B) {
		size := 0
		for n := 0; b.Loop(); n++ {
			size = read(b, fmt.Sprintf("/api/v2/requests/budget/%d/50", n%10_000+1))
		}
		b.ReportMetric(float64(size)/50, "B/record")
	})
	for _, filter := range []string{"removed=false", "name=Maria", "companyCNPJ=/0001-1", "powerGTE=50000"} {
		b.Run("changed/"+filter[:4], func(b *testing.B) {
			for b.Loop() {
				p.world.version++
				read(b, "/api/v2/requests/budget/1/50?"+filter)
			}
		})
	}
}

// BenchmarkYear lets a year pass in a world of 100,000 requests.
func BenchmarkYear(b *testing.B) {
	for b.Loop() {
		clock := newHandClock()
		p := New(Options{Seed: 1, Requests: 100_000, Clock: clock.Now})
		clock.Add(365 * oneDay)
		p.Settle()
	}
}

var benchmarkSink json.RawMessage

func BenchmarkRender(b *testing.B) {
	p := New(Options{Seed: 1, Requests: 1000, Clock: newHandClock().Now})
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		i := uint32(n % 1000)
		benchmarkSink = p.world.appendRequest(benchmarkSink[:0], i, &p.world.requests[i])
	}
}
