//go:build !(linux || darwin || freebsd)

package sqlitefile

import "os"

// lockBytes does nothing: such a system refuses to replace a file that is open.
func lockBytes(*os.File) error { return nil }
