package store

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"solarmirror/schema"
	"solarmirror/store/sqlitefile"
)

func TestGainedPaths(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, path := range []string{"/a", "/b/*/c", "/o/x"} {
		for prefix := range prefixes(path) {
			known[prefix] = true
		}
	}
	got := gainedPaths(known, []string{"/a", "/b/*/c", "/w/years", "/w/kind", "/b/*/d", "/t/*", "/o/y/z", "/b/*/l/*"})
	if diff := cmp.Diff([]string{"/b/*/d", "/b/*/l", "/o/y", "/t", "/w"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestExtraText(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{"/kind": `"/kind":`, "/b/*/d": `/d":`, `/"q"`: `"/\"q\"":`} {
		if got := extraText(path); got != want {
			t.Errorf("%s is looked for as %s, want %s", path, got, want)
		}
	}
}

// What an upgrade finds left to do by the one before it is kept, and records that were done are looked at again for what is new.
func TestUnfinishedPromotionMeetsAnotherUpgrade(t *testing.T) {
	t.Parallel()
	path := mirrorPath(t)
	m, err := Open(t.Context(), path, Options{})
	must(t, err)
	must(t, m.Update(t.Context(), func(tx *Tx) error {
		return errors.Join(tx.SetPromotion(Promotion{Root: "requests", Paths: []string{"/old"}, After: 7}),
			tx.SetPromotion(Promotion{Root: "equipments", Paths: []string{"/other"}, After: 3}))
	}))
	_, err = m.conn.ExecContext(t.Context(), "DELETE FROM _columns WHERE table_name = 'requests' AND column_name = 'kind'")
	must(t, errors.Join(err, m.Close()))

	m = openMirror(t, path)
	list, err := m.Promotions(t.Context())
	must(t, err)
	want := []Promotion{{Root: "requests", Paths: []string{"/kind", "/old"}}, {Root: "equipments", Paths: []string{"/other"}, After: 3}}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	must(t, m.Update(t.Context(), func(tx *Tx) error { return errors.Join(tx.EndPromotion("requests"), tx.EndPromotion("equipments")) }))
	if n := number(t, m, "SELECT count(*) FROM _meta WHERE promotion IS NULL"); n != 1 {
		t.Error("an ended promotion is still noted")
	}
}

// A migration that goes through the records is not begun on a disk that may be too small. The file is made sparse: larger than
// what is free, without taking it.
func TestMigrationWantsRoom(t *testing.T) {
	t.Parallel()
	path := mirrorPath(t)
	old, err := open(t.Context(), path, Options{Now: fixedClock}, olderModel())
	must(t, err)
	_, err = writePage(t.Context(), old, sqlitefile.FormatTime(start), somePage(1, 10))
	must(t, errors.Join(err, old.Close()))
	file, err := os.Stat(path)
	must(t, err)
	free, known, err := sqlitefile.FreeBytes(path)
	if must(t, err); !known {
		return // what cannot be known is not refused
	}
	must(t, os.Truncate(path, 2*free+10<<30))
	_, err = Open(t.Context(), path, Options{})
	var small *sqlitefile.NoRoomError
	if !errors.As(err, &small) || !errors.Is(err, sqlitefile.ErrDiskFull) || small.Need <= small.Free || !strings.Contains(err.Error(), path) {
		t.Errorf("with too little room: %v", err)
	}
	must(t, os.Truncate(path, file.Size()))
	m := openMirror(t, path)
	soundFile(t, m)
	if n := number(t, m, "SELECT count(*) FROM request_status_history WHERE is_inferred AND valid_to IS NULL AND valid_from = '"+sqlitefile.FormatTime(start)+"'"); n != 10 {
		t.Errorf("%d of 10 records have a history after the migration", n)
	}
}

func TestRewriteKeepsOtherTables(t *testing.T) {
	t.Parallel()
	m := openMirror(t, mirrorPath(t))
	_, err := writePage(t.Context(), m, sqlitefile.FormatTime(start), somePage(1, 3))
	must(t, err)
	must(t, m.Update(t.Context(), func(tx *Tx) error {
		records, err := tx.Records(schema.Requests, []int64{2, 1})
		if err != nil {
			return err
		}
		var names []string
		for _, rows := range records {
			names = append(names, rows[0].Row(0)[3].(string))
			for _, table := range rows {
				if table.Table == products && table.Len() != int(rows[0].Row(0)[0].(int64)) {
					t.Errorf("%d products of request %v", table.Len(), rows[0].Row(0)[0])
				}
			}
		}
		if diff := cmp.Diff([]string{"n0001-0001", "n0001-0000"}, names); diff != "" {
			t.Errorf("records (-want +got):\n%s", diff)
		}
		records[0][0].Row(0)[3] = "renamed"
		return tx.Rewrite(records[0][:1], []int64{2})
	}))
	if n := number(t, m, "SELECT count(*) FROM requests JOIN request_products AS p USING (request_key) WHERE requests.name = 'renamed'"); n != 2 {
		t.Errorf("%d products of the rewritten request", n)
	}
}
