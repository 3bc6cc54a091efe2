//go:build linux || darwin || freebsd

package report

import (
	"os"
	"syscall"
)

// hold marks an open file as in use by this process, until that ends; false when another has marked it.
func hold(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
