package store

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"modernc.org/sqlite"

	"solarmirror/schema"
	"solarmirror/store/sqlitefile"
)

// countTouched makes triggers that note every row of a request that is written or deleted. It returns a function that says what was noted since.
func countTouched(t *testing.T, m *Mirror) func() map[string]int {
	t.Helper()
	exec := func(query string) {
		t.Helper()
		_, err := m.conn.ExecContext(t.Context(), query)
		must(t, err)
	}
	exec("CREATE TABLE touched (what TEXT)")
	for _, table := range schema.Requests.Tables() {
		for _, event := range []string{"INSERT", "UPDATE", "DELETE"} {
			exec(fmt.Sprintf("CREATE TRIGGER t_%[1]s_%[2]s AFTER %[2]s ON %[1]s BEGIN INSERT INTO touched VALUES ('%[2]s %[1]s'); END", table.Name, event))
		}
	}
	return func() map[string]int {
		t.Helper()
		result, err := m.Query(t.Context(), "SELECT what, count(*) FROM touched GROUP BY what")
		must(t, err)
		counts := map[string]int{}
		for _, row := range all(t, result) {
			counts[row[0].(string)] = int(row[1].(int64))
		}
		exec("DELETE FROM touched")
		return counts
	}
}

func TestSecondIdenticalPageTouchesNothing(t *testing.T) {
	t.Parallel()
	m := openMirror(t, mirrorPath(t))
	page := somePage(1, 50)
	written, err := writePage(t.Context(), m, sqlitefile.FormatTime(start), page)
	must(t, err)
	if written != 50 {
		t.Fatalf("wrote %d", written)
	}
	touched := countTouched(t, m)
	changes := func() (n int) {
		must(t, m.conn.GetContext(t.Context(), &n, "SELECT total_changes()"))
		return n
	}
	before := changes()
	_, err = writePage(t.Context(), m, sqlitefile.FormatTime(start.Add(1)), page)
	must(t, err)
	if n := changes(); n != before || len(touched()) > 0 {
		t.Errorf("%d changes", n-before)
	}

	page[3].name, page[3].hash = "another", Hash{Raw: 1, Canonical: 1}
	_, err = writePage(t.Context(), m, sqlitefile.FormatTime(start), page)
	must(t, err)
	if len(touched()) == 0 {
		t.Error("the triggers count nothing")
	}
}

func place(t *schema.Table, column string) int { return slices.Index(t.ColumnNames(), column) }

func TestOnlyRowsThatDifferAreWritten(t *testing.T) {
	t.Parallel()
	m := openMirror(t, mirrorPath(t))
	must(t, m.MakeIndices(t.Context()))
	page := somePage(1, 50)
	_, err := writePage(t.Context(), m, sqlitefile.FormatTime(start), page)
	must(t, err)
	touched := countTouched(t, m)
	rows := rowsOf(page[2:3], []int64{3}, sqlitefile.FormatTime(start)) // with three lines
	record, lines := &rows[0], &rows[1]
	whole, width := lines.Values, len(products.Columns)
	for _, step := range []struct {
		change func()
		want   map[string]int
	}{
		{func() { record.Values[place(schema.Requests, "notes")] = "a note" }, map[string]int{"UPDATE requests": 1}},
		{func() { record.Values[place(schema.Requests, "deal_status")] = "sold" }, map[string]int{"UPDATE requests": 2}},
		{func() { whole[width+place(products, "name")] = "another" }, map[string]int{"UPDATE requests": 1, "UPDATE request_products": 1}},
		{func() { lines.Values = whole[:2*width] }, map[string]int{"UPDATE requests": 1, "DELETE request_products": 1}},
		{func() { lines.Values = nil }, map[string]int{"UPDATE requests": 1, "DELETE request_products": 2}},
		{func() { lines.Values = whole }, map[string]int{"UPDATE requests": 1, "INSERT request_products": 3}},
	} {
		step.change()
		must(t, m.Update(t.Context(), func(tx *Tx) error { return tx.Upsert(rows, []int64{3}) }))
		if diff := cmp.Diff(step.want, touched()); diff != "" {
			t.Errorf("(-want +touched):\n%s", diff)
		}
	}
	if n := number(t, m, "SELECT request_key FROM requests INDEXED BY requests_deal_status WHERE deal_status = 'sold'"); n != 3 {
		t.Errorf("the index finds %d", n)
	}
	soundFile(t, m)
}

