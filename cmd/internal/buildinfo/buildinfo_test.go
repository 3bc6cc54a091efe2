package buildinfo

import (
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestInfoOf(t *testing.T) {
	t.Parallel()
	got := infoOf(&debug.BuildInfo{
		Main: debug.Module{Version: "v1.2.3"},
		Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: "abc123"}, {Key: "vcs.time", Value: "2026-11-21T10:00:00Z"}, {Key: "vcs.modified", Value: "true"},
		},
	})
	want := Info{Version: "v1.2.3", Revision: "abc123", Time: "2026-11-21T10:00:00Z", Modified: true}
	if d := cmp.Diff(want, got, cmpopts.IgnoreFields(Info{}, "Go", "Platform")); d != "" {
		t.Error(d)
	}
	if bare := infoOf(nil); bare.Version != "(unknown)" || !strings.HasPrefix(bare.Go, "go") {
		t.Errorf("without build info: %+v", bare)
	}
}
