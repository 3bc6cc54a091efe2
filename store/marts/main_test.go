package marts

import (
	"context"
	"testing"

	"go.uber.org/goleak"

	"solarmirror/store"
	"solarmirror/store/storetest"
	"solarmirror/store/testsize"
)

func TestMain(m *testing.M) {
	testsize.Properties(40)
	goleak.VerifyTestMain(m)
}

var (
	must       = storetest.Must
	mirrorPath = storetest.MirrorPath
)

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

func openMirror(t *testing.T, path string) *store.Mirror {
	t.Helper()
	m, err := store.Open(t.Context(), path, store.Options{Now: storetest.Clock})
	return storetest.Opened(t, m, err)
}
