package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/buildinfo"
	"solarmirror/cmd/internal/terminal"
)

const rootLong = `solarmirror mirrors a solar sales platform (orders, budgets, the equipment
catalogue) into a local SQLite database that analysts query.

Settings come from flags, then SOLARMIRROR_* variables, then config.toml, then
defaults; "solarmirror config show" prints them.

`

// run executes one command line and returns the exit code. It prints the error,
// if there is one, once.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var paused *pausedError
	err := execute(ctx, newApp(stdin, stdout, stderr), args)
	switch {
	case err == nil:
	case errors.As(err, &paused):
		fmt.Fprintf(stderr, "solarmirror: interrupted; to go on: %s\n", terminal.Harmless(paused.line))
	case interrupted(ctx, err):
		fmt.Fprintln(stderr, "solarmirror: interrupted")
	default:
		fmt.Fprintf(stderr, "solarmirror: %s\n", terminal.HarmlessLines(err.Error()))
	}
	return exitCode(ctx, err)
}

// execute runs the command tree. What cobra refuses before a command's own code
// begins (flags, arguments, unknown names) is a usage error.
func execute(ctx context.Context, a *app, args []string) error {
	root := newRootCommand(a)
	root.SetArgs(args)
	begun := false
	visit(root, func(cmd *cobra.Command) { announce(cmd, &begun) })

	cmd, err := root.ExecuteContextC(ctx)
	switch {
	case err != nil && !begun:
		return &usageError{command: cmd.CommandPath(), err: err}
	case cmd.Annotations[goesOn] != "" && interrupted(ctx, err):
		return &pausedError{line: commandLine(args), err: err}
	}
	return err
}

func newRootCommand(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:           "solarmirror",
		Short:         "Mirror a solar sales platform into SQLite",
		Long:          rootLong + exitCodeHelp(),
		Example:       "  solarmirror demo\n  solarmirror sync",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(suggestFlag)
	root.Version = buildText(buildinfo.Read())
	root.SetVersionTemplate("{{.Version}}")
	root.Flags().Bool("version", false, "print what the command version prints") // cobra's own would take -v too
	a.flags.register(root.PersistentFlags())
	root.MarkFlagsMutuallyExclusive("quiet", "log-level")

	root.AddCommand(
		newDemoCommand(a),
		newInitCommand(a),
		newSyncCommand(a),
		newBackfillCommand(a),
		newRunCommand(a),
		newVerifyCommand(a),
		newStatusCommand(a),
		newRunsCommand(a),
		newDoctorCommand(a),
		newQueryCommand(a),
		newMCPCommand(a),
		newExportCommand(a),
		newReportCommand(a),
		newRejectsCommand(a),
		newMartsCommand(a),
		newPublishCommand(a),
		newBackupCommand(a),
		newRestoreCommand(a),
		newPushCommand(a),
		newOutboxCommand(a),
		newForgetCommand(a),
		newSchemaCommand(a),
		newSimulateCommand(a),
		newConfigCommand(a),
		newHealthcheckCommand(a),
		newVersionCommand(a),
	)
	root.SetHelpCommand(newHelpCommand(root))
	addCompletionCommand(root)
	visit(root, completeGroup)
	return root
}

// visit calls f for cmd and everything below it.
func visit(cmd *cobra.Command, f func(*cobra.Command)) {
	f(cmd)
	for _, child := range cmd.Commands() {
		visit(child, f)
	}
}

// announce makes cmd set begun when its own code starts.
func announce(cmd *cobra.Command, begun *bool) {
	body := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		*begun = true
		return body(cmd, args)
	}
}

// completeGroup gives a command that only holds others what cobra leaves out:
// alone it prints its help, and an unknown name below it is refused.
func completeGroup(cmd *cobra.Command) {
	if cmd.Runnable() {
		return
	}
	cmd.Args = refuseUnknownCommand
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
}
