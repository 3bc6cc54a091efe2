package publish

import (
	"flag"
	"path/filepath"
	"testing"
)

var published = flag.String("published", "", "the `mirror` that BenchmarkPublish copies")

// BenchmarkPublish makes a masked and a full copy of a mirror.
func BenchmarkPublish(b *testing.B) {
	if *published == "" {
		b.Skip("no -published")
	}
	for name, o := range map[string]Options{"masked": masked(""), "full": {KeepVersions: 1}} {
		b.Run(name, func(b *testing.B) {
			o.To = filepath.Join(b.TempDir(), "copy.db")
			for b.Loop() {
				done, err := Copy(b.Context(), *published, o)
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(done.Size)
			}
		})
	}
}
