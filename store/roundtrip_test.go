package store

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"solarmirror/schema"
	"solarmirror/store/sqlitefile"
)

// TestRoundTrip writes records several times over and reads each back, value by value. Ids are new in every check, so
// that a failing one can be shrunk although the file is shared.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	m := openMirror(t, mirrorPath(t))
	check := 0
	rapid.Check(t, func(rt *rapid.T) {
		check++
		truth := map[NaturalKey]map[string][][]any{} // table → rows without the surrogate key
		hashes := map[NaturalKey]Hash{}
		for range rapid.IntRange(1, 3).Draw(rt, "pages") {
			page := rapid.SliceOfNDistinct(rapid.IntRange(0, 3), 1, 4, rapid.ID).Draw(rt, "page")
			must(t, m.Update(t.Context(), func(tx *Tx) error {
				return writeDrawn(rt, tx, check, page, truth, hashes)
			}))
		}
		for key, want := range truth {
			if diff := cmp.Diff(want, readRecord(t, m, key)); diff != "" {
				rt.Fatalf("%v (-written +read):\n%s", key, diff)
			}
		}
	})
}

func writeDrawn(rt *rapid.T, tx *Tx, check int, page []int, truth map[NaturalKey]map[string][][]any, hashes map[NaturalKey]Hash) error {
	keys := make([]NaturalKey, len(page))
	for i, n := range page {
		keys[i] = NaturalKey{[]string{"order", "budget"}[n%2], fmt.Sprint(check, "-", n/2)}
	}
	stored, err := tx.Stored(schema.Requests, keys)
	if err != nil {
		return err
	}
	var rows []schema.Rows
	for _, table := range append([]*schema.Table{schema.Requests}, schema.Requests.Children...) {
		rows = append(rows, schema.Rows{Table: table})
	}
	var replaced []int64
	for i, key := range keys {
		if s := stored[i]; (s.Key != 0) != (truth[key] != nil) || s.Hash != hashes[key] {
			rt.Fatalf("%v: stored %+v, hash should be %v", key, s, hashes[key])
		}
		surrogate := stored[i].Key
		if surrogate == 0 {
			surrogate = tx.NewKey(schema.Requests)
		} else {
			replaced = append(replaced, surrogate)
		}
		hashes[key] = Hash{Raw: rapid.Uint64().Draw(rt, "raw"), Canonical: rapid.Uint64().Draw(rt, "canonical")}
		record := drawRecord(rt, surrogate, key, hashes[key], truth[key])
		for n := range rows {
			rows[n].Values = append(rows[n].Values, record[n].Values...)
		}
		truth[key] = byTable(record)
	}
	return tx.Upsert(rows, replaced)
}

// drawRecord draws a row for the root and up to three for each table right under it that has a position. Of what was there before it keeps some.
func drawRecord(rt *rapid.T, surrogate int64, key NaturalKey, h Hash, before map[string][][]any) []schema.Rows {
	var all []schema.Rows
	for _, table := range append([]*schema.Table{schema.Requests}, schema.Requests.Children...) {
		n := 1
		switch table.Shape {
		case schema.One:
			n = rapid.IntRange(0, 1).Draw(rt, table.Name)
		case schema.Many:
			n = rapid.IntRange(0, 3).Draw(rt, table.Name)
		}
		rows := schema.Rows{Table: table}
		for i := range n {
			if have := before[table.Name]; table != schema.Requests && i < len(have) && rapid.Bool().Draw(rt, "same") {
				rows.Values = append(append(rows.Values, surrogate), have[i]...)
				continue
			}
			for _, c := range table.Columns {
				rows.Values = append(rows.Values, drawValue(rt, c, map[string]any{
					"request_key": surrogate, "request_type": key[0], "id": key[1], "position": int64(i + 1), "_hash": h.Bytes(),
					"_changed_at": sqlitefile.FormatTime(start), "_first_seen_at": sqlitefile.FormatTime(start),
				}))
			}
		}
		all = append(all, rows)
	}
	return all
}

func drawValue(rt *rapid.T, c schema.Column, fixed map[string]any) any {
	// The fixed names mean the same in the root only; "id" of a freight's integration has another column name.
	if v, ok := fixed[c.Name]; ok {
		return v
	}
	if !c.Not && rapid.IntRange(0, 3).Draw(rt, "null") == 0 {
		return nil
	}
	switch c.Type {
	case schema.Real:
		return rapid.Float64Range(-1e300, 1e300).Draw(rt, c.Name) + 0 // + 0 makes -0 the 0 that REAL keeps
	case schema.BigInt:
		return rapid.Int64().Draw(rt, c.Name)
	case schema.Boolean:
		return rapid.Int64Range(0, 1).Draw(rt, c.Name)
	case schema.Date:
		return start.AddDate(0, 0, rapid.IntRange(-20_000, 20_000).Draw(rt, c.Name)).Format(time.DateOnly)
	case schema.Timestamp:
		return sqlitefile.FormatTime(start.Add(time.Duration(rapid.Int64Range(-1e12, 1e12).Draw(rt, c.Name)) * time.Millisecond))
	}
	return rapid.SampledFrom([]string{"", "x", "123", "1e5", " 007 ", "NULL", "a\x00b", "ação ☀", "<b>'\"</b>", "2026-01-01"}).Draw(rt, c.Name)
}

func byTable(rows []schema.Rows) map[string][][]any {
	out := map[string][][]any{}
	for _, r := range rows {
		for i := range r.Len() {
			out[r.Table.Name] = append(out[r.Table.Name], r.Row(i)[1:])
		}
	}
	return out
}

func readRecord(t *testing.T, m *Mirror, key NaturalKey) map[string][][]any {
	t.Helper()
	out := map[string][][]any{}
	for _, table := range append([]*schema.Table{schema.Requests}, schema.Requests.Children...) {
		result, err := m.Query(t.Context(), fmt.Sprintf(`SELECT %s FROM %s WHERE request_key =
			(SELECT request_key FROM requests WHERE request_type = '%s' AND id = '%s') ORDER BY %s`,
			strings.Join(table.ColumnNames()[1:], ", "), table.Name, key[0], key[1], strings.Join(table.Key, ", ")))
		must(t, err)
		if rows := all(t, result); len(rows) > 0 {
			out[table.Name] = rows
		}
	}
	return out
}
