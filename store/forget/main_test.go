package forget

import (
	"context"
	"testing"

	"go.uber.org/goleak"

	"solarmirror/store"
	"solarmirror/store/storetest"
)

func TestMain(m *testing.M) {
	storetest.PlayChild(map[string]func(path string) error{"read": readForever})
	goleak.VerifyTestMain(m)
}

var (
	must       = storetest.Must
	start      = storetest.Start
	fixedClock = storetest.Clock
	mirrorPath = storetest.MirrorPath
	startChild = storetest.Child
)

func openMirror(t *testing.T, path string) *store.Mirror {
	t.Helper()
	m, err := store.Open(t.Context(), path, store.Options{Now: fixedClock})
	return storetest.Opened(t, m, err)
}

// execute runs statements as the writer.
func execute(t *testing.T, m *store.Mirror, statements ...string) {
	t.Helper()
	must(t, m.Update(context.Background(), func(tx *store.Tx) error {
		for _, s := range statements {
			if _, err := tx.Exec(s, s); err != nil {
				return err
			}
		}
		return nil
	}))
}
