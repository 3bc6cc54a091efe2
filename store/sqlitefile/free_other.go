//go:build !(linux || darwin || freebsd)

package sqlitefile

// FreeBytes returns known = false: this system does not report the free disk space.
func FreeBytes(string) (free int64, known bool, err error) { return 0, false, nil }
