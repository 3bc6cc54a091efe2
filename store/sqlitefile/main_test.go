package sqlitefile

import (
	"testing"

	"go.uber.org/goleak"

	"solarmirror/store/storetest"
)

func TestMain(m *testing.M) {
	storetest.PlayChild(map[string]func(path string) error{"lock": holdLock})
	goleak.VerifyTestMain(m)
}

var (
	must       = storetest.Must
	mirrorPath = storetest.MirrorPath
	startChild = storetest.Child
)
