package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/buildinfo"
	"solarmirror/cmd/internal/config"
	"solarmirror/sync/platform"
	"solarmirror/sync/push"
)

func TestEveryCommandHasHelp(t *testing.T) {
	t.Parallel()
	visit(newRootCommand(newApp(nil, nil, nil)), func(cmd *cobra.Command) {
		if cmd.Short == "" || !strings.HasPrefix(cmd.Example, "  ") || !strings.Contains(cmd.Example, "solarmirror") {
			t.Errorf("%q wants a line of description and an indented example", cmd.CommandPath())
		}
	})
}

func TestExitCode(t *testing.T) {
	t.Parallel()
	running := t.Context()
	signals := make(chan os.Signal, 1)
	signals <- syscall.SIGTERM
	signalled := cancelOnSignal(t.Context(), signals, func(int) {})
	<-signalled.Done()
	stopped := fmt.Errorf("sync orders: %w", context.Canceled)

	for _, tc := range []struct {
		name string
		ctx  context.Context
		err  error
		want int
	}{
		{"ok", running, nil, 0},
		{"ok in spite of a signal", signalled, nil, 0},
		{"failed", running, errors.New("x"), 1},
		{"usage", running, fmt.Errorf("x: %w", &usageError{err: errors.New("x")}), 2},
		{"configuration", running, fmt.Errorf("x: %w", &config.Error{}), 2},
		{"token refused", running, fmt.Errorf("x: %w", &platform.AuthError{Status: 401}), 4},
		{"token missing", running, &platform.AuthError{Err: &config.Error{}}, 4},
		{"push left some undecided", running, fmt.Errorf("x: %w", &push.IncompleteError{Done: 1}), 3},
		{"push decided nothing", running, &push.IncompleteError{}, 1},
		{"interrupted", signalled, stopped, 130},
		{"cancelled, but by no signal", running, stopped, 1},
		{"another failure after a signal", signalled, errors.New("disk full"), 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := exitCode(tc.ctx, tc.err); got != tc.want {
				t.Errorf("exit code %d, want %d", got, tc.want)
			}
		})
	}
}

func TestSecondSignalExitsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		signals, exited := make(chan os.Signal), make(chan int, 1)
		ctx := cancelOnSignal(t.Context(), signals, func(code int) { exited <- code })
		if ctx.Err() != nil {
			t.Fatal("cancelled before any signal")
		}
		signals <- syscall.SIGINT
		<-ctx.Done()
		if cause := context.Cause(ctx); !errors.Is(cause, errInterrupted) {
			t.Errorf("cause is %v", cause)
		}
		signals <- syscall.SIGINT // the same once more
		synctest.Wait()
		select {
		case <-exited:
			t.Error("the first signal exits")
		default:
		}
		time.Sleep(time.Second)
		signals <- syscall.SIGTERM
		if code := <-exited; code != 130 {
			t.Errorf("exit code %d, want 130", code)
		}
	})
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestFailedOutputIsReportedOnce(t *testing.T) {
	t.Parallel()
	var stderr bytes.Buffer
	if code := run(t.Context(), []string{"version"}, nil, fullDisk{}, &stderr); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	if want := "solarmirror: no space left on device\n"; stderr.String() != want {
		t.Errorf("stderr is %q, want %q", stderr.String(), want)
	}
}

func TestVersionInWords(t *testing.T) {
	t.Parallel()
	build := buildinfo.Info{Version: "v1.2.3", Revision: "abc123", Time: "2026-11-21T10:00:00Z", Modified: true}
	want := []string{"solarmirror v1.2.3", "revision    abc123 of 2026-11-21T10:00:00Z, modified"}
	if d := cmp.Diff(want, strings.Split(buildText(build), "\n")[:2]); d != "" {
		t.Error(d)
	}
}
