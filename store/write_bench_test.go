package store

import (
	"fmt"
	"testing"
	"time"

	"solarmirror/schema"
	"solarmirror/store/storetest"
)

// benchBatch is how many requests each measured transaction is about.
const benchBatch = 1000

// benchRows are the rows of requests with the given surrogate keys: one in each table that has one, two in each that has many. What status and
// word say is in the root row and in all rows.
func benchRows(first int64, n int, status, word string) (all []schema.Rows, keys []int64) {
	for i := range n {
		keys = append(keys, first+int64(i))
	}
	for _, t := range schema.Requests.Tables() {
		rows := schema.Rows{Table: t}
		for _, key := range keys {
			for i := range benchRowsOf(t) {
				row := storetest.FillRow(t, i)
				row[0] = key
				for c, column := range t.Columns {
					switch {
					case column.Name == "id" && t.Shape == schema.Root:
						row[c] = fmt.Sprintf("%024d", key)
					case column.Name == "deal_status":
						row[c] = status
					case column.Type == schema.Text && column.Clause == "" && !t.IsKey(column.Name):
						row[c] = fmt.Sprint(column.Name, " of ", word)
					}
				}
				rows.Values = append(rows.Values, row...)
			}
		}
		all = append(all, rows)
	}
	return all, keys
}

func benchRowsOf(t *schema.Table) int {
	if t.Shape == schema.Root || t.Shape == schema.One {
		return 1
	}
	return 2
}

// BenchmarkWrite writes transactions of a thousand requests: new ones, and ones of which something differs from what is there.
func BenchmarkWrite(b *testing.B) {
	for _, c := range []struct {
		name  string
		again func(version string) (status, word string) // nil: new requests every time
	}{
		{"new", nil},
		{"nothing differs", func(string) (string, string) { return "s", "w" }},
		{"a status differs", func(version string) (string, string) { return version, "w" }},
		{"all rows differ", func(version string) (string, string) { return "s", version }},
	} {
		b.Run(c.name, func(b *testing.B) {
			m := benchWriter(b)
			write := func(first int64, status, word string, replace bool) {
				rows, keys := benchRows(first, benchBatch, status, word)
				inserted, replaced := keys, []int64(nil)
				if replace {
					inserted, replaced = nil, keys
				}
				b.StartTimer()
				must(b, m.Update(b.Context(), func(tx *Tx) error {
					if err := tx.Upsert(rows, replaced); err != nil {
						return err
					}
					return tx.Follow(schema.Requests, inserted, replaced)
				}))
				b.StopTimer()
			}
			b.StopTimer()
			write(1, "s", "w", false)
			b.ResetTimer()
			for i := range b.N {
				if c.again == nil {
					write(int64(i+1)*benchBatch+1, "s", "w", false)
					continue
				}
				status, word := c.again(fmt.Sprint(i))
				write(1, status, word, true)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*benchBatch), "µs/record")
		})
	}
}

// BenchmarkStored looks up the requests of a page, all of which are there.
func BenchmarkStored(b *testing.B) {
	m := benchWriter(b)
	rows, _ := benchRows(1, benchBatch, "s", "w")
	must(b, m.Update(b.Context(), func(tx *Tx) error { return tx.Upsert(rows, nil) }))
	keys := make([]NaturalKey, 50)
	for i := range keys {
		row := rows[0].Row(i * benchBatch / len(keys))
		keys[i] = NaturalKey{row[1].(string), row[2].(string)}
	}
	tx, err := m.Begin(b.Context())
	must(b, err)
	defer tx.Rollback()
	for b.Loop() {
		found, err := tx.Stored(schema.Requests, keys)
		must(b, err)
		if found[0].Key == 0 {
			b.Fatal("not found")
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/1000/float64(b.N*len(keys)), "µs/record")
}

// benchWriter is an empty mirror with all indices.
func benchWriter(b *testing.B) *Mirror {
	b.Helper()
	m, err := Open(b.Context(), b.TempDir()+"/mirror.db", Options{Now: time.Now})
	must(b, err)
	b.Cleanup(func() { must(b, m.Close()) })
	must(b, m.MakeIndices(b.Context()))
	return m
}
