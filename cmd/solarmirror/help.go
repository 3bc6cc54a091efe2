package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/config"
)

// newHelpCommand replaces cobra's, which exits 0 for a command that is not there.
func newHelpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:     "help [command]",
		Short:   "Print the help of a command",
		Example: "  solarmirror help config show",
		Args: func(_ *cobra.Command, args []string) error {
			found, rest, err := root.Find(args)
			if err != nil {
				return err
			}
			return refuseUnknownCommand(found, rest)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			found, _, err := root.Find(args)
			if err != nil {
				return err
			}
			found.InitDefaultHelpFlag() // cobra adds it to the command it runs only
			return found.Help()
		},
	}
}

// refuseUnknownCommand is the Args of a command that only holds others.
func refuseUnknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, child := range cmd.Commands() {
		if child.IsAvailableCommand() {
			names = append(names, child.Name())
		}
	}
	return fmt.Errorf("unknown command %q; did you mean %q?", args[0], config.Nearest(args[0], names))
}