func TestUpsertReplacesTheRecordWhole(t *testing.T) {
	t.Parallel()
	m := openMirror(t, mirrorPath(t))
	r := request{id: "a", name: "first", products: 3, hash: Hash{Raw: 1, Canonical: 2}}
	_, err := writePage(t.Context(), m, "2026-01-01 00:00:00.000", []request{r})
	must(t, err)
	r.name, r.products, r.hash = "second", 1, Hash{Raw: 3, Canonical: math.MaxUint64}
	_, err = writePage(t.Context(), m, "2026-02-02 00:00:00.000", []request{r})
	must(t, err)
	result, err := m.Query(t.Context(), `SELECT r.request_key, r.name, _first_seen_at, _changed_at, _hash, p.position, p.name
		FROM requests AS r JOIN request_products AS p USING (request_key)`)
	must(t, err)
	want := [][]any{{int64(1), "second", "2026-01-01 00:00:00.000", "2026-02-02 00:00:00.000", r.hash.Bytes(), int64(1), "second"}}
	if diff := cmp.Diff(want, all(t, result)); diff != "" {
		t.Error(diff)
	}
}

func TestHashAndTombstone(t *testing.T) {
	t.Parallel()
	m := openMirror(t, mirrorPath(t))
	page := somePage(1, 2)
	_, err := writePage(t.Context(), m, sqlitefile.FormatTime(start), page)
	must(t, err)
	_, err = m.conn.ExecContext(t.Context(), "UPDATE requests SET _deleted_at = '2026-01-01 00:00:00.000' WHERE request_key = 2")
	must(t, err)
	lookup := func(tx *Tx) []Stored {
		s, err := tx.Stored(schema.Requests, []NaturalKey{page[1].natural(), {"order", "none"}, {"budget", page[0].id}, page[0].natural(), page[1].natural()})
		must(t, err)
		return s
	}
	tx, err := m.Begin(t.Context())
	must(t, err)
	at := sqlitefile.FormatTime(start)
	tomb := Stored{Key: 2, Hash: page[1].hash, ChangedAt: at, Deleted: true}
	if diff := cmp.Diff([]Stored{tomb, {}, {}, {Key: 1, Hash: page[0].hash, ChangedAt: at}, tomb}, lookup(tx)); diff != "" {
		t.Error(diff)
	}
	h := Hash{Raw: math.MaxUint64, Canonical: 1 << 63}
	must(t, tx.SetHash(schema.Requests, 1, h))
	must(t, tx.Undelete(schema.Requests, 2))
	must(t, tx.Undelete(schema.Requests, 1))
	back := Stored{Key: 2, Hash: page[1].hash, ChangedAt: at}
	if diff := cmp.Diff([]Stored{back, {}, {}, {Key: 1, Hash: h, ChangedAt: at}, back}, lookup(tx)); diff != "" {
		t.Error(diff)
	}
	must(t, tx.Commit())
	must(t, tx.Rollback())
	err = m.Update(t.Context(), func(tx *Tx) error { return tx.SetHash(schema.Requests, 77, h) })
	if err == nil || !strings.Contains(err.Error(), "77") {
		t.Errorf("a hash for a record that is not there: %v", err)
	}
	if err := tx.SetHash(schema.Requests, 1, h); !errors.Is(err, errEnded) {
		t.Errorf("after commit: %v", err)
	}
}

