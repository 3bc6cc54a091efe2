package export

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"solarmirror/schema"
)

func TestEveryValueOfASyncedMirror(t *testing.T) {
	t.Parallel()
	m, dir := syncedMirror(t), filepath.Join(t.TempDir(), "out")
	first := mustExport(t, m, Options{Dir: dir, Format: Parquet})
	sameAsMirror(t, m, dir)
	second := mustExport(t, m, Options{Dir: dir, Format: Parquet})
	if second.Written != 0 || second.Removed != 0 || second.Kept != first.Written || second.Rows != first.Rows || second.Bytes != first.Bytes {
		t.Errorf("first %+v, then %+v", first, second)
	}
	if months := len(manifestOf(t, dir).Tables[0].Files); months < 3 {
		t.Errorf("requests of %d months; that tries little", months)
	}
}

// TestParquetTypes: the types a reader sees.
func TestParquetTypes(t *testing.T) {
	t.Parallel()
	got := map[string]string{}
	dir := t.TempDir()
	mustExport(t, emptyMirror(t), Options{Dir: dir, Format: Parquet})
	for i, table := range manifestOf(t, dir).Tables {
		file, err := os.Open(filepath.Join(dir, table.Files[0].Path))
		must(t, err)
		info, err := file.Stat()
		must(t, err)
		f, err := parquet.OpenFile(file, info.Size())
		must(t, err)
		var names []string
		for j, field := range f.Schema().Fields() {
			names = append(names, field.Name())
			c := schema.All()[i].Columns[j]
			if field.Optional() != table.Columns[j].Nullable {
				t.Errorf("%s.%s: optional %v", table.Name, c.Name, field.Optional())
			}
			key := string(c.Type)
			if c.Local {
				key += " local"
			}
			got[key] = fmt.Sprint(field.Type())
		}
		if d := cmp.Diff(schema.All()[i].ColumnNames(), names); d != "" {
			t.Errorf("%s:\n%s", table.Name, d)
		}
		must(t, file.Close())
	}
	want := map[string]string{
		"TEXT": "STRING", "REAL": "DOUBLE", "BIGINT": "INT(64,true)", "INTEGER": "INT(64,true)", "BOOLEAN": "BOOLEAN", "DATE": "DATE", "BLOB": "BYTE_ARRAY",
		"TIMESTAMP":       "TIMESTAMP(isAdjustedToUTC=true,unit=MICROS)",
		"TIMESTAMP local": "TIMESTAMP(isAdjustedToUTC=false,unit=MICROS)",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestNothingOutsideIsTouched: what stands in a directory beside an export stays, and a directory of other things is refused.
func TestNothingOutsideIsTouched(t *testing.T) {
	t.Parallel()
	m, dir := emptyMirror(t), t.TempDir()
	note := filepath.Join(dir, "requests", "note.txt")
	mustExport(t, m, Options{Dir: dir, Format: Parquet})
	must(t, os.WriteFile(note, []byte("mine"), 0o644))
	insert(t, m, schema.Requests, map[string]any{"request_key": 1, "request_type": "order", "id": "a", "order_created": "2026-01-31 23:59:59.999"})
	if r := mustExport(t, m, Options{Dir: dir, Format: Parquet}); r.Removed != len(schema.Requests.Tables())+1 {
		t.Errorf("%+v; want the files without a month removed", r)
	}
	if text, err := os.ReadFile(note); err != nil || string(text) != "mine" {
		t.Errorf("%q, %v", text, err)
	}
	if files := filesIn(t, dir); slices.ContainsFunc(files, func(f string) bool { return strings.HasPrefix(f, "requests/month=_") }) {
		t.Errorf("an empty month stayed: %q", files)
	}
}

// TestOnlyChangedMonths: a change of one request writes its month, in the tables of requests; a move writes both months.
func TestOnlyChangedMonths(t *testing.T) {
	t.Parallel()
	m, dir := emptyMirror(t), t.TempDir()
	for i, at := range []string{"2025-11-05", "2025-12-31", "2026-01-01"} {
		insert(t, m, schema.Requests, map[string]any{
			"request_key": i + 1, "request_type": "order", "id": fmt.Sprint(i), "order_created": at + " 10:00:00.000", "budget_created": "2020-01-01 00:00:00.000",
		})
	}
	family := len(schema.Requests.Tables()) + 1 // and the history
	export := func(what string, written, removed int) {
		t.Helper()
		r := mustExport(t, m, Options{Dir: dir, Format: Parquet})
		sameAsMirror(t, m, dir)
		if r.Removed != removed {
			t.Errorf("%s: %d files removed, want %d", what, r.Removed, removed)
		}
		// A file whose bytes are the same is left alone, so only those with rows count.
		if r.Written != written {
			t.Errorf("%s: %d files written, want %d", what, r.Written, written)
		}
	}
	first := mustExport(t, m, Options{Dir: dir, Format: Parquet})
	if n := len(manifestOf(t, dir).Tables[0].Files); n != 3 || first.Written != first.Kept+first.Written {
		t.Fatalf("%d months, %+v", n, first)
	}
	export("nothing", 0, 0)
	exec(t, m, "UPDATE requests SET final_value = 5, _changed_at = '2026-03-01 00:00:00.000' WHERE request_key = 1")
	export("a change", 1, 0)
	exec(t, m, "UPDATE requests SET _deleted_at = '2026-03-02 00:00:00.000' WHERE request_key = 1")
	export("a tombstone", 1, 0)
	exec(t, m, "UPDATE requests SET _deleted_at = NULL WHERE request_key = 1")
	export("a return", 1, 0)
	exec(t, m, "UPDATE requests SET order_created = '2025-12-01 00:00:00.000', _changed_at = '2026-03-03 00:00:00.000' WHERE request_key = 1")
	export("a move to a month that is there", 1, family)
	exec(t, m, "UPDATE requests SET order_created = NULL, budget_created = NULL, _changed_at = '2026-03-04 00:00:00.000' WHERE request_key = 1")
	export("a move to no month", 1+family, 0)
}

func TestManifestSaysWhatIsPersonal(t *testing.T) {
	t.Parallel()
	for privacy, want := range map[schema.Privacy]bool{schema.Undeclared: true, schema.Personal: true, schema.Counted: true, schema.Public: false} {
		got := describe(&schema.Table{Columns: []schema.Column{{Name: "customer_name_2", Type: schema.Text, Privacy: privacy}}})
		if got.Columns[0].Personal != want {
			t.Errorf("privacy %d: %+v", privacy, got.Columns[0])
		}
	}
}
