package flatten_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"solarmirror/schema"
	"solarmirror/sync/flatten"
)

const pageTime = "2026-03-10 12:00:00.000"

// partition is what a root's stream supplies.
func partition(root *schema.Table) string {
	if root == schema.Requests {
		return "order"
	}
	return ""
}

func newRecord(root *schema.Table, key int64, raw []byte) flatten.Record {
	return flatten.Record{Key: key, Partition: partition(root), RawHash: flatten.RawHash(raw), At: pageTime, Raw: raw}
}

// flattenOne flattens one record into a batch of its own.
func flattenOne(root *schema.Table, raw []byte) (*flatten.Batch, error) {
	plan := flatten.Compile(root)
	b := plan.NewBatch()
	return b, plan.NewFlattener(b).Flatten(newRecord(root, 7, raw))
}

// rowsOf returns what the rows say in the columns that fields feed, by address: table and positions.
func rowsOf(t fataler, rows []schema.Rows, key int64) map[string]map[string]any {
	all := map[string]map[string]any{}
	for _, r := range rows {
		for i := range r.Len() {
			row := r.Row(i)
			if row[0] != key {
				continue
			}
			addr := fmt.Sprint(r.Table.Name, row[1:len(r.Table.Key)])
			if all[addr] != nil {
				t.Fatalf("%s is there twice", addr)
			}
			all[addr] = map[string]any{}
			for c, column := range r.Table.Columns {
				if column.Path != "" && row[c] != nil {
					all[addr][column.Name] = row[c]
				}
			}
		}
	}
	return all
}

type fataler interface{ Fatalf(string, ...any) }

// rootValue returns one value of the only root row.
func rootValue(b *flatten.Batch, column string) any {
	for i, c := range b.Rows[0].Table.Columns {
		if c.Name == column {
			return b.Rows[0].Values[i]
		}
	}
	panic("no column " + column)
}

func eachRoot(t *testing.T, check func(t *testing.T, root *schema.Table)) {
	for _, root := range schema.Roots() {
		t.Run(root.Name, func(t *testing.T) {
			t.Parallel()
			check(t, root)
		})
	}
}

// plainJSON is a drawn value as encoding/json decodes it.
func plainJSON(t *rapid.T, v any) any {
	decoded, err := decodeStrict(write(v, 0))
	if err != nil {
		t.Fatalf("drawn value: %v", err)
	}
	return decoded
}

func testRecords(t *testing.T, drifting bool, check func(t *rapid.T, root *schema.Table, record object, want expected)) {
	t.Parallel()
	eachRoot(t, func(t *testing.T, root *schema.Table) {
		rapid.Check(t, func(t *rapid.T) {
			record, want := drawRecord(t, root, drifting)
			check(t, root, record, want)
		})
	})
}

// Every value of a record is where it belongs: its column, extra, or both; and what differs from the model is noted.
func TestFlattenPutsEveryValueWhereItBelongs(t *testing.T) {
	for _, drifting := range []bool{false, true} {
		t.Run(fmt.Sprint("drifting=", drifting), func(t *testing.T) {
			testRecords(t, drifting, func(t *rapid.T, root *schema.Table, record object, want expected) {
				raw := write(record, rapid.Uint64().Draw(t, "style"))
				b, err := flattenOne(root, raw)
				if err != nil {
					t.Fatalf("Flatten(%s): %v", raw, err)
				}
				if diff := cmp.Diff(want.rows, rowsOf(t, b.Rows, 7)); diff != "" {
					t.Fatalf("rows of %s (-want +got):\n%s", raw, diff)
				}
				wantExtra, gotExtra := map[string]any{}, map[string]any{}
				for pointer, v := range want.extra {
					wantExtra[pointer] = plainJSON(t, v)
				}
				if extra := rootValue(b, "extra"); extra != nil {
					v, err := decodeStrict([]byte(extra.(string)))
					if err != nil {
						t.Fatalf("extra %s: %v", extra, err)
					}
					gotExtra = v.(map[string]any)
				}
				if diff := cmp.Diff(wantExtra, gotExtra); diff != "" {
					t.Fatalf("extra of %s (-want +got):\n%s", raw, diff)
				}
				gotDrift := map[flatten.Drift]int64{}
				for d, seen := range b.Drift {
					gotDrift[d] = seen.Occurrences
				}
				if diff := cmp.Diff(want.drift, gotDrift); diff != "" {
					t.Fatalf("drift of %s (-want +got):\n%s", raw, diff)
				}
			})
		})
	}
}

