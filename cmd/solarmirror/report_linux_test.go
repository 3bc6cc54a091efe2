package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A report deletes the temporary file of a killed report, and keeps that of a running one.
func TestReportAfterKill(t *testing.T) {
	t.Parallel()
	config, _ := atHostilePlatform(t)
	var said bytes.Buffer
	if code := run(t.Context(), []string{"--config", config, "sync"}, nil, &said, &said); code != exitPartial {
		t.Fatalf("sync: exit code %d\n%s", code, &said)
	}
	dir := t.TempDir()
	line := []string{"--config", config, "report", "--out", filepath.Join(dir, "report.html")}
	for deadline := time.Now().Add(20 * time.Second); len(temporary(t, dir)) == 0; {
		if time.Now().After(deadline) {
			t.Fatal("no report could be killed while it was written")
		}
		cmd := exec.Command("solarmirror", line...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = cmd.Wait()
		}()
		for running := true; running && len(temporary(t, dir)) == 0; {
			select {
			case <-ended:
				running = false
			default:
			}
		}
		_ = cmd.Process.Kill()
		<-ended
	}
	held, err := os.Create(filepath.Join(dir, ".report.html.42"))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := syscall.Flock(int(held.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if code := run(t.Context(), line, nil, &said, &said); code != exitOK {
		t.Fatalf("report: exit code %d\n%s", code, &said)
	}
	if left := temporary(t, dir); len(left) != 1 || left[0] != ".report.html.42" {
		t.Errorf("left are %v", left)
	}
}

// temporary lists the files whose names begin with a dot.
func temporary(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") {
			names = append(names, entry.Name())
		}
	}
	return names
}
