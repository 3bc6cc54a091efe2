//go:build linux || darwin || freebsd

package atomicfile

import (
	"os"
	"syscall"
)

// hold locks an open file until it is closed or the process exits. It returns false when another
// process has the lock.
func hold(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
