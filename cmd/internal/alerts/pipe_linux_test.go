package alerts

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A named pipe in the place of a file of the alerts keeps nothing waiting.
func TestPipesDoNotHang(t *testing.T) {
	t.Parallel()
	for _, suffix := range []string{"", ".lock"} {
		path, log, receiver := filepath.Join(t.TempDir(), "m.alerts"), &logged{}, newHook(t, nil)
		if err := syscall.Mkfifo(path+suffix, 0o600); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			w := Start(process(path, log, receiver.address()))
			w.Ended("sync", time.Now(), errRefused)
			w.Stop(time.Minute)
		}()
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Fatalf("%q hangs", suffix)
		}
		if !strings.Contains(log.String(), "is no regular file") || len(receiver.got) != 1 {
			t.Errorf("%q: %d messages, the log says %s", suffix, len(receiver.got), log)
		}
	}
}
