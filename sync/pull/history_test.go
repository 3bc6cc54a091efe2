package pull

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"solarmirror/schema"
	"solarmirror/store/sqlitefile"
	"solarmirror/store/testsize"
	"solarmirror/sync/platform/platformtest"
)

// Ninety days of the platform's life, seen by syncs four to fifty hours apart: the history tables hold every transition the syncs could
// have seen, at the moment they saw it and with the right values, and nothing else.
func TestHistoryOfNinetyDays(t *testing.T) {
	t.Parallel()
	r := newRig(t, platformtest.Options{Seed: 5, Requests: 50, Equipments: someEquipments(5, 80)})
	requests, _ := ParseStreams([]string{"orders", "budgets"})
	equipments, _ := ParseStreams([]string{"equipments"})
	seen := &witness{rig: r, last: map[string][]byte{}, tables: map[string]*intervals{}}
	for _, table := range schema.HistoryTables {
		seen.tables[table.Name] = &intervals{open: map[string]int{}}
	}
	for step, passed := 0, time.Duration(0); passed <= time.Duration(testsize.Fewer(90))*24*time.Hour; step++ {
		r.sync(Options{Streams: requests})
		seen.look(requests)
		if step%2 == 0 {
			r.sync(Options{Streams: equipments, Full: true})
			seen.look(equipments)
		}
		pause := time.Duration([]int{4, 11, 29, 44, 52}[step%5]) * time.Hour
		passed += pause
		r.clock.advance(pause)
	}
	for _, table := range schema.HistoryTables {
		want := seen.tables[table.Name]
		if diff := diff(want.rows(), r.historyRows(table)); diff != "" {
			t.Errorf("%s (-what the syncs could see +mirror):\n%s", table.Name, diff)
		}
		if want.transitions < testsize.Fewer(30) {
			t.Errorf("only %d transitions for %s: that proves little", want.transitions, table.Name)
		}
	}
}

// someEquipments is a catalogue of n items of all types.
func someEquipments(seed uint64, n int) []json.RawMessage {
	var items []json.RawMessage
	i := 0
	for rec := range platformtest.New(platformtest.Options{Seed: seed}).Records(platformtest.ResourceEquipments) {
		if i++; i%(480/n) == 0 {
			items = append(items, rec.JSON)
		}
	}
	return items
}

// witness keeps what the platform held at each sync, apart from everything the mirror does.
type witness struct {
	*rig
	last   map[string][]byte     // the records' JSON
	tables map[string]*intervals // by history table
}

func (w *witness) look(streams []*Stream) {
	w.t.Helper()
	at := sqlitefile.FormatTime(w.clock.now())
	for _, s := range streams {
		for rec := range w.platform.Records(s.Name) {
			name := s.Name + " " + rec.Key
			before, known := w.last[name]
			if bytes.Equal(before, rec.JSON) {
				continue
			}
			w.last[name] = rec.JSON
			var v map[string]any
			if err := json.Unmarshal(rec.JSON, &v); err != nil {
				w.t.Fatal(err)
			}
			if s.Name == "equipments" {
				w.equipment(at, name, v, !known)
			} else {
				w.request(at, name, v, !known)
			}
		}
	}
}

func (w *witness) request(at, name string, v map[string]any, first bool) {
	payment, _ := v["payment"].(map[string]any)
	w.tables["request_status_history"].observe(at, name, first,
		v["dealStatus"], v["stockStatus"], payment["status"], payment["transactionStatus"], v["finalValue"], v["removed"])
}

func (w *witness) equipment(at, name string, v map[string]any, first bool) {
	w.tables["equipment_price_history"].observe(at, name, first, v["baseprice"], v["costPrice"], v["isToSell"])
	stock := w.tables["equipment_stock_history"]
	whole, _ := v["inventory"].(map[string]any)
	stock.observe(at, name+" ", first, whole["current"], whole["reserved"], whole["minimum"])
	centers, _ := v["inventoryByCenter"].([]any)
	for _, c := range centers {
		c := c.(map[string]any)
		stock.observe(at, name+" "+c["center"].(string), first, c["current"], c["reserved"], c["minimum"])
	}
}

// interval is a row of history, written out.
type interval struct{ Key, From, To, Values, Inferred string }

// intervals is what a history table should hold.
type intervals struct {
	list        []interval
	open        map[string]int
	transitions int
}

func (h *intervals) observe(at, key string, first bool, values ...any) {
	now := interval{Key: key, From: at, Values: fmt.Sprint(values...), Inferred: "0"}
	if first {
		now.Inferred = "1"
	}
	if i, known := h.open[key]; known {
		if h.list[i].Values == now.Values {
			return
		}
		h.list[i].To = at
		h.transitions++
	}
	h.open[key] = len(h.list)
	h.list = append(h.list, now)
}

func (h *intervals) rows() map[string]interval {
	rows := map[string]interval{}
	for _, i := range h.list {
		rows[i.Key+" from "+i.From] = i
	}
	return rows
}

