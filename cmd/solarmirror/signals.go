package main

import (
	"context"
	"errors"
	"os"
)

// errInterrupted is the cause of a context that a signal cancelled.
var errInterrupted = errors.New("interrupted")

// cancelOnSignal returns a context that the first signal cancels, with
// errInterrupted as its cause. The second signal calls exit at once, for the user
// who will not wait.
func cancelOnSignal(parent context.Context, signals <-chan os.Signal, exit func(code int)) context.Context {
	ctx, cancel := context.WithCancelCause(parent)
	go func() {
		<-signals
		cancel(errInterrupted)
		<-signals
		exit(exitInterrupted)
	}()
	return ctx
}
