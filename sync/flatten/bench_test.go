package flatten_test

import (
	"errors"
	"runtime"
	"slices"
	"testing"

	"solarmirror/schema"
	"solarmirror/sync/flatten"
)

func eachSample(b *testing.B, measure func(b *testing.B, root *schema.Table, raw []byte)) {
	for _, root := range schema.Roots() {
		b.Run(root.Name, func(b *testing.B) {
			raw := readSample(b, samples[root])
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			measure(b, root, raw)
		})
	}
}

// pageSize is how many records go into a batch before it is used again.
const pageSize = 50

func BenchmarkFlatten(b *testing.B) {
	eachSample(b, func(b *testing.B, root *schema.Table, raw []byte) {
		plan := flatten.Compile(root)
		batch := plan.NewBatch()
		f := plan.NewFlattener(batch)
		rec := newRecord(root, 1, raw)
		for i := 0; b.Loop(); i++ {
			if i%pageSize == 0 {
				batch.Reset()
			}
			if err := f.Flatten(rec); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkCrew(b *testing.B) {
	eachSample(b, func(b *testing.B, root *schema.Table, raw []byte) {
		plan := flatten.Compile(root)
		batch := plan.NewBatch()
		crew := plan.NewCrew(batch, runtime.GOMAXPROCS(0))
		page := slices.Repeat([]flatten.Record{newRecord(root, 1, raw)}, pageSize)
		b.SetBytes(int64(len(raw) * pageSize))
		for b.Loop() {
			batch.Reset()
			if err := errors.Join(crew.Flatten(page)...); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkRawHash(b *testing.B) {
	eachSample(b, func(b *testing.B, _ *schema.Table, raw []byte) {
		for b.Loop() {
			if flatten.RawHash(raw) == 0 {
				b.Fatal("no hash")
			}
		}
	})
}

func BenchmarkCanonical(b *testing.B) {
	eachSample(b, func(b *testing.B, _ *schema.Table, raw []byte) {
		for b.Loop() {
			if _, ok := flatten.Canonical(raw); !ok {
				b.Fatal("cannot follow the sample")
			}
		}
	})
}

func BenchmarkKey(b *testing.B) {
	eachSample(b, func(b *testing.B, root *schema.Table, raw []byte) {
		plan := flatten.Compile(root)
		for b.Loop() {
			if _, err := plan.Key(raw, partition(root)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkRebuild(b *testing.B) {
	eachSample(b, func(b *testing.B, root *schema.Table, raw []byte) {
		batch, err := flattenOne(root, raw)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := flatten.Rebuild(batch.Rows); err != nil {
				b.Fatal(err)
			}
		}
	})
}
