//go:build !(linux || darwin || freebsd)

package atomicfile

import "os"

// hold does nothing: Windows does not delete an open file.
func hold(*os.File) bool { return true }
