package pull

import (
	"cmp"
	"slices"
	"strings"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/sync/flatten"
	"solarmirror/sync/scan"
)

// comparer flattens records and compares the result with their rows in the mirror. It belongs to
// one goroutine.
type comparer struct {
	stream *Stream
	batch  *flatten.Batch
	flat   *flatten.Flattener
}

func newComparer(s *Stream) *comparer {
	batch := s.plan.NewBatch()
	return &comparer{stream: s, batch: batch, flat: s.plan.NewFlattener(batch)}
}

// edited returns the tables in which the rows in the mirror are not the rows that the record
// flattens to. The error is a *flatten.Reject.
func (c *comparer) edited(r scan.Record, key int64, rows []schema.Rows) (tables []string, err error) {
	defer c.batch.Reset()
	if err := c.flat.Flatten(flatten.Record{Key: key, Partition: c.stream.Partition, RawHash: r.Hash, Raw: r.Raw}); err != nil {
		return nil, err
	}
	for i := range rows {
		if !sameRows(&c.batch.Rows[i], &rows[i]) {
			tables = append(tables, rows[i].Table.Name)
		}
	}
	return tables, nil
}

// sameContent says whether the mirror's hash is that of the record, whatever the order of keys and
// the white space.
func sameContent(r scan.Record, h store.Hash) bool {
	if r.Hash == h.Raw {
		return true
	}
	canonical, ok := flatten.Canonical(r.Raw)
	return ok && canonical == h.Canonical
}

// sameRows compares flattened rows with rows read in the order of their key.
func sameRows(flat, held *schema.Rows) bool {
	if flat.Len() != held.Len() {
		return false
	}
	rows := make([][]any, flat.Len())
	for i := range rows {
		rows[i] = flat.Row(i)
	}
	if flat.Table.Shape == schema.Values { // flattened in the order of the record's members
		slices.SortStableFunc(rows, func(a, b []any) int { return cmp.Compare(a[1].(string), b[1].(string)) })
	}
	for i, row := range rows {
		if !sameRow(flat.Table, row, held.Row(i)) {
			return false
		}
	}
	return true
}

// sameRow compares all columns but the bookkeeping, which no field of the record decides.
func sameRow(t *schema.Table, flat, held []any) bool {
	for i := range t.Columns {
		name := t.Columns[i].Name
		switch {
		case strings.HasPrefix(name, "_"):
		case flat[i] == held[i]: // of the same type, too
		case name != "extra" || !sameExtra(flat[i], held[i]):
			return false
		}
	}
	return true
}

// sameExtra compares what two values of extra say. Their texts may differ: a record written anew
// with its keys in another order keeps its rows, and a promotion puts what is left at the end.
func sameExtra(flat, held any) bool {
	a, isText := flat.(string)
	b, isTextToo := held.(string)
	if !isText || !isTextToo {
		return false
	}
	hashA, ok := flatten.Canonical([]byte(a))
	hashB, okToo := flatten.Canonical([]byte(b))
	return ok && okToo && hashA == hashB
}
