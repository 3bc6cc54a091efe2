// Package buildinfo describes the running binary: its version, what it was built from, and the
// command line that starts it.
package buildinfo

import (
	"cmp"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
)

// Info is what a binary knows of its own build.
type Info struct {
	Version  string `json:"version"`            // the module's; "(devel)" for a plain build
	Revision string `json:"revision,omitempty"` // of the source; "" where it was built outside a checkout
	Time     string `json:"time,omitempty"`     // of the revision, RFC 3339
	Modified bool   `json:"modified"`           // the checkout held uncommitted changes
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// The Dockerfile sets these with the linker (-X), because its build sees no checkout.
var linkedVersion, linkedRevision string

// Read returns the build of the running binary.
func Read() Info {
	build, _ := debug.ReadBuildInfo() // nil where the binary carries none
	i := infoOf(build)
	i.Version = cmp.Or(linkedVersion, i.Version)
	i.Revision = cmp.Or(linkedRevision, i.Revision)
	return i
}

func infoOf(build *debug.BuildInfo) Info {
	i := Info{Version: "(unknown)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if build == nil {
		return i
	}
	if build.Main.Version != "" {
		i.Version = build.Main.Version
	}
	for _, s := range build.Settings {
		switch s.Key {
		case "vcs.revision":
			i.Revision = s.Value
		case "vcs.time":
			i.Time = s.Value
		case "vcs.modified":
			i.Modified = s.Value == "true"
		}
	}
	return i
}

// UserAgent is the User-Agent header of every request.
func UserAgent() string { return "solarmirror/" + Read().Version }

// Command is what to type to run this program again: "go run" deletes the binary when it ends.
func Command() string {
	if strings.Contains(os.Args[0], "go-build") {
		return "go run ./cmd/solarmirror"
	}
	return "solarmirror"
}
