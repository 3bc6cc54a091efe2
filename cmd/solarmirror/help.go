package main

import "github.com/spf13/cobra"

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