func TestStoredOfManyKeys(t *testing.T) {
	t.Parallel()
	m := openMirror(t, mirrorPath(t))
	page := somePage(1, 2500)
	_, err := writePage(t.Context(), m, sqlitefile.FormatTime(start), page)
	must(t, err)
	for _, n := range []int{0, 1, 16, 17, 1024, 1025, 2500} {
		keys := make([]NaturalKey, n)
		for i := range keys {
			keys[i] = page[len(page)-1-i].natural()
		}
		must(t, m.Update(t.Context(), func(tx *Tx) error {
			stored, err := tx.Stored(schema.Requests, keys)
			if len(stored) != n {
				t.Errorf("%d results for %d keys", len(stored), n)
			}
			for i, s := range stored {
				if want := int64(len(page) - i); s.Key != want {
					t.Fatalf("%d keys: result %d is record %d, want %d", n, i, s.Key, want)
				}
			}
			return err
		}))
	}
}

func TestPagesAreFoundByIndex(t *testing.T) {
	t.Parallel()
	m := openMirror(t, mirrorPath(t))
	for _, root := range schema.Roots() {
		want := fmt.Sprintf("SEARCH r USING INDEX sqlite_autoindex_%s_1 (%s=? AND %s=?)", root.Name, root.Unique[0], root.Unique[1])
		if got := planOf(t, m, m.model.statements[root].lookup); !strings.Contains(got, want) {
			t.Errorf("%s: plan\n%s\nlacks %s", root.Name, got, want)
		}
		want = fmt.Sprintf("SEARCH %s USING INTEGER PRIMARY KEY", root.Name)
		if got := planOf(t, m, m.model.statements[root].reindex); !strings.Contains(got, want) {
			t.Errorf("%s: plan\n%s\nlacks %s", root.Name, got, want)
		}
		for _, child := range root.Tables()[1:] {
			want := fmt.Sprintf("SEARCH %s USING PRIMARY KEY (%s=?)", child.Name, child.Key[0])
			if got := planOf(t, m, m.model.statements[child].surplus, "[]"); !strings.Contains(got, want) && !strings.Contains(got, "INTEGER PRIMARY KEY") {
				t.Errorf("%s: plan\n%s\nlacks %s", child.Name, got, want)
			}
		}
	}
}

func planOf(t *testing.T, m *Mirror, query string, args ...any) string {
	t.Helper()
	rows, err := m.conn.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+query, args...)
	must(t, err)
	defer rows.Close()
	var plan []string
	for rows.Next() {
		var id, parent, unused int
		var detail string
		must(t, rows.Scan(&id, &parent, &unused, &detail))
		plan = append(plan, detail)
	}
	must(t, rows.Err())
	return strings.Join(plan, "\n")
}

func TestRolledBackKeysAreUsedAgain(t *testing.T) {
	t.Parallel()
	m := openMirror(t, mirrorPath(t))
	tx, err := m.Begin(t.Context())
	must(t, err)
	for want := int64(1); want < 4; want++ {
		if got := tx.NewKey(schema.Requests); got != want {
			t.Errorf("key %d, want %d", got, want)
		}
	}
	if got := tx.NewKey(schema.Equipments); got != 1 {
		t.Errorf("the first equipment has key %d", got)
	}
	must(t, tx.Upsert(rowsOf(somePage(1, 3), []int64{1, 2, 3}, sqlitefile.FormatTime(start)), nil))
	must(t, tx.Rollback())
	_, err = writePage(t.Context(), m, sqlitefile.FormatTime(start), somePage(2, 2))
	must(t, err)
	if n := number(t, m, "SELECT max(request_key) * 10 + count(*) FROM requests"); n != 22 {
		t.Errorf("greatest key and count: %d", n)
	}
}

