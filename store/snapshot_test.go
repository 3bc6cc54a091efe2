package store

import (
	"strings"
	"testing"

	"solarmirror/store/sqlitefile"
)

// TestSnapshotStandsStill: what is committed after it began is not in it, and it lets nothing through but reading.
func TestSnapshotStandsStill(t *testing.T) {
	t.Parallel()
	m := openMirror(t, mirrorPath(t))
	write := func(page int) {
		t.Helper()
		_, err := writePage(t.Context(), m, sqlitefile.FormatTime(start), somePage(page, 10))
		must(t, err)
	}
	write(1)
	reader := openReader(t, m.Path())
	s, err := reader.Snapshot(t.Context())
	must(t, err)
	write(2)
	count := func(s *Snapshot) int64 {
		t.Helper()
		result, err := s.Query(t.Context(), "SELECT count(*) FROM requests WHERE request_key IN (SELECT value FROM json_each(?))", "[1,2,11,12]")
		must(t, err)
		return all(t, result)[0][0].(int64)
	}
	if n := count(s); n != 2 {
		t.Errorf("the snapshot sees %d rows, want 2", n)
	}
	for _, statement := range []string{"ROLLBACK", "DELETE FROM requests", "ATTACH 'x' AS x", "PRAGMA schema_version = 7"} {
		result, err := s.Query(t.Context(), statement)
		if err == nil {
			_ = result.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "not authorized") {
			t.Errorf("%s: %v", statement, err)
		}
	}
	must(t, s.Close())

	later, err := reader.Snapshot(t.Context())
	must(t, err)
	if n := count(later); n != 4 {
		t.Errorf("a later snapshot sees %d rows, want 4", n)
	}
	must(t, later.Close())
}

// TestSnapshotLayout: writing records leaves it, forgetting a person does not.
func TestSnapshotLayout(t *testing.T) {
	t.Parallel()
	m := openMirror(t, mirrorPath(t))
	layout := func() int64 {
		t.Helper()
		s, err := m.Snapshot(t.Context())
		must(t, err)
		must(t, s.Close())
		return s.Layout()
	}
	before := layout()
	_, err := writePage(t.Context(), m, sqlitefile.FormatTime(start), somePage(1, 10))
	must(t, err)
	if n := layout(); n != before {
		t.Errorf("after a page %d, want %d", n, before)
	}
	must(t, m.FinishErasure(t.Context(), 0))
	if n := layout(); n == before {
		t.Error("the same after FinishErasure")
	}
}