// historyRows reads a history table in the same form.
func (r *rig) historyRows(t *schema.Table) map[string]interval {
	r.t.Helper()
	name := "CASE r.request_type WHEN 'order' THEN 'orders ' ELSE 'budgets ' END || r.id"
	if t.Of == schema.Equipments {
		name = "'equipments ' || r.type || '/' || r.product_code"
	}
	query := fmt.Sprintf("SELECT %s, h.* FROM %s AS h JOIN %s AS r USING (%s) ORDER BY 1, h.valid_from", name, t.Name, t.Of.Name, t.Key[0])
	rows := map[string]interval{}
	for _, row := range r.query(query) {
		i := interval{Key: row[0].(string)}
		var values []any
		for c, column := range t.Columns {
			switch v := row[c+1]; {
			case column.Name == t.Key[0]:
			case column.Name == "center_code":
				i.Key += " " + v.(string)
			case column.Name == "valid_from":
				i.From = v.(string)
			case column.Name == "valid_to":
				i.To, _ = v.(string)
			case column.Name == "is_inferred":
				i.Inferred = fmt.Sprint(v)
			case column.Type == schema.Boolean && v != nil:
				values = append(values, v == int64(1))
			default:
				values = append(values, v)
			}
		}
		i.Values = fmt.Sprint(values...)
		rows[i.Key+" from "+i.From] = i
	}
	return rows
}

// stockOf is the stock history of the only item, as "center from>to current inferred".
func (r *rig) stockOf() []string {
	r.t.Helper()
	var list []string
	for _, row := range r.query(`SELECT center_code, strftime('%H', valid_from), coalesce(strftime('%H', valid_to), ''), current, is_inferred
		FROM equipment_stock_history ORDER BY center_code, valid_from`) {
		list = append(list, fmt.Sprintf("%s %s>%s %v %d", row...))
	}
	return list
}

// Centres come and go; what cannot be told apart is followed by its first row; what has no name is not followed.
func TestStockHistoryOfCentres(t *testing.T) {
	t.Parallel()
	list := &fixedList{records: make([]string, 1)}
	r := newRigFor(t, list) // 15:00
	equipments, _ := ParseStreams([]string{"equipments"})
	read := func(inventory string) {
		t.Helper()
		list.records[0] = `{"type":"module","productCode":"M1",` + inventory + `}`
		r.sync(Options{Streams: equipments, Full: true})
		r.clock.advance(time.Hour)
	}
	read(`"inventory":{"current":9},"inventoryByCenter":[{"center":"A","current":1},{"center":"A","current":2},{"current":3},{"center":"","current":4},{"center":"C","current":5}]`)
	read(`"inventory":{"current":9},"name":"x","inventoryByCenter":[{"center":"A","current":1},{"center":"A","current":7}]`)
	read(`"inventory":{"current":9},"inventoryByCenter":[{"center":"B","current":1},{"center":"A","current":1.5}]`)
	read(`"inventoryByCenter":[{"center":"C","current":5}]`)
	want := []string{
		" 15>18 9 1", " 18> <nil> 0",
		"A 15>17 1 1", "A 17>18 1.5 0",
		"B 17>18 1 0",
		"C 15>16 5 1", "C 18> 5 0",
	}
	if diff := diff(want, r.stockOf()); diff != "" {
		t.Error(diff)
	}
}

// Two contents read in the same millisecond leave no empty interval, and nothing is written for what is not tracked.
func TestHistoryOfOneMoment(t *testing.T) {
	t.Parallel()
	list := &fixedList{records: []string{`{"productCode":"M1","baseprice":1,"name":"a"}`}}
	r := newRigFor(t, list)
	equipments, _ := ParseStreams([]string{"equipments"})
	prices := func() [][]any {
		return r.query("SELECT strftime('%H', valid_from), strftime('%H', valid_to), base_price, is_inferred FROM equipment_price_history ORDER BY valid_from")
	}
	r.sync(Options{Streams: equipments})
	list.records[0] = `{"productCode":"M1","baseprice":2,"name":"a"}`
	r.sync(Options{Streams: equipments})
	if diff := diff([][]any{{"15", nil, 2.0, int64(1)}}, prices()); diff != "" {
		t.Errorf("another price at the same moment:\n%s", diff)
	}
	count := r.watchHistory()
	r.clock.advance(time.Hour)
	list.records[0] = `{"productCode":"M1","baseprice":2,"name":"b"}`
	r.sync(Options{Streams: equipments})
	r.sync(Options{Streams: equipments, Full: true})
	if n := count(); n != 0 {
		t.Errorf("%d rows of history written for another name", n)
	}
	list.records[0] = `{"productCode":"M1","baseprice":3,"name":"b"}`
	r.sync(Options{Streams: equipments})
	if count() == 0 {
		t.Error("the triggers see nothing, so they prove nothing")
	}
	r.clock.advance(-30 * time.Second)
	list.records[0] = `{"productCode":"M1","baseprice":4,"name":"b"}`
	r.sync(Options{Streams: equipments, Full: true}) // an older page
	if diff := diff([][]any{{"15", "16", 2.0, int64(1)}, {"16", nil, 3.0, int64(0)}}, prices()); diff != "" {
		t.Error(diff)
	}
}

// watchHistory counts the rows of history that are written from now on.
func (r *rig) watchHistory() func() int64 {
	r.t.Helper()
	r.exec("CREATE TABLE history_touched (n)")
	for _, table := range schema.HistoryTables {
		for _, event := range []string{"INSERT", "UPDATE", "DELETE"} {
			r.exec(fmt.Sprintf("CREATE TRIGGER %s_%s AFTER %s ON %s BEGIN INSERT INTO history_touched VALUES (1); END", table.Name, event, event, table.Name))
		}
	}
	return func() int64 { return r.value("SELECT count(*) FROM history_touched").(int64) }
}
