package main

import "github.com/spf13/cobra"

func newConfigCommand(a *app) *cobra.Command {
	group := &cobra.Command{
		Use:     "config",
		Short:   "Look at the configuration",
		Example: "  solarmirror config show",
	}
	group.AddCommand(newConfigShowCommand(a))
	return group
}

func newConfigShowCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "show",
		Short: "Print the configuration in force, as TOML",
		Long: `Print every key of the configuration with the value in force and where that
came from. Secrets are masked. config.example.toml describes the keys.`,
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
