package store

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"solarmirror/schema"
	"solarmirror/store/sqlitefile"
)

// Of the rows of one statement, the one whose key is taken by another record is named, and none is written.
func TestTakenKeyIsNamed(t *testing.T) {
	t.Parallel()
	m := openMirror(t, mirrorPath(t))
	_, err := writePage(t.Context(), m, sqlitefile.FormatTime(start), somePage(1, 40))
	must(t, err)
	page := somePage(1, 41)
	page[29].id = "somebody else"
	keys := make([]int64, len(page))
	for i := range keys {
		keys[i] = int64(i + 1)
	}
	err = m.Update(t.Context(), func(tx *Tx) error { return tx.Upsert(rowsOf(page, keys, sqlitefile.FormatTime(start)), keys) })
	if err == nil || !strings.Contains(err.Error(), "key 30 belongs to another record") {
		t.Errorf("got %v", err)
	}
	if n := number(t, m, "SELECT count(*) FROM requests"); n != 40 {
		t.Errorf("%d requests", n)
	}
}

// When another connection changes the tables SQLite reads the schema anew and connects the source again.
func TestSourceSurvivesChangeOfSchema(t *testing.T) {
	t.Parallel()
	m := openMirror(t, mirrorPath(t))
	other, err := sql.Open("sqlite", "file:"+m.Path())
	must(t, err)
	defer other.Close()
	for i := range 3 {
		_, err = writePage(t.Context(), m, sqlitefile.FormatTime(start), somePage(i, 20))
		must(t, err)
		_, err = other.ExecContext(t.Context(), fmt.Sprintf("CREATE TABLE more%d (x)", i))
		must(t, err)
	}
	if n := number(t, m, "SELECT count(*) FROM requests"); n != 60 {
		t.Errorf("%d requests", n)
	}
}

// Mirrors that are written at the same time hold their own rows only.
func TestSourcesAreApart(t *testing.T) {
	for mirror := range 4 {
		t.Run(fmt.Sprint(mirror), func(t *testing.T) {
			t.Parallel()
			m := openMirror(t, mirrorPath(t))
			for page := range 20 {
				_, err := writePage(t.Context(), m, sqlitefile.FormatTime(start), somePage(mirror*1000+page, 30))
				must(t, err)
			}
			own := fmt.Sprintf("SELECT count(*) FROM requests WHERE id / 1000 = %d AND name = 'n' || id", mirror)
			if n := number(t, m, own); n != 600 || number(t, m, "SELECT count(*) FROM requests") != n {
				t.Errorf("mirror %d holds %d requests of its own", mirror, n)
			}
		})
	}
}

// Values reach their columns whole: text with anything in it, the ends of the numbers, NULL and no bytes.
func TestSourceKeepsValues(t *testing.T) {
	t.Parallel()
	m := openMirror(t, mirrorPath(t))
	for _, text := range []string{"", "\x00", "a\x00b", "é\u2028😀", strings.Repeat("x", 1<<20)} {
		rows := rowsOf([]request{{id: "i" + text, name: text}}, []int64{1}, sqlitefile.FormatTime(start))
		rows[0].Values[0] = number(t, m, "SELECT count(*) + 1 FROM requests")
		must(t, m.Update(t.Context(), func(tx *Tx) error { return tx.Upsert(rows, nil) }))
		var got string
		must(t, m.read.GetContext(t.Context(), &got, "SELECT name FROM requests ORDER BY request_key DESC LIMIT 1"))
		if got != text {
			t.Errorf("%.20q became %.20q", text, got)
		}
		must(t, m.Update(t.Context(), func(tx *Tx) error {
			stored, err := tx.Stored(schema.Requests, []NaturalKey{{"order", "none"}, {"order", "i" + text}})
			if err == nil && (stored[0].Key != 0 || stored[1].Key != rows[0].Values[0]) {
				t.Errorf("%.20q is found as %v", text, stored)
			}
			return err
		}))
	}
}
