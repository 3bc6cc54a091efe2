//go:build !linux

package store

// courteously does work. Where threads have no priority of their own it is like any other.
func courteously(work func() error) error { return work() }
