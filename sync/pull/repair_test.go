package pull

import (
	"cmp"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"solarmirror/schema"
	"solarmirror/store"
	"solarmirror/store/testsize"
	"solarmirror/sync/platform/platformtest"
)

// contentsOf is the rows of a mirror by record and table, without surrogate keys and bookkeeping.
type contentsOf struct {
	records    map[store.NaturalKey]map[string]string // tombstones left out
	surrogates map[store.NaturalKey]any
	orphans    map[store.NaturalKey][]string // tables by name and value of the key
}

func (r *rig) contents() contentsOf {
	r.t.Helper()
	c := contentsOf{map[store.NaturalKey]map[string]string{}, map[store.NaturalKey]any{}, map[store.NaturalKey][]string{}}
	for _, root := range schema.Roots() {
		natural, gone := map[any]store.NaturalKey{}, map[any]bool{}
		for _, row := range r.query(fmt.Sprintf("SELECT %s, CAST(%s AS TEXT), CAST(%s AS TEXT), _deleted_at IS NULL FROM %s",
			root.Key[0], root.Unique[0], root.Unique[1], root.Name)) {
			if row[3] == int64(0) {
				gone[row[0]] = true
				continue
			}
			key := store.NaturalKey{row[1].(string), row[2].(string)}
			natural[row[0]] = key
			c.records[key], c.surrogates[key] = map[string]string{}, row[0]
		}
		for _, t := range root.Tables() {
			var columns []string
			for _, name := range t.ColumnNames() {
				if !strings.HasPrefix(name, "_") {
					columns = append(columns, "+"+name)
				}
			}
			for _, row := range r.query(fmt.Sprintf("SELECT %s FROM %s ORDER BY %s", strings.Join(columns, ", "), t.Name, strings.Join(t.Key, ", "))) {
				if blob, ok := row[0].([]byte); ok {
					row[0] = string(blob)
				}
				key, known := natural[row[0]]
				orphan := store.NaturalKey{root.Key[0], fmt.Sprint(row[0])}
				switch {
				case known:
					for _, v := range row[1:] {
						c.records[key][t.Name] += fmt.Sprintf("%T %v, ", v, v)
					}
				case !gone[row[0]] && !slices.Contains(c.orphans[orphan], t.Name):
					c.orphans[orphan] = append(c.orphans[orphan], t.Name)
				}
			}
		}
	}
	return c
}

// differences are what verify must find in a mirror that held other contents before, all of them
// the platform's.
func (c contentsOf) differences(before contentsOf) map[store.NaturalKey]string {
	list := map[store.NaturalKey]string{}
	for key, tables := range before.records {
		now, there := c.records[key]
		if !there {
			list[key] = DiffMissing
			continue
		}
		var edited []string
		for _, root := range schema.Roots() {
			for _, t := range root.Tables() {
				if tables[t.Name] != now[t.Name] {
					edited = append(edited, t.Name)
				}
			}
		}
		if len(edited) > 0 {
			list[key] = DiffEdited + fmt.Sprint(edited)
		}
	}
	for key := range c.records {
		if _, there := before.records[key]; !there {
			list[key] = DiffExtra
		}
	}
	for key, tables := range c.orphans {
		list[key] = DiffOrphan + fmt.Sprint(tables)
	}
	return list
}

// found is what verify finds, in the same form.
func (r *rig) found() map[store.NaturalKey]string {
	r.t.Helper()
	list := map[store.NaturalKey]string{}
	for _, v := range r.verify() {
		addDifferences(list, v.Differences)
	}
	return list
}

func addDifferences(list map[store.NaturalKey]string, differences []Difference) {
	for _, d := range differences {
		list[d.Key] = d.Kind
		if d.Tables != nil {
			list[d.Key] += fmt.Sprint(d.Tables)
		}
	}
}

// vandal edits a mirror by SQL.
type vandal struct {
	*rand.Rand
	r  *rig
	db *sql.DB
}

func pick[T any](v *vandal, list []T) T { return list[v.IntN(len(list))] }

// tryExec leaves out what the tables' constraints refuse.
func (v *vandal) tryExec(query string, args ...any) { _, _ = v.db.Exec(query, args...) }

func (v *vandal) value() any {
	return pick(v, []any{nil, int64(v.IntN(50)), int64(-7), int64(1) << 60, 0.5, 3.0, "", "5", "x", "2026-01-01", `{"/a":1}`, []byte{1, 2}, []byte("x")})
}

