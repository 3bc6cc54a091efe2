package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/buildinfo"
	"solarmirror/cmd/internal/mcpserver"
	"solarmirror/cmd/internal/terminal"
)

func newMCPCommand(a *app) *cobra.Command {
	var unmasked bool
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Let an AI assistant ask the published copy",
		Long: `Serve the published copy ([publish] path) to an AI assistant by the Model Context Protocol,
over standard input and output. The assistant starts this command itself: store/README.md
has the lines for Claude, VS Code, Cursor and others. It ends with the assistant.

The assistant can list and describe the tables, run SQL that reads, and see how fresh the
data is. It can change nothing and reads no other file. A statement has 10 seconds (50 at
most), and an answer 100 rows (1,000 at most) and 40,000 bytes; the answer says when it was
cut. Each call opens the copy anew, so that the next "solarmirror publish" is seen at once.

What the assistant reads goes to the company that runs it. So a copy that is not masked is
refused, unless --unmasked is given.`,
		Example: `  solarmirror mcp
  claude mcp add solarmirror -- solarmirror --config /srv/solarmirror/config.toml mcp`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, log, err := a.configAndLog()
			if err != nil {
				return err
			}
			if terminal.Is(a.stdin) {
				log.Warn().Msg("an AI assistant starts this command; on a terminal it waits for the protocol's messages until Ctrl-D")
			}
			err = mcpserver.Serve(cmd.Context(), a.stdin, a.stdout, mcpserver.Options{
				Path: c.Publish.Path, Unmasked: unmasked, Version: buildinfo.Read().Version, Now: time.Now, Log: log,
			})
			if errors.Is(err, mcpserver.ErrNotMasked) {
				return &usageError{command: cmd.CommandPath(), err: err}
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&unmasked, "unmasked", false, "serve a copy with personal data too")
	return cmd
}
