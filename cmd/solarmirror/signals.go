package main

import (
	"context"
	"os"
	"time"
)

// sameSignal is how soon after the first a signal counts as the same one: timeout(1) sends its signal to
// the program and to its process group, and a shell may pass one on that the terminal has sent already.
const sameSignal = 500 * time.Millisecond

// cancelOnSignal returns a context that the first signal cancels, with
// errInterrupted as its cause. The second signal calls exit at once, for the user
// who will not wait.
func cancelOnSignal(parent context.Context, signals <-chan os.Signal, exit func(code int)) context.Context {
	ctx, cancel := context.WithCancelCause(parent)
	go func() {
		<-signals
		cancel(errInterrupted)
		first := time.Now()
		for range signals {
			if time.Since(first) >= sameSignal {
				exit(exitInterrupted)
				return
			}
		}
	}()
	return ctx
}
