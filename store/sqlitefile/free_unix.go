//go:build linux || darwin || freebsd

package sqlitefile

import "syscall"

// FreeBytes returns the bytes that unprivileged users may still write on the file system of dir.
func FreeBytes(dir string) (free int64, known bool, err error) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return 0, false, err
	}
	return int64(fs.Bavail) * int64(fs.Bsize), true, nil
}