// someRow returns the key of a random row, nil where there is none.
func (v *vandal) someRow(t *schema.Table) []any {
	keys := strings.Join(t.Key, ", ")
	rows := v.r.query(fmt.Sprintf("SELECT +%s FROM %s ORDER BY %s LIMIT 1 OFFSET abs(?) %% max(1, (SELECT count(*) FROM %s))",
		strings.ReplaceAll(keys, ", ", ", +"), t.Name, keys, t.Name), v.Int64()>>1)
	if len(rows) == 0 {
		return nil
	}
	return rows[0]
}

// edit does one thing to a random row of a random table.
func (v *vandal) edit() {
	root := pick(v, schema.Roots())
	t := pick(v, root.Tables())
	row := v.someRow(t)
	if row == nil {
		return
	}
	isRow := "(" + strings.Join(t.Key, ", ") + ") = (" + strings.TrimSuffix(strings.Repeat("?, ", len(row)), ", ") + ")"
	switch {
	case v.IntN(10) == 0:
		v.tryExec(fmt.Sprintf("DELETE FROM %s WHERE %s", t.Name, isRow), row...)
	case v.IntN(10) == 0:
		for _, table := range root.Tables()[v.IntN(2):] { // whole, or all but the root row
			v.tryExec(fmt.Sprintf("DELETE FROM %s WHERE %s = ?", table.Name, root.Key[0]), row[0])
		}
	case v.IntN(4) == 0: // a copy with another key, or with another natural key
		i := v.IntN(len(t.Key))
		var values []string
		args := []any{v.value()}
		for _, c := range t.ColumnNames() {
			switch {
			case t != root && c == t.Key[i], t == root && c == root.Unique[1]:
				c = "?"
			case t == root && c == t.Key[0]:
				c = "NULL"
			}
			values = append(values, c)
		}
		v.tryExec(fmt.Sprintf("INSERT INTO %s SELECT %s FROM %s WHERE %s", t.Name, strings.Join(values, ", "), t.Name, isRow), append(args, row...)...)
	default:
		c := pick(v, t.ColumnNames())
		if strings.HasPrefix(c, "_") || t == root && c == root.Key[0] {
			return
		}
		args := append([]any{v.value()}, row...)
		v.tryExec(fmt.Sprintf("UPDATE %s SET %s = ? WHERE %s", t.Name, c, isRow), args...)
	}
}

// Whatever SQL did to the rows of records, verify finds the records it touched and no other, a
// repair puts them back as they were, names them, and leaves _changed_at and history of all that
// was not deleted alone.
func TestRepairOfRandomEdits(t *testing.T) {
	t.Parallel()
	for seed := range uint64(testsize.Fewer(max(2, *seeds/2))) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			still := newClock("2026-03-10T15:00:00Z") // nothing changes on the platform
			r := newRigFor(t, platformtest.New(platformtest.Options{
				Seed: seed, Requests: testsize.Fewer(40), Equipments: fewItems(), Dialect: platformtest.Dialect{Drift: platformtest.DriftAll}, Token: token, Clock: still.now,
			}))
			r.sync(Options{})
			db, err := sql.Open("sqlite", "file:"+r.path+"?mode=rw&_pragma=busy_timeout(5000)")
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			v := &vandal{rand.New(rand.NewPCG(seed, 1)), r, db}
			truth := r.contents()
			for range 4 {
				r.clock.advance(time.Second)
				before, times, history := r.contents(), r.times(), r.history()
				for range 1 + v.IntN(5) {
					v.edit()
				}
				want := r.contents().differences(before)
				if d := diff(want, r.found()); d != "" {
					t.Fatalf("verify (-edited +found):\n%s", d)
				}
				named := map[store.NaturalKey]string{}
				for _, s := range r.sync(Options{Full: true, Repair: true}).Streams {
					addDifferences(named, s.Repairs)
				}
				extra := false
				for key, how := range want {
					extra = extra || how == DiffExtra
					if how == DiffExtra || how == DiffMissing {
						delete(want, key)
					}
				}
				if d := diff(want, named); d != "" {
					t.Fatalf("repair (-edited +named):\n%s", d)
				}
				if extra { // gone only when a second sweep misses it
					r.sync(Options{Full: true})
				}
				if left := r.found(); len(left) > 0 {
					t.Fatalf("after the repair verify finds %v", left)
				}
				now := r.contents()
				if d := diff(truth.records, now.records); d != "" {
					t.Fatalf("repaired (-loaded +repaired):\n%s", d)
				}
				timesNow, after := r.times(), r.history()
				for key := range truth.records {
					if now.surrogates[key] == before.surrogates[key] && timesNow[key] != times[key] {
						t.Errorf("%v was first seen and changed at %v, and now at %v", key, times[key], timesNow[key])
					}
				}
				for key, rows := range history {
					if after[key] != rows {
						t.Errorf("history of %s was\n%s\nand is\n%s", key, rows, after[key])
					}
				}
			}
			r.mustEqualRebuilt()
		})
	}
}

