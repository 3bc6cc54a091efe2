package main

import "runtime/debug"

// Bounds of the Go heap. With SQLite's own memory, which Go does not count, and the program itself they keep a mirror of a million records
// within 128 MiB: what is kept of each record while a list is read whole is some forty bytes.
const (
	heapGrowth = 50       // percent of the live heap, between two collections
	heapLimit  = 80 << 20 // bytes; the collector works harder before it is passed
)

// boundMemory sets the bounds, but for those that the environment sets itself, with Go's own GOGC and GOMEMLIMIT.
func boundMemory(getenv func(string) string) {
	if getenv("GOGC") == "" {
		debug.SetGCPercent(heapGrowth)
	}
	if getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(heapLimit)
	}
}
