// Package testsize makes tests smaller under the race detector. It slows SQLite, which is Go code here, some ten times, and finds in one trial what
// it finds in many: so a run with it asks each kind of test once or a few times whether goroutines get in each other's way, and a run without it is
// what proves how the program behaves. Tests of every package may import this one, and nothing else does.
package testsize

import (
	"flag"
	"strconv"
)

// part is how much of a test is left under the race detector: one in so many.
const part = 12

// Fewer is how often a test does something, or with how much: n without the race detector, and a twelfth of it, rounded up, with it.
func Fewer(n int) int {
	if Race {
		return (n + part - 1) / part
	}
	return n
}

// Some are the cases that a test tries: all of them without the race detector, and with it every twelfth, from the last on.
func Some[T any](cases []T) []T {
	if !Race {
		return cases
	}
	var list []T
	for i := len(cases) - 1; i >= 0; i -= part {
		list = append(list, cases[i])
	}
	return list
}

// Properties has each property of pgregory.net/rapid tried n times, or fewer under the race detector. It is for TestMain: what the command line says
// of -rapid.checks comes later, and counts.
func Properties(n int) {
	if err := flag.Set("rapid.checks", strconv.Itoa(Fewer(n))); err != nil {
		panic(err) // rapid is not linked in, so there are no properties
	}
}
