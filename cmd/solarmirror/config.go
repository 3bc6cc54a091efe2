package main

import (
	"cmp"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/config"
	"solarmirror/cmd/internal/terminal"
)

func newConfigCommand(a *app) *cobra.Command {
	group := &cobra.Command{
		Use:     "config",
		Short:   "Look at the configuration, and check it",
		Example: "  solarmirror config show",
	}
	group.AddCommand(newConfigShowCommand(a), newConfigCheckCommand(a), newConfigExampleCommand(a))
	return group
}

func newConfigShowCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "show",
		Short: "Print the configuration in force, as TOML",
		Long: `Print every key of the configuration with the value in force and where that
came from. Secrets are masked. "solarmirror config example" describes the keys.`,
		Example: "  solarmirror config show --config prod.toml",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			c, err := a.config()
			if err != nil {
				return err
			}
			return c.Show(a.stdout)
		},
	}
}

func newConfigCheckCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Name everything that is wrong with the configuration",
		Long: `Read the configuration file and the SOLARMIRROR_* variables, and name every fault: the line of
the file or the variable, the key, and what is expected. The exit code is 2 when there is one.
It looks whether the paths of scheduled jobs can be written. Nothing is asked of the platform and no
other file is read: "solarmirror doctor" does that.`,
		Example: "  solarmirror config check --config prod.toml",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			c, err := a.config()
			if err != nil {
				return err
			}
			if err := c.CheckOutputs(); err != nil {
				return err
			}
			file, environment := c.Given()
			_, err = fmt.Fprintf(a.stdout, "No fault found. %s sets %d keys, the environment %d; the others have their defaults.\n",
				terminal.Harmless(cmp.Or(a.flags.configPath, config.DefaultPath)), file, environment)
			return err
		},
	}
}

func newConfigExampleCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "example",
		Short: "Print a configuration file with every key, its default and its meaning",
		Long: `Print a configuration file with every key, its default and its meaning. It loads as it stands.
"solarmirror init" writes the same with your platform's address.`,
		Example: "  solarmirror config example | less",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			text, err := config.Example(nil)
			if err != nil {
				return err
			}
			_, err = io.WriteString(a.stdout, text)
			return err
		},
	}
}
