// Package buildinfo describes the running binary: its version, the source revision, the Go version
// and platform of its build, and the command line that starts it.
package buildinfo

import (
	"cmp"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
)

// Info describes a build.
type Info struct {
	Version  string `json:"version"`            // of the module; "(devel)" for a plain build
	Revision string `json:"revision,omitempty"` // the commit; "" for a build outside a checkout
	Time     string `json:"time,omitempty"`     // of the commit, RFC 3339
	Modified bool   `json:"modified"`           // the checkout had uncommitted changes
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// The Dockerfile and .ci/release set these with the linker (-X): the one has no checkout, the other's
// bytes must not depend on the tags of a checkout.
var linkedVersion, linkedRevision, linkedTime string

// Read returns the Info of the running binary.
func Read() Info {
	build, _ := debug.ReadBuildInfo() // nil when the binary has none
	i := infoOf(build)
	i.Version = cmp.Or(linkedVersion, i.Version)
	i.Revision = cmp.Or(linkedRevision, i.Revision)
	i.Time = cmp.Or(linkedTime, i.Time)
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

// UserAgent returns the User-Agent header of every request.
func UserAgent() string { return "solarmirror/" + Read().Version }

// Command returns the command line that runs this program again. It is not os.Args[0] under
// "go run", which deletes the binary at its end.
func Command() string {
	if strings.Contains(os.Args[0], "go-build") {
		return "go run ./cmd/solarmirror"
	}
	return "solarmirror"
}
