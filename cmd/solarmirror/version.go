package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/buildinfo"
)

func newVersionCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version and what it was built from",
		Example: "  solarmirror version --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			build := buildinfo.Read()
			if asJSON {
				return json.NewEncoder(a.stdout).Encode(build)
			}
			_, err := io.WriteString(a.stdout, buildText(build))
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object: version, revision, time, modified, go, platform")
	return cmd
}

func buildText(b buildinfo.Info) string {
	revision := b.Revision
	if revision == "" {
		revision = "unknown"
	}
	if b.Time != "" {
		revision += " of " + b.Time
	}
	if b.Modified {
		revision += ", modified"
	}
	return fmt.Sprintf("solarmirror %s\nrevision    %s\ngo          %s %s\n", b.Version, revision, b.Go, b.Platform)
}