// checkRebuild compares a record with what is rebuilt of its rows.
func checkRebuild(t fataler, root *schema.Table, raw []byte, rows []schema.Rows) {
	rebuilt, err := flatten.Rebuild(rows)
	if err != nil {
		t.Fatalf("Rebuild of %s: %v", raw, err)
	}
	want, err := decodeStrict(raw)
	if err != nil {
		t.Fatalf("encoding/json refuses %s: %v", raw, err)
	}
	got, err := decodeStrict(rebuilt)
	if err != nil {
		t.Fatalf("rebuilt %s: %v", rebuilt, err)
	}
	s := shapeOf(root)
	if diff := cmp.Diff(normalize(s, want), normalize(s, got)); diff != "" {
		t.Fatalf("rebuilt differs (-original +rebuilt):\n%s\noriginal %s\nrebuilt  %s", diff, raw, rebuilt)
	}
}

// Nothing is lost: a record can be made again of its rows.
func TestRebuildIsTheInverse(t *testing.T) {
	testRecords(t, true, func(t *rapid.T, root *schema.Table, record object, _ expected) {
		raw := write(record, rapid.Uint64().Draw(t, "style"))
		b, err := flattenOne(root, raw)
		if err != nil {
			t.Fatalf("Flatten(%s): %v", raw, err)
		}
		checkRebuild(t, root, raw, b.Rows)
	})
}

// What is rebuilt flattens to the same rows again, but for drift that a conversion has healed.
func TestRebuiltFlattensToTheSameRows(t *testing.T) {
	testRecords(t, true, func(t *rapid.T, root *schema.Table, record object, _ expected) {
		b, err := flattenOne(root, write(record, 0))
		if err != nil {
			t.Fatalf("Flatten: %v", err)
		}
		rebuilt, err := flatten.Rebuild(b.Rows)
		if err != nil {
			t.Fatalf("Rebuild: %v", err)
		}
		again, err := flattenOne(root, rebuilt)
		if err != nil {
			t.Fatalf("Flatten(%s): %v", rebuilt, err)
		}
		if diff := cmp.Diff(rowsOf(t, b.Rows, 7), rowsOf(t, again.Rows, 7)); diff != "" {
			t.Fatalf("rows of %s (-original +rebuilt):\n%s", rebuilt, diff)
		}
	})
}

// A batch holds what its records hold alone, and nothing of those that are refused.
func TestBatchIsTheSumOfItsRecords(t *testing.T) {
	t.Parallel()
	eachRoot(t, func(t *testing.T, root *schema.Table) {
		plan := flatten.Compile(root)
		rapid.Check(t, func(t *rapid.T) {
			together := plan.NewBatch()
			f := plan.NewFlattener(together)
			drift := map[flatten.Drift]int64{}
			alone := map[int64]map[string]map[string]any{}
			for key := range int64(rapid.IntRange(1, 4).Draw(t, "records")) {
				record, _ := drawRecord(t, root, true)
				raw := write(record, 0)
				if rapid.Bool().Draw(t, "cut short") {
					checkRefused(t, f, together, newRecord(root, key, raw[:rapid.IntRange(0, len(raw)-1).Draw(t, "cut")]))
				}
				b := plan.NewBatch()
				for _, f := range []*flatten.Flattener{f, plan.NewFlattener(b)} {
					if err := f.Flatten(newRecord(root, key, raw)); err != nil {
						t.Fatalf("Flatten(%s): %v", raw, err)
					}
				}
				alone[key] = rowsOf(t, b.Rows, key)
				for d, seen := range b.Drift {
					drift[d] += seen.Occurrences
				}
			}
			for key, rows := range alone {
				if diff := cmp.Diff(rows, rowsOf(t, together.Rows, key)); diff != "" {
					t.Fatalf("record %d (-alone +together):\n%s", key, diff)
				}
			}
			if n := together.Rows[0].Len(); n != len(alone) {
				t.Fatalf("%d root rows of %d records", n, len(alone))
			}
			for d, seen := range together.Drift {
				if seen.Occurrences != drift[d] {
					t.Fatalf("%v: %d times together, %d alone", d, seen.Occurrences, drift[d])
				}
			}
		})
	})
}

