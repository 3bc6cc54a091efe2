//go:build unix

package marts

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"solarmirror/schema"
	"solarmirror/store"
)

var martsOf = flag.String("marts-of", "", "the `mirror` that BenchmarkMarts copies and builds marts in")

// BenchmarkMarts refreshes the marts of a mirror: from nothing, and after some of its requests have
// changed.
func BenchmarkMarts(b *testing.B) {
	if *martsOf == "" {
		b.Skip("no -marts-of")
	}
	path := filepath.Join(b.TempDir(), "mirror.db")
	mirror, err := os.ReadFile(*martsOf)
	must(b, err)
	must(b, os.WriteFile(path, mirror, 0o600))
	m, err := store.Open(b.Context(), path, store.Options{Zone: mustZone(b, "America/Sao_Paulo")})
	must(b, err)
	defer m.Close()
	must(b, Refresh(b.Context(), m))
	var requests int64
	must(b, m.Reader().Get(&requests, "SELECT count(*) FROM requests"))
	for _, share := range []struct {
		name   string
		change string
	}{
		{"from nothing", "DELETE FROM _marts"},
		{"1% changed", "UPDATE requests SET final_value = -final_value, deal_status = deal_status || '.' WHERE request_key IN (SELECT key FROM _stale)"},
		{"1 request changed", "UPDATE requests SET final_value = -final_value WHERE request_key IN (SELECT key FROM _stale)"},
	} {
		b.Run(share.name, func(b *testing.B) {
			each := map[string]int64{"1% changed": 100, "1 request changed": requests}[share.name]
			cpu, round := int64(0), int64(0)
			for b.Loop() {
				b.StopTimer()
				round++
				must(b, m.Update(b.Context(), func(tx *store.Tx) error {
					if each > 0 {
						if err := tx.NoteStale(schema.Requests, fmt.Sprintf("SELECT request_key FROM requests WHERE (request_key * 7919 + %d) %% %d = 0", round, each)); err != nil {
							return err
						}
					}
					_, err := tx.Exec("change", share.change)
					return err
				}))
				b.StartTimer()
				before := cpuTime(b)
				must(b, Refresh(b.Context(), m))
				cpu += cpuTime(b) - before
			}
			b.ReportMetric(float64(cpu)/1e6/float64(b.N), "cpu-ms/op")
			b.ReportMetric(float64(cpu)/1e3/float64(b.N)/float64(requests), "cpu-µs/request")
		})
	}
}

// cpuTime returns the CPU time of the process in nanoseconds.
func cpuTime(b *testing.B) int64 {
	b.Helper()
	var usage syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return usage.Utime.Nano() + usage.Stime.Nano()
}
