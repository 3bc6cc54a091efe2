// Command solarmirror mirrors a solar sales platform into a local SQLite
// database.
//
// This package is a shell over the packages that do the work: main wires the
// process to run, root.go builds the command tree, and each command lives in a
// file of its own as newXCommand(*app). A command parses its arguments, calls one
// function of a lower floor and prints what came back. It calls the files that all
// share (app.go, open.go, exit.go) and the packages below cmd/internal, never another
// command's file; only run and outbox have several files. Data goes to stdout; logs, progress
// and errors go to stderr. A command returns errors, it never exits: exit.go alone
// turns an error into the process's exit code.
//
// The first SIGINT or SIGTERM cancels the context every command runs under, so
// that it can finish its page and commit; a second one ends the process at once.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // the platform's zone must load in an image without zone files

	_ "golang.org/x/crypto/x509roots/fallback" // likewise authorities to trust: Mozilla's, where the system has none
)

func main() {
	boundMemory(os.Getenv)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ctx := cancelOnSignal(context.Background(), signals, os.Exit)
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
