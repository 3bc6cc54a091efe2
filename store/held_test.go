package store

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"solarmirror/schema"
	"solarmirror/store/sqlitefile"
)

// Held finds records whatever their keys hold, in the order asked for, with the rows that Records
// reads.
func TestHeld(t *testing.T) {
	t.Parallel()
	m := openMirror(t, mirrorPath(t))
	_, err := writePage(t.Context(), m, sqlitefile.FormatTime(start), somePage(1, 3))
	must(t, err)
	ids := []string{"a\x00b", `"<é'`, "plain"}
	for i, id := range ids {
		_, err := m.conn.ExecContext(t.Context(), "UPDATE requests SET id = ? WHERE request_key = ?", id, i+1)
		must(t, err)
	}
	var kind string
	must(t, m.conn.GetContext(t.Context(), &kind, "SELECT DISTINCT request_type FROM requests"))
	held, err := m.Held(t.Context(), schema.Requests, []NaturalKey{{kind, ids[2]}, {kind, "nowhere"}, {kind, ids[1]}, {kind, ids[0]}})
	must(t, err)
	must(t, m.Update(t.Context(), func(tx *Tx) error {
		records, err := tx.Records(schema.Requests, []int64{3, 2, 1})
		want := [][]schema.Rows{records[0], nil, records[1], records[2]}
		for i, h := range held {
			if diff := cmp.Diff(want[i], h.Rows, cmp.Comparer(func(a, b *schema.Table) bool { return a == b })); diff != "" {
				t.Errorf("record %d (-Records +Held):\n%s", i, diff)
			}
		}
		return err
	}))
	if got := fmt.Sprint(held[0].Key, held[1].Key, held[2].Key, held[3].Key); got != "3 0 2 1" {
		t.Errorf("the keys are %s", got)
	}
}

// Orphans are named with all their tables and deleted; rows of records stay.
func TestOrphans(t *testing.T) {
	t.Parallel()
	m := openMirror(t, mirrorPath(t))
	_, err := writePage(t.Context(), m, sqlitefile.FormatTime(start), somePage(1, 3))
	must(t, err)
	before := number(t, m, "SELECT count(*) FROM request_products")
	for _, statement := range []string{
		"INSERT INTO request_products (request_key, position) VALUES (77, 1), (77, 2), ('odd', 1)",
		"INSERT INTO request_payments (request_key) VALUES (77)",
	} {
		_, err := m.conn.ExecContext(t.Context(), statement)
		must(t, err)
	}
	want := []Orphan{{"77", []string{"request_payments", "request_products"}}, {"odd", []string{"request_products"}}}
	found, err := m.Orphans(t.Context(), schema.Requests)
	must(t, err)
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("(-want +found):\n%s", diff)
	}
	must(t, m.Update(t.Context(), func(tx *Tx) error {
		deleted, err := tx.DeleteOrphans(schema.Requests)
		_, none := tx.DeleteOrphans(schema.Equipments)
		if diff := cmp.Diff(want, deleted); diff != "" {
			t.Errorf("(-want +deleted):\n%s", diff)
		}
		return errors.Join(err, none)
	}))
	_, err = m.conn.ExecContext(t.Context(), "INSERT INTO request_products (request_key, position) VALUES (4, 1)")
	must(t, err)
	_, err = writePage(t.Context(), m, sqlitefile.FormatTime(start), somePage(2, 1))
	if err == nil || !strings.Contains(err.Error(), "solarmirror sync --full --repair") {
		t.Errorf("an orphan with the key of the next record: %v", err)
	}
	must(t, m.Update(t.Context(), func(tx *Tx) error {
		_, err := tx.DeleteOrphans(schema.Requests)
		return err
	}))
	_, err = writePage(t.Context(), m, sqlitefile.FormatTime(start), somePage(2, 1))
	must(t, err)
	if found, err = m.Orphans(t.Context(), schema.Requests); err != nil || len(found) > 0 {
		t.Errorf("left are %v, %v", found, err)
	}
	if n := number(t, m, "SELECT count(*) FROM request_products WHERE request_key <= 3"); n != before {
		t.Errorf("%d products of records, %d before", n, before)
	}
}

// A surrogate key whose root row was deleted by SQL is not used again: its history would become
// that of another record.
func TestKeyOfDeletedRowIsNotUsedAgain(t *testing.T) {
	t.Parallel()
	m := openMirror(t, mirrorPath(t))
	_, err := writePage(t.Context(), m, sqlitefile.FormatTime(start), somePage(1, 3))
	must(t, err)
	must(t, m.Update(t.Context(), func(tx *Tx) error { return tx.Follow(schema.Requests, []int64{1, 2, 3}, nil) }))
	_, err = m.conn.ExecContext(t.Context(), "DELETE FROM requests WHERE request_key = 3")
	must(t, err)
	must(t, m.Update(t.Context(), func(tx *Tx) error {
		if got := tx.NewKey(schema.Requests); got != 4 {
			t.Errorf("the next key is %d", got)
		}
		return nil
	}))
}
