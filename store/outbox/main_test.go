package outbox

import (
	"testing"

	"go.uber.org/goleak"

	"solarmirror/store"
	"solarmirror/store/storetest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

var (
	must       = storetest.Must
	start      = storetest.Start
	fixedClock = storetest.Clock
	mirrorPath = storetest.MirrorPath
)

func openMirror(t *testing.T, path string) *store.Mirror {
	t.Helper()
	m, err := store.Open(t.Context(), path, store.Options{Now: fixedClock})
	return storetest.Opened(t, m, err)
}
