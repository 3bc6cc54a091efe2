//go:build linux || darwin

package terminal

import "golang.org/x/sys/unix"

// hush turns the echo of a terminal off; Ctrl-C works on.
func hush(fd int) error {
	state, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return err
	}
	state.Lflag &^= unix.ECHO
	return unix.IoctlSetTermios(fd, setTermios, state)
}