func TestBadRowsAreRefused(t *testing.T) {
	t.Parallel()
	good := func() []schema.Rows { return rowsOf(somePage(2, 1), []int64{9}, sqlitefile.FormatTime(start)) }
	tests := map[string]func() ([]schema.Rows, []int64){
		"key of another record": func() ([]schema.Rows, []int64) {
			return rowsOf([]request{{id: "other"}}, []int64{1}, sqlitefile.FormatTime(start)), nil
		},
		"half a row": func() ([]schema.Rows, []int64) {
			rows := good()
			rows[1].Values = rows[1].Values[1:]
			return rows, nil
		},
		"children not replaced": func() ([]schema.Rows, []int64) {
			return rowsOf(somePage(1, 1), []int64{1}, sqlitefile.FormatTime(start)), nil
		},
		"two roots": func() ([]schema.Rows, []int64) {
			return append(good(), schema.Rows{Table: schema.Equipments}), nil
		},
		"ledger":                func() ([]schema.Rows, []int64) { return []schema.Rows{{Table: schema.Runs}}, nil },
		"replaced without rows": func() ([]schema.Rows, []int64) { return nil, []int64{1} },
		"value out of bounds": func() ([]schema.Rows, []int64) {
			rows := good()
			rows[0].Values[1] = "invoice"
			return rows, nil
		},
	}
	for name, bad := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := openMirror(t, mirrorPath(t))
			_, err := writePage(t.Context(), m, sqlitefile.FormatTime(start), somePage(1, 1))
			must(t, err)
			tx, err := m.Begin(t.Context())
			must(t, err)
			first := tx.Upsert(bad())
			if first == nil {
				t.Fatal("accepted")
			}
			if err := tx.Upsert(good(), nil); !errors.Is(err, first) {
				t.Errorf("a step after the failed one: %v", err)
			}
			if err := tx.Commit(); !errors.Is(err, first) {
				t.Errorf("commit: %v", err)
			}
			if n := number(t, m, "SELECT count(*) FROM requests WHERE name = 'n0001-0000'"); n != 1 {
				t.Error("the record is not as it was")
			}
			if n := number(t, m, "SELECT count(*) FROM requests"); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestDiskFull(t *testing.T) {
	t.Parallel()
	m := openMirror(t, mirrorPath(t))
	_, err := writePage(t.Context(), m, sqlitefile.FormatTime(start), somePage(1, 50))
	must(t, err)
	limit := func(pages int) {
		var now int
		must(t, m.conn.GetContext(t.Context(), &now, fmt.Sprintf("PRAGMA max_page_count = %d", pages)))
	}
	limit(pageCount(t, m) + 5)
	_, err = writePage(t.Context(), m, sqlitefile.FormatTime(start), somePage(2, 2000))
	if !errors.Is(err, sqlitefile.ErrDiskFull) || !strings.Contains(err.Error(), m.Path()) {
		t.Fatalf("got %v, want ErrDiskFull", err)
	}
	soundFile(t, m)
	if n := number(t, m, "SELECT count(*) FROM requests"); n != 50 {
		t.Errorf("%d requests after the failed page", n)
	}
	limit(1 << 30)
	_, err = writePage(t.Context(), m, sqlitefile.FormatTime(start), somePage(2, 2000))
	must(t, err)
	if n := number(t, m, "SELECT count(*) FROM requests"); n != 2050 {
		t.Errorf("%d requests after space came back", n)
	}
}

func pageCount(t *testing.T, m *Mirror) (pages int) {
	t.Helper()
	must(t, m.conn.GetContext(t.Context(), &pages, "PRAGMA page_count"))
	return pages
}

func TestFailedCommit(t *testing.T) {
	t.Parallel()
	m := openMirror(t, mirrorPath(t))
	var fail int32
	must(t, m.conn.Raw(func(c any) error {
		c.(sqlite.HookRegisterer).RegisterCommitHook(func() int32 { return fail })
		return nil
	}))
	fail = 1
	if _, err := writePage(t.Context(), m, sqlitefile.FormatTime(start), somePage(1, 10)); err == nil || !strings.Contains(err.Error(), "commit") {
		t.Fatalf("got %v, want a failed commit", err)
	}
	fail = 0
	soundFile(t, m)
	_, err := writePage(t.Context(), m, sqlitefile.FormatTime(start), somePage(2, 10))
	must(t, err)
	if n := number(t, m, "SELECT count(*) FROM requests WHERE id LIKE '0002%'"); n != 10 || number(t, m, "SELECT count(*) FROM requests") != 10 {
		t.Errorf("%d requests of the second page", n)
	}
}