// checkRefused flattens a record that must be refused and looks for traces of it.
func checkRefused(t *rapid.T, f *flatten.Flattener, b *flatten.Batch, rec flatten.Record) {
	before := snapshot(b)
	err := f.Flatten(rec)
	var reject *flatten.Reject
	if !errors.As(err, &reject) {
		t.Fatalf("Flatten(%s) = %v, not a Reject", rec.Raw, err)
	}
	if diff := cmp.Diff(before, snapshot(b)); diff != "" {
		t.Fatalf("refusing %s left traces:\n%s", rec.Raw, diff)
	}
}

func snapshot(b *flatten.Batch) []any {
	var all []any
	for _, r := range b.Rows {
		all = append(all, r.Table.Name, append([]any{}, r.Values...))
	}
	drift := map[flatten.Drift]flatten.Seen{}
	for d, seen := range b.Drift {
		drift[d] = seen
	}
	return append(all, drift)
}

// The key read ahead is the key flattening finds.
func TestKeyAgreesWithFlatten(t *testing.T) {
	testRecords(t, true, func(t *rapid.T, root *schema.Table, record object, _ expected) {
		raw := write(record, rapid.Uint64().Draw(t, "style"))
		b, err := flattenOne(root, raw)
		if err != nil {
			t.Fatalf("Flatten(%s): %v", raw, err)
		}
		want := [2]string{rootValue(b, root.Unique[0]).(string), rootValue(b, root.Unique[1]).(string)}
		got, err := flatten.Compile(root).Key(raw, partition(root))
		if err != nil || got != want {
			t.Fatalf("Key(%s) = %q, %v; want %q", raw, got, err, want)
		}
	})
}

// However a record is written, its content hash is the same; another content has another one.
func TestCanonical(t *testing.T) {
	testRecords(t, true, func(t *rapid.T, root *schema.Table, record object, _ expected) {
		raw := write(record, 0)
		want, ok := flatten.Canonical(raw)
		if !ok {
			t.Fatalf("Canonical(%s) cannot follow", raw)
		}
		other := write(record, rapid.Uint64Min(1).Draw(t, "style"))
		if got, ok := flatten.Canonical(other); !ok || got != want {
			t.Fatalf("Canonical differs:\n%s\n%s", raw, other)
		}
		changed := write(change(t, record), 0)
		if cmp.Equal(decodeOrFail(t, raw), decodeOrFail(t, changed)) {
			return
		}
		if got, _ := flatten.Canonical(changed); got == want {
			t.Fatalf("Canonical is the same:\n%s\n%s", raw, changed)
		}
	})
}

func decodeOrFail(t *rapid.T, raw []byte) any {
	v, err := decodeStrict(raw)
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return v
}

// change changes one thing somewhere in a value.
func change(t *rapid.T, v any) any {
	deeper := rapid.Bool().Draw(t, "deeper")
	pick := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "which") }
	switch v := v.(type) {
	case text:
		return rapid.SampledFrom([]any{v + "x", null, list{v}, literal("1")}).Draw(t, "change")
	case literal:
		return rapid.SampledFrom([]any{text(v), literal("1"), literal("null"), list{v}, object{}}).Draw(t, "change")
	case list:
		if len(v) == 0 {
			return list{null}
		}
		i, j := pick(len(v)), pick(len(v))
		l := append(list{}, v...)
		if deeper {
			l[i] = change(t, l[i])
		} else {
			l[i], l[j] = l[j], l[i]
		}
		return l
	case object:
		if len(v) == 0 {
			return object{{"", null}}
		}
		i := pick(len(v))
		o := append(object{}, v...)
		if deeper {
			o[i].value = change(t, o[i].value)
		} else {
			o[i].name += strings.Repeat("'", len(v)) // no other member has such a name
		}
		return o
	}
	panic("unreachable")
}
