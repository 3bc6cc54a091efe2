package export

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"solarmirror/schema"
)

// TestStoppedWhileReading: the set of before stays whole, and the next export leaves nothing behind.
func TestStoppedWhileReading(t *testing.T) {
	t.Parallel()
	m, dir := emptyMirror(t), t.TempDir()
	insert(t, m, schema.Requests, map[string]any{"request_key": 1, "request_type": "order", "id": "a", "order_created": "2026-01-31 23:59:59.999"})
	mustExport(t, m, Options{Dir: dir, Format: Parquet})
	before := manifestOf(t, dir)
	exec(t, m, "UPDATE requests SET name = 'new', _changed_at = '2026-03-01 00:00:00.000'")
	exec(t, m, "UPDATE requests SET billing_date = 'soon'") // which is no DATE: the last of this table's columns to be written
	_, err := Run(t.Context(), m, Options{Dir: dir, Format: Parquet})
	if err == nil || !strings.Contains(err.Error(), `export requests/month=2026-01/part.parquet: row 1: column billing_date: "soon" is no DATE`) {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, m, Options{Dir: dir, Format: Parquet}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if d := cmp.Diff(before, manifestOf(t, dir)); d != "" {
		t.Error(d)
	}
	if rows := readParquet(t, filepath.Join(dir, "requests", "month=2026-01", "part.parquet"), schema.Requests); rows[0][3] != nil {
		t.Errorf("the name is %v", rows[0][3])
	}
	exec(t, m, "UPDATE requests SET billing_date = NULL")
	mustExport(t, m, Options{Dir: dir, Format: Parquet})
	sameAsMirror(t, m, dir)
}

// TestStoppedBetweenRows: whatever cancels the context, the error is [context.Canceled].
func TestStoppedBetweenRows(t *testing.T) {
	t.Parallel()
	snapshot, err := emptyMirror(t).Snapshot(t.Context())
	must(t, err)
	defer snapshot.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("a signal"))
	for _, err := range (&source{snapshot: snapshot}).query(ctx, "SELECT 1") {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
}

// TestStoppedWhilePublishing: a set half in place says so, and the next export trusts none of it.
func TestStoppedWhilePublishing(t *testing.T) {
	t.Parallel()
	m, dir := emptyMirror(t), t.TempDir()
	put := func(created string) {
		t.Helper()
		insert(t, m, schema.Requests, map[string]any{"request_key": 1, "request_type": "order", "id": "a", "order_created": created, "_changed_at": created})
	}
	put("2026-01-31 23:59:59.999")
	mustExport(t, m, Options{Dir: dir, Format: Parquet})
	put("2026-02-01 00:00:00.000")
	// Where a new file belongs stands something that cannot be replaced.
	obstacle := filepath.Join(dir, "request_products", "month=2026-02", "part.parquet")
	must(t, os.MkdirAll(filepath.Join(obstacle, "full"), 0o755))
	_, err := Run(t.Context(), m, Options{Dir: dir, Format: Parquet})
	if err == nil || !strings.Contains(err.Error(), "publish the export") {
		t.Fatal(err)
	}
	if state := manifestOf(t, dir).State; state != publishing {
		t.Errorf("the manifest says %q", state)
	}
	must(t, os.RemoveAll(obstacle))
	put("2026-01-31 23:59:59.999") // as it was, so that fingerprints of either set would fit
	report := mustExport(t, m, Options{Dir: dir, Format: Parquet})
	sameAsMirror(t, m, dir)
	if report.Kept != 0 {
		t.Errorf("%d files of a half set were kept", report.Kept)
	}
}

// TestSpoiltFile: a file that is gone or has another size is written again.
func TestSpoiltFile(t *testing.T) {
	t.Parallel()
	m, dir := syncedMirror(t), t.TempDir()
	mustExport(t, m, Options{Dir: dir, Format: Parquet})
	files := manifestOf(t, dir).Tables[0].Files
	must(t, os.Remove(filepath.Join(dir, files[0].Path)))
	must(t, os.Truncate(filepath.Join(dir, files[1].Path), 10))
	if r := mustExport(t, m, Options{Dir: dir, Format: Parquet}); r.Written != 2 {
		t.Errorf("%d files written, want 2", r.Written)
	}
	sameAsMirror(t, m, dir)
}

// TestFresh: a copy made in another way, with the same fingerprints, is read all the same; and so is the mirror after it.
func TestFresh(t *testing.T) {
	t.Parallel()
	m, dir := emptyMirror(t), t.TempDir()
	insert(t, m, schema.Requests, map[string]any{"request_key": 1, "request_type": "order", "id": "a", "name": "Ana"})
	mustExport(t, m, Options{Dir: dir, Format: Parquet})
	exec(t, m, "UPDATE requests SET name = NULL") // as masking does
	if r := mustExport(t, m, Options{Dir: dir, Format: Parquet, Fresh: true}); r.Written != 1 {
		t.Errorf("%d files written, want 1", r.Written)
	}
	sameAsMirror(t, m, dir)
	exec(t, m, "UPDATE requests SET name = 'Ana'")
	mustExport(t, m, Options{Dir: dir, Format: Parquet})
	sameAsMirror(t, m, dir)
}
