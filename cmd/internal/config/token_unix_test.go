//go:build unix

package config

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A token file that is not a small regular file is refused: reading a named pipe may block for
// ever, and a device may have no end (/dev/null has one).
func TestTokenFileMustBeSmallAndRegular(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe, large, behind := filepath.Join(dir, "pipe"), filepath.Join(dir, "large"), filepath.Join(dir, "behind")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(large, make([]byte, 64<<10+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(pipe, behind); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for path, says := range map[string]string{pipe: "no regular file", behind: "no regular file", "/dev/null": "no regular file", dir: "no regular file", large: "larger than 64 KiB"} {
		_, err := mustLoad(t, "", "SOLARMIRROR_PLATFORM_TOKEN_FILE="+path).TokenSource()(ctx)
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// A secret that Kubernetes mounts is a symbolic link to a link.
func TestTokenFileBehindLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "..2026"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "..2026", "token"), []byte("mounted\n"), 0o400); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"..data": "..2026", "token": filepath.Join("..data", "token")} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := mustLoad(t, "", "SOLARMIRROR_PLATFORM_TOKEN_FILE="+filepath.Join(dir, "token")).TokenSource()(t.Context())
	if got != "mounted" || err != nil {
		t.Errorf("token is %q, %v", got, err)
	}
}
