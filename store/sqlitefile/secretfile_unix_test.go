//go:build unix

package sqlitefile

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestKeyFileIsAPipe: ReadKey refuses a named pipe at once, without waiting for a writer.
func TestKeyFileIsAPipe(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	must(t, syscall.Mkfifo(pipe, 0o600))
	if _, err := ReadKey(t.Context(), pipe); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Error(err)
	}
}
