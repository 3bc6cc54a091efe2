package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

// holdLock takes the lock and never releases it. A child process runs it.
func holdLock(path string) error {
	if _, err := AcquireLock(context.Background(), path, "sync --full", false); err != nil {
		return err
	}
	fmt.Println("ready")
	time.Sleep(time.Hour) // until killed; "select {}" would count as a deadlock
	return nil
}

func TestLockOfAnotherProcess(t *testing.T) {
	t.Parallel()
	path := mirrorPath(t)
	child := startChild(t, "lock", path)

	_, err := AcquireLock(t.Context(), path, "sync", false)
	var locked *LockedError
	if !errors.As(err, &locked) {
		t.Fatalf("got %v, want a LockedError", err)
	}
	if locked.Holder.PID != child.Process.Pid || locked.Holder.Command != "sync --full" || locked.Holder.StartedAt.IsZero() {
		t.Errorf("holder %+v, want process %d", locked.Holder, child.Process.Pid)
	}
	for _, word := range []string{path, "sync --full", strconv.Itoa(child.Process.Pid), "--wait", "since 2"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not say %q", err, word)
		}
	}

	waited := make(chan error, 1)
	go func() {
		lock, err := AcquireLock(context.Background(), path, "sync", true)
		if err == nil {
			err = lock.Release()
		}
		waited <- err
	}()
	must(t, child.Process.Kill()) // kill -9: no code of ours runs in the child any more
	must(t, <-waited)
	if _, err := os.Stat(path + ".lock"); err != nil {
		t.Errorf("the lock file must stay: %v", err)
	}
}

// TestLockIsTakenInTurns: a process that releases the lock and takes it again at once, as a
// backfill does between two windows, comes after the process that waits.
func TestLockIsTakenInTurns(t *testing.T) {
	t.Parallel()
	path := mirrorPath(t)
	mine, err := AcquireLock(t.Context(), path, "backfill", true)
	must(t, err)
	for range 3 {
		served := make(chan error, 1)
		go func() {
			lock, err := AcquireLock(context.Background(), path, "sync", true)
			served <- err
			if err == nil {
				_ = lock.Release()
			}
		}()
		// Until the goroutine waits, the head of the queue is free.
		for head := flock.New(path + ".lock.next"); ; time.Sleep(time.Millisecond) {
			free, err := head.TryLock()
			must(t, errors.Join(err, head.Close()))
			if !free {
				break
			}
		}
		must(t, mine.Release())
		mine, err = AcquireLock(t.Context(), path, "backfill", true)
		must(t, err)
		select {
		case err := <-served:
			must(t, err)
		default:
			t.Fatal("the lock came back before the one who waited had it")
		}
	}
	must(t, mine.Release())
}

func TestLockWaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	path := mirrorPath(t)
	held, err := AcquireLock(t.Context(), path, "sync", false)
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := AcquireLock(ctx, path, "sync", true); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
	must(t, held.Release())
	again, err := AcquireLock(t.Context(), path, "sync", false)
	must(t, err)
	must(t, again.Release())
}

func TestLockedErrorWithoutAName(t *testing.T) {
	t.Parallel()
	if got := (&LockedError{Path: "x.lock"}).Error(); !strings.Contains(got, "another run") || strings.Contains(got, "process 0") {
		t.Errorf("got %q", got)
	}
}
