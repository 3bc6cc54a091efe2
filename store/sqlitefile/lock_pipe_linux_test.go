package sqlitefile

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A named pipe in the place of a database or of its lock is refused, and not waited for.
func TestLockRefusesPipes(t *testing.T) {
	t.Parallel()
	for _, suffix := range []string{"", ".lock", ".lock.next"} {
		path := filepath.Join(t.TempDir(), "m.db")
		if err := syscall.Mkfifo(path+suffix, 0o600); err != nil {
			t.Fatal(err)
		}
		lock, err := AcquireLock(t.Context(), path, "sync", false)
		if err == nil {
			_ = lock.Release()
		}
		if err == nil || !strings.Contains(err.Error(), path+suffix+" is a named pipe") {
			t.Errorf("%q: %v", suffix, err)
		}
	}
}
