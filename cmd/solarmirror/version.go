package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersionCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version and what it was built from",
		Example: "  solarmirror version --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := buildVersion()
			if asJSON {
				return json.NewEncoder(a.stdout).Encode(v)
			}
			return v.print(a.stdout)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// version is what a binary knows of its own build.
type version struct {
	Version  string `json:"version"`            // the module's; "(devel)" for a plain build
	Revision string `json:"revision,omitempty"` // of the source; "" where it was built outside a checkout
	Time     string `json:"time,omitempty"`     // of the revision, RFC 3339
	Modified bool   `json:"modified"`           // the checkout held uncommitted changes
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// linkedVersion and linkedRevision are set by the linker (-X main.linkedVersion=v1.2.3) where the build sees no checkout, as in the Dockerfile.
var linkedVersion, linkedRevision string

// buildVersion is the version of the running binary.
func buildVersion() version {
	build, _ := debug.ReadBuildInfo() // nil where the binary carries none
	v := versionOf(build)
	v.Version = cmp.Or(linkedVersion, v.Version)
	v.Revision = cmp.Or(linkedRevision, v.Revision)
	return v
}

func versionOf(build *debug.BuildInfo) version {
	v := version{Version: "(unknown)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if build == nil {
		return v
	}
	if build.Main.Version != "" {
		v.Version = build.Main.Version
	}
	for _, s := range build.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.time":
			v.Time = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

func (v version) print(w io.Writer) error {
	revision := v.Revision
	if revision == "" {
		revision = "unknown"
	}
	if v.Time != "" {
		revision += " of " + v.Time
	}
	if v.Modified {
		revision += ", modified"
	}
	_, err := fmt.Fprintf(w, "solarmirror %s\nrevision    %s\ngo          %s %s\n", v.Version, revision, v.Go, v.Platform)
	return err
}
