package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// machine says in a line where the figures come from.
func machine() string {
	name := "unknown processor"
	if file, err := os.Open("/proc/cpuinfo"); err == nil {
		defer file.Close()
		lines := bufio.NewScanner(file)
		for lines.Scan() {
			if key, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(key) == "model name" {
				name = strings.TrimSpace(value)
				break
			}
		}
	}
	return fmt.Sprintf("%s, %d cores, %s/%s, %s", name, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}

// load says how busy the machine is, the contenders included: figures from one that does more than this are of little worth.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "load unknown"
	}
	return "load average " + strings.Join(strings.Fields(string(text))[:3], ", ")
}

// table prints outcomes as they come.
type table struct{ out io.Writer }

func (t table) header() {
	fmt.Fprintf(t.out, "\n%9s  %-14s %-22s %10s %11s %14s %10s\n", "records", "contender", "step", "records/s", "CPU µs/rec.", "allocs/record", "RSS MiB")
}

func (t table) row(size int, contender string, s step, o outcome) {
	allocs := "-"
	if o.Load.Mallocs > 0 {
		allocs = fmt.Sprintf("%.1f", perRecord(float64(o.Load.Mallocs), o))
	}
	fmt.Fprintf(t.out, "%9d  %-14s %-22s %10s %11.1f %14s %10.0f\n", size, contender, s.name,
		humanize.Comma(int64(rate(o))), cpuPerRecord(o), allocs, float64(o.PeakRSS)/(1<<20))
	if o.Marts != (usage{}) {
		fmt.Fprintf(t.out, "%9s  %-14s %-22s %10s %11.1f %14.1f\n", "", "", "  and its marts", humanize.Comma(int64(float64(o.Records)/o.Marts.Wall.Seconds())),
			perRecord(float64(o.Marts.CPU.Microseconds()), o), perRecord(float64(o.Marts.Mallocs), o))
	}
}

// rate is in records per second.
func rate(o outcome) float64 { return float64(o.Records) / o.Load.Wall.Seconds() }

// cpuPerRecord is in microseconds.
func cpuPerRecord(o outcome) float64 { return perRecord(float64(o.Load.CPU.Microseconds()), o) }

func perRecord(x float64, o outcome) float64 { return x / float64(o.Records) }

// median returns the outcome whose load took the median time.
func median(all []outcome) outcome {
	sorted := slices.SortedFunc(slices.Values(all), func(a, b outcome) int { return cmp.Compare(a.Load.Wall, b.Load.Wall) })
	return sorted[len(sorted)/2]
}

// medianOf returns the median of some figures.
func medianOf[T cmp.Ordered](figures []T) T {
	return slices.Sorted(slices.Values(figures))[len(figures)/2]
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}

func mebibytes(n int64) string { return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20)) }

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
