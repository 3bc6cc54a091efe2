package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"solarmirror/cmd/internal/buildinfo"
	"solarmirror/cmd/internal/config"
	"solarmirror/cmd/internal/pullreport"
	"solarmirror/cmd/internal/status"
	"solarmirror/store"
	"solarmirror/store/sqlitefile"
	"solarmirror/sync/platform"
	"solarmirror/sync/pull"
	"solarmirror/sync/push"
)

// The exit codes of every command; scripts and schedulers rely on them.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitPartial     = 3
	exitAuth        = 4
	exitNoDatabase  = 10
	exitLocked      = 11
	exitStale       = 12
	exitInterrupted = 130
)

// exitCode maps what a command returned to the code the process exits with. ctx
// is the one the command ran under: a cancelled one counts as an interruption
// only when a signal cancelled it.
func exitCode(ctx context.Context, err error) int {
	var usage *usageError
	var configuration *config.Error
	var marts *martFaultsError
	var auth *platform.AuthError
	var locked *sqlitefile.LockedError
	var other *store.OtherPlatformError
	var stale *status.StaleError
	var partial *pull.PartialError
	var differences *pullreport.DifferencesError
	var incomplete *push.IncompleteError
	switch {
	case err == nil:
		return exitOK
	case interrupted(ctx, err):
		return exitInterrupted
	case errors.As(err, &auth): // before the others: a missing token is a fault of the configuration too
		return exitAuth
	case errors.As(err, &usage), errors.As(err, &configuration), errors.As(err, &marts), errors.As(err, &other):
		return exitUsage
	case errors.As(err, &partial), errors.As(err, &differences), errors.As(err, &incomplete) && incomplete.Done > 0:
		return exitPartial
	case errors.Is(err, sqlitefile.ErrNoDatabase):
		return exitNoDatabase
	case errors.As(err, &locked):
		return exitLocked
	case errors.As(err, &stale):
		return exitStale
	}
	return exitFailed
}

// errInterrupted is the cause of a context that a signal cancelled.
var errInterrupted = errors.New("interrupted")

func interrupted(ctx context.Context, err error) bool {
	return errors.Is(err, context.Canceled) && errors.Is(context.Cause(ctx), errInterrupted)
}

// goesOn annotates a command that goes on, or is done from its start, when it is given again.
const goesOn = "goes on"

// pausedError is such a command, interrupted.
type pausedError struct {
	line string // what goes on with it
	err  error
}

func (e *pausedError) Error() string { return e.err.Error() }
func (e *pausedError) Unwrap() error { return e.err }

// commandLine is how a shell takes these arguments.
func commandLine(args []string) string {
	words := []string{buildinfo.Command()}
	for _, arg := range args {
		if arg == "" || strings.ContainsAny(arg, " \t\n\"'\\$`*?[]{}()<>|&;~#!") {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		words = append(words, arg)
	}
	return strings.Join(words, " ")
}

// usageError is a command line that cannot be followed. It points at the help of
// the command that refused it.
type usageError struct {
	command string // its path: "solarmirror config show"
	err     error
}

func (e *usageError) Error() string {
	return fmt.Sprintf("%v\nSee %q.", e.err, e.command+" --help")
}

func (e *usageError) Unwrap() error { return e.err }

// exitCodeHelp is the part of the root's help that lists the codes.
func exitCodeHelp() string {
	codes := []struct {
		code    int
		meaning string
	}{
		{exitOK, "ok"},
		{exitFailed, "failed"},
		{exitUsage, "usage or configuration"},
		{exitPartial, "partial: a stream failed, another succeeded; push decided some rows and not others; or verify found unexplained differences"},
		{exitAuth, "authentication: no usable token, or the platform refused it"},
		{exitNoDatabase, "no database yet"},
		{exitLocked, "locked by another run"},
		{exitStale, "stale (status --max-age)"},
		{exitInterrupted, "interrupted"},
	}
	var text strings.Builder
	text.WriteString("Exit codes:\n")
	for _, c := range codes {
		fmt.Fprintf(&text, "  %3d  %s\n", c.code, c.meaning)
	}
	return text.String()
}
