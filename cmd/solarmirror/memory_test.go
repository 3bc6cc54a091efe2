package main

import (
	"runtime/debug"
	"testing"
)

// The environment's own bounds stand.
func TestBoundMemory(t *testing.T) {
	growth, limit := debug.SetGCPercent(77), debug.SetMemoryLimit(1<<40)
	defer func() {
		debug.SetGCPercent(growth)
		debug.SetMemoryLimit(limit)
	}()
	bounds := func(env map[string]string) [2]int64 {
		debug.SetGCPercent(77)
		debug.SetMemoryLimit(1 << 40)
		boundMemory(func(name string) string { return env[name] })
		return [2]int64{int64(debug.SetGCPercent(77)), debug.SetMemoryLimit(-1)}
	}
	for _, c := range []struct {
		env  map[string]string
		want [2]int64
	}{
		{nil, [2]int64{heapGrowth, heapLimit}},
		{map[string]string{"GOGC": "77"}, [2]int64{77, heapLimit}},
		{map[string]string{"GOMEMLIMIT": "1TiB"}, [2]int64{heapGrowth, 1 << 40}},
		{map[string]string{"GOGC": "77", "GOMEMLIMIT": "1TiB"}, [2]int64{77, 1 << 40}},
	} {
		if got := bounds(c.env); got != c.want {
			t.Errorf("%v: %v, want %v", c.env, got, c.want)
		}
	}
}
