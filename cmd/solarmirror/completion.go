package main

import "github.com/spf13/cobra"

// addCompletionCommand adds cobra's own completion commands. They write to the
// root's output, so that must have been set, and need the other commands to be
// there.
func addCompletionCommand(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	completion, _, _ := root.Find([]string{"completion"})
	completion.Short = "Generate the completion script of a shell"
	completion.Example = "  source <(solarmirror completion bash)"
	for _, shell := range completion.Commands() {
		shell.Example = "  solarmirror completion " + shell.Name() + " > completion." + shell.Name()
	}
}
