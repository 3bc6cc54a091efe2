package publish

import (
	"context"
	"testing"

	"go.uber.org/goleak"

	"solarmirror/store"
	"solarmirror/store/storetest"
)

func TestMain(m *testing.M) {
	storetest.PlayChild(map[string]func(path string) error{"publish": publishForever, "hold": holdOpen, "restore": restoreForever})
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

// writePage writes n orders with a product each, or renames existing ones.
func writePage(m *store.Mirror, page, n int, name string) error {
	return m.Update(context.Background(), func(tx *store.Tx) error {
		for _, query := range []string{
			`INSERT INTO requests (request_key, request_type, id, name)
				SELECT 1000 * ?1 + value, 'order', printf('%04d-%04d', ?1, value), ?3 FROM generate WHERE value <= ?2`,
			`INSERT INTO request_products (request_key, position, name) SELECT 1000 * ?1 + value, 1, ?3 FROM generate WHERE value <= ?2`,
		} {
			query = "WITH RECURSIVE generate (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM generate WHERE value < ?2) " +
				query + " ON CONFLICT DO UPDATE SET name = excluded.name"
			if _, err := tx.Exec("write a page", query, page, n, name); err != nil {
				return err
			}
		}
		return nil
	})
}
