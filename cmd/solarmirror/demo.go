package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/demo"
)

func newDemoCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Mirror a simulated platform and look at the result; needs nothing",
		Long: fmt.Sprintf(`Start a simulated platform inside this process, mirror it into ./%s/, let %d days
pass there with %d syncs, show a few answers and write the sales report. Needs no
configuration and no network; an earlier demo in the same place is replaced.`, demo.Dir, demo.Days, demo.Syncs),
		Example: "  solarmirror demo",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return demo.Run(cmd.Context(), a.stdout, a.stderr, a.flags.quiet)
		},
	}
}