// times is _first_seen_at and _changed_at of all records.
func (r *rig) times() map[store.NaturalKey]string {
	r.t.Helper()
	list := map[store.NaturalKey]string{}
	for _, root := range schema.Roots() {
		for _, row := range r.query(fmt.Sprintf("SELECT CAST(%s AS TEXT), CAST(%s AS TEXT), +_first_seen_at, +_changed_at FROM %s", root.Unique[0], root.Unique[1], root.Name)) {
			list[store.NaturalKey{row[0].(string), row[1].(string)}] = fmt.Sprint(row[2:]...)
		}
	}
	return list
}

// history is all intervals by table and surrogate key.
func (r *rig) history() map[string]string {
	r.t.Helper()
	list := map[string]string{}
	for _, t := range schema.HistoryTables {
		for _, row := range r.rows(t) {
			list[fmt.Sprint(t.Name, " ", row[0])] += fmt.Sprintln(row[1:]...)
		}
	}
	return list
}

// The figures of the issue: ten edited, ten deleted. A plain full sync brings the deleted ones back
// under new keys and leaves the edited ones and what is left of the deleted ones; a repair does the
// rest, and a second one has nothing to do.
func TestRepair(t *testing.T) {
	t.Parallel()
	r := newRig(t, platformtest.Options{Seed: 9, Requests: 40 + testsize.Fewer(80), Equipments: fewItems()})
	r.sync(Options{})
	last := r.value("SELECT max(request_key) FROM requests")
	r.exec("UPDATE requests SET final_value = final_value + 1 WHERE request_key IN (SELECT request_key FROM requests WHERE final_value > 0 ORDER BY request_key LIMIT 10)",
		"DELETE FROM requests WHERE request_key > (SELECT max(request_key) - 10 FROM requests)")
	kinds := func() map[string]int {
		n := map[string]int{}
		for _, v := range r.verify() {
			for _, d := range v.Differences {
				n[d.Kind]++
			}
		}
		return n
	}
	if d := diff(map[string]int{DiffEdited: 10, DiffMissing: 10, DiffOrphan: 10}, kinds()); d != "" {
		t.Errorf("verify finds\n%s", d)
	}
	if total := r.sync(Options{Full: true}).Total(); total.Inserted != 10 || total.Changed != 0 {
		t.Errorf("a plain full sync: %+v", total)
	}
	if reused := r.value("SELECT count(*) FROM requests JOIN request_status_history USING (request_key) GROUP BY request_key ORDER BY 1 DESC LIMIT 1"); reused != int64(1) {
		t.Errorf("a new record has the history of a deleted one: %v intervals", reused)
	}
	if least := r.value("SELECT min(request_key) FROM requests WHERE request_key > ?", last.(int64)-10); least != last.(int64)+1 {
		t.Errorf("the first new key is %v, after %v", least, last)
	}
	if d := diff(map[string]int{DiffEdited: 10, DiffOrphan: 10}, kinds()); d != "" {
		t.Errorf("after a plain full sync verify finds\n%s", d)
	}

	before := r.bytes()
	tried := r.sync(Options{Full: true, Repair: true, DryRun: true})
	if d := diff(before, r.bytes()); d != "" {
		t.Error("a dry run changed the file")
	}
	layout := r.layout()
	done := r.sync(Options{Full: true, Repair: true})
	if total := done.Total(); total.Changed != 10 || total.Inserted != 0 {
		t.Errorf("repair: %+v", total)
	}
	for i, s := range done.Streams {
		if d := diff(tried.Streams[i].Repairs, s.Repairs); d != "" {
			t.Errorf("%s (-dry run +repair):\n%s", s.Stream, d)
		}
	}
	if r.layout() == layout {
		t.Error("an export would not notice that rows were repaired")
	}
	if n := kinds(); len(n) > 0 {
		t.Errorf("after the repair verify finds %v", n)
	}
	r.mustEqualTruth()
	r.mustEqualRebuilt()
	if n := r.value("SELECT count(*) FROM bi_requests LEFT JOIN requests USING (request_key) WHERE requests.id IS NULL"); n != int64(0) {
		t.Errorf("%v deals in the marts have no request", n)
	}
	count := r.watchWrites()
	if again := r.sync(Options{Full: true, Repair: true}); again.Total().Changed != 0 || count() != 0 {
		t.Errorf("a second repair wrote %d rows: %+v", count(), again.Total())
	}
}

