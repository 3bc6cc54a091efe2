package store

import (
	"context"
	"fmt"
	"testing"

	"go.uber.org/goleak"

	"solarmirror/schema"
	"solarmirror/store/storetest"
	"solarmirror/store/testsize"
)

func TestMain(m *testing.M) {
	storetest.PlayChild(map[string]func(path string) error{"load": loadForever})
	testsize.Properties(100)
	goleak.VerifyTestMain(m)
}

var (
	start      = storetest.Start
	fixedClock = storetest.Clock
	mirrorPath = storetest.MirrorPath
	startChild = storetest.Child
	must       = storetest.Must
)

func openMirror(t *testing.T, path string) *Mirror {
	t.Helper()
	m, err := Open(t.Context(), path, Options{Now: fixedClock})
	return storetest.Opened(t, m, err)
}

func openReader(t *testing.T, path string) *Mirror {
	t.Helper()
	m, err := OpenReadOnly(t.Context(), path)
	return storetest.Opened(t, m, err)
}

// number reads one number from the mirror.
func number(t *testing.T, m *Mirror, query string) int64 {
	t.Helper()
	return storetest.Number(t, m.read, query)
}

func soundFile(t *testing.T, m *Mirror) {
	t.Helper()
	storetest.Sound(t, m.read)
}

var products = schema.Find("request_products")

// request is a made-up record: its rows in two tables.
type request struct {
	id, name string
	products int
	hash     Hash
}

// row lays values out in the columns of a table; columns not named are NULL.
func row(t *schema.Table, values map[string]any) []any {
	out := make([]any, len(t.Columns))
	for i, c := range t.Columns {
		out[i] = values[c.Name]
	}
	return out
}

func (r request) natural() NaturalKey { return NaturalKey{"order", r.id} }

// rows flattens requests as a caller of Upsert would.
func rowsOf(requests []request, keys []int64, at string) []schema.Rows {
	roots, items := schema.Rows{Table: schema.Requests}, schema.Rows{Table: products}
	for i, r := range requests {
		roots.Values = append(roots.Values, row(schema.Requests, map[string]any{
			"request_key": keys[i], "request_type": "order", "id": r.id, "name": r.name, "_hash": r.hash.Bytes(),
			"_first_seen_at": at, "_changed_at": at,
		})...)
		for p := range r.products {
			items.Values = append(items.Values, row(products, map[string]any{
				"request_key": keys[i], "position": int64(p + 1), "name": r.name,
			})...)
		}
	}
	return []schema.Rows{roots, items}
}

// writePage does what a sync does with a page: look up, write what is new or changed, leave the rest.
func writePage(ctx context.Context, m *Mirror, at string, page []request) (written int, err error) {
	err = m.Update(ctx, func(tx *Tx) error {
		keys := make([]NaturalKey, len(page))
		for i, r := range page {
			keys[i] = r.natural()
		}
		stored, err := tx.Stored(schema.Requests, keys)
		if err != nil {
			return err
		}
		var changed []request
		var surrogates, replaced []int64
		for i, r := range page {
			switch s := stored[i]; {
			case s.Key == 0:
				changed, surrogates = append(changed, r), append(surrogates, tx.NewKey(schema.Requests))
			case s.Hash != r.hash:
				changed, surrogates = append(changed, r), append(surrogates, s.Key)
				replaced = append(replaced, s.Key)
			}
		}
		written = len(changed)
		if written == 0 {
			return nil
		}
		return tx.Upsert(rowsOf(changed, surrogates, at), replaced)
	})
	return written, err
}

// somePage is n requests with ids of their own.
func somePage(number, n int) []request {
	page := make([]request, n)
	for i := range page {
		id := fmt.Sprintf("%04d-%04d", number, i)
		page[i] = request{id: id, name: "n" + id, products: 1 + i%3, hash: Hash{Raw: uint64(number*n+i) + 1, Canonical: 7}}
	}
	return page
}
