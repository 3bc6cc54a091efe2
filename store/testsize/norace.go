//go:build !race

package testsize

// Race says whether the race detector is on.
const Race = false
