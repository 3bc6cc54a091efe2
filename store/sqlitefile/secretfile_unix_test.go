//go:build unix

package sqlitefile

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A key file that is a named pipe is refused at once, without waiting for a writer.
func TestKeyFileIsAPipe(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	must(t, syscall.Mkfifo(pipe, 0o600))
	if _, err := ReadKey(t.Context(), pipe); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Error(err)
	}
}