// layout is what exports know a rewritten mirror by.
func (r *rig) layout() int64 {
	r.t.Helper()
	s, err := r.mirror.Snapshot(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	defer s.Close()
	return s.Layout()
}

// A repair begins an interrupted window anew: the rows of what was read before it was interrupted
// have not been compared.
func TestRepairReadsInterruptedWindowFromItsStart(t *testing.T) {
	t.Parallel()
	r := newRig(t, platformtest.Options{Seed: 5, Requests: 200, Equipments: fewItems(), Dialect: platformtest.Dialect{Cap: 20}})
	r.sync(Options{})
	r.cutOff(1)
	if n := r.value("SELECT count(*) FROM _windows WHERE cursor > 0 AND completed_at IS NULL"); n == int64(0) {
		t.Fatal("no window was interrupted")
	}
	r.exec("UPDATE requests SET name = 'edited'", "UPDATE equipments SET name = 'edited'")
	r.sync(Options{Full: true, Repair: true})
	r.mustEqualTruth()
}

// A record whose rows were edited and that changed on the platform too is a change like any other:
// it has a new _changed_at and history.
func TestRepairOfChangedRecord(t *testing.T) {
	t.Parallel()
	list := &fixedList{records: []string{`{"productCode":"A","baseprice":10,"name":"a"}`}}
	r := newRigFor(t, list)
	equipments, _ := ParseStreams([]string{"equipments"})
	r.sync(Options{Streams: equipments})
	r.exec("UPDATE equipments SET base_price = 99, _changed_at = NULL")
	r.sync(Options{Streams: equipments, Full: true, Repair: true})
	if got := r.query("SELECT base_price, +valid_to FROM equipment_price_history"); diff([][]any{{10.0, nil}}, got) != "" {
		t.Errorf("an edited price is in the history: %v", got)
	}
	r.clock.advance(time.Hour)
	list.records[0] = `{"productCode":"A","baseprice":12,"name":"a"}`
	r.exec("UPDATE equipments SET base_price = 99")
	r.sync(Options{Streams: equipments, Full: true, Repair: true})
	got := r.query("SELECT base_price, valid_to IS NULL FROM equipment_price_history ORDER BY valid_from")
	if d := diff([][]any{{10.0, int64(0)}, {12.0, int64(1)}}, got); d != "" {
		t.Error(d)
	}
	if n := cmp.Compare(r.value("SELECT max(valid_from) FROM equipment_price_history").(string), r.value("SELECT _changed_at FROM equipments").(string)); n != 0 {
		t.Error("_changed_at did not move with the price")
	}
}

// Rows are compared by what they say: a record whose members come in another order has the same
// rows, although extra says them in another order.
func TestRewrittenRecordIsNotEdited(t *testing.T) {
	t.Parallel()
	list := &fixedList{records: []string{`{"productCode":"A","z":{"b":1,"c":[2]},"y":2,"inverterSpecifications":{"maximumInputCurrent":[1,2],"inputAmount":[3]}}`}}
	r := newRigFor(t, list)
	equipments, _ := ParseStreams([]string{"equipments"})
	r.sync(Options{Streams: equipments})
	list.records[0] = `{"inverterSpecifications":{"inputAmount":[3],"maximumInputCurrent":[1, 2]},"y":2,"z":{"c":[ 2 ],"b":1},"productCode":"A"}`
	verified, err := r.engine.Verify(t.Context(), equipments)
	if err != nil || len(verified[0].Differences) > 0 {
		t.Errorf("%v, %v", err, verified)
	}
	r.exec(`UPDATE equipments SET extra = '{"/y":2}'`)
	if verified, err = r.engine.Verify(t.Context(), equipments); err != nil || len(verified[0].Differences) != 1 {
		t.Errorf("%v, %v", err, verified)
	}
}

// SQL that empties the time of a record's last change does not keep the next sync from reading the
// record.
func TestSyncOfRecordWithoutTime(t *testing.T) {
	t.Parallel()
	list := &fixedList{records: []string{`{"productCode":"A","name":"a"}`}}
	r := newRigFor(t, list)
	equipments, _ := ParseStreams([]string{"equipments"})
	r.sync(Options{Streams: equipments})
	r.exec("UPDATE equipments SET _changed_at = NULL")
	list.records[0] = `{"productCode":"A","name":"b"}`
	r.sync(Options{Streams: equipments, Full: true})
	if got := r.query("SELECT name, _changed_at = _first_seen_at FROM equipments"); diff([][]any{{"b", int64(1)}}, got) != "" {
		t.Errorf("the mirror holds %v", got)
	}
}
