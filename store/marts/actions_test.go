package marts

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"solarmirror/schema"
	"solarmirror/store/sqlitefile"
)

// actions are what may happen to the records.
var actions = []named{
	{"new deal", (*world).newDeal}, {"convert", (*world).convert}, {"cancel, lose or revive", (*world).setStatus}, {"pay", (*world).setPayment},
	{"revalue", (*world).revalue}, {"reassign", (*world).reassign}, {"remove or restore", (*world).remove}, {"lose sight of or find again", (*world).tombstone},
	{"prune", (*world).prune}, {"other lines", (*world).setLines}, {"new item", (*world).newItem}, {"re-price", (*world).reprice}, {"re-price and back", (*world).repriceAndBack},
	{"re-stock", (*world).restock}, {"describe", (*world).describe}, {"wait", (*world).advance},
}

func (w *world) advance() {
	w.now = w.now.Add(rapid.SampledFrom([]time.Duration{0, time.Minute, time.Hour, 5 * time.Hour, 26 * time.Hour, 31 * 24 * time.Hour}).Draw(w.T, "waited"))
}

// any draws one of some values for a column.
func (w *world) any(what string, values ...any) any {
	return rapid.SampledFrom(values).Draw(w.T, what)
}

func (w *world) money(what string) any {
	if rapid.IntRange(0, 9).Draw(w.T, what+" is known") == 9 {
		return w.any(what, nil, 0.0)
	}
	return float64(rapid.IntRange(1, 2_000_000).Draw(w.T, what)) / 100
}

// lately draws a TIMESTAMP, or none: of a day that summaries tell apart from the next, or in the
// future, since clocks differ.
func (w *world) lately(what string) any {
	days := rapid.SampledFrom([]int{-1, -1, 0, 0, 1, 2, 29, 30, 31, 89, 90, 91, 99}).Draw(w.T, what)
	if days == 99 {
		return nil
	}
	hours := time.Duration(rapid.IntRange(0, 23).Draw(w.T, "hours before"))
	return sqlitefile.FormatTime(w.now.AddDate(0, 0, -days).Add(-hours * time.Hour))
}

// pick draws the key of a record that a condition holds for; ok is false if there is none.
func (w *world) pick(root *schema.Table, where string) (key int64, ok bool) {
	w.Helper()
	var keys int
	from := fmt.Sprintf("FROM %s AS x WHERE %s", root.Name, where)
	_, err := w.tx.Get("count", &keys, "SELECT count(*) "+from)
	w.must(err)
	if keys == 0 {
		return 0, false
	}
	n := rapid.IntRange(0, keys-1).Draw(w.T, root.Name)
	_, err = w.tx.Get("pick", &key, fmt.Sprintf("SELECT %s %s ORDER BY 1 LIMIT 1 OFFSET %d", root.Key[0], from, n))
	w.must(err)
	return key, true
}

// changed tells the history and the marts that a record has changed.
func (w *world) changed(root *schema.Table, key int64, inserted bool) {
	w.Helper()
	w.exec(fmt.Sprintf("UPDATE %s SET _changed_at = ? WHERE %s = ?", root.Name, root.Key[0]), w.timestamp(), key)
	keys := []int64{key}
	if inserted {
		w.must(w.tx.Follow(root, keys, nil))
	} else {
		w.must(w.tx.Follow(root, nil, keys))
	}
	w.must(w.tx.NoteStaleKeys(root, key))
}

// change changes a record that is drawn.
func (w *world) change(root *schema.Table, where string, change func(key int64)) {
	w.Helper()
	if key, ok := w.pick(root, where); ok {
		change(key)
		w.changed(root, key, false)
	}
}

func (w *world) newDeal() {
	w.ids++
	w.insertRequest(w.any("type", "budget", "budget", "order").(string), fmt.Sprint("id", w.ids))
}

func (w *world) insertRequest(kind, id string) {
	w.exec(`INSERT INTO requests (request_type, id, kind, name, removed, _first_seen_at, _changed_at) VALUES (?, ?, ?, 'n', 0, ?, ?)`,
		kind, id, w.any("kind", "complete", "parts", nil), w.timestamp(), w.timestamp())
	var key int64
	_, err := w.tx.Get("key", &key, "SELECT max(request_key) FROM requests")
	w.must(err)
	w.exec("UPDATE requests SET budget_created = ?, order_created = ?, billing_date = ? WHERE request_key = ?", w.lately("budget created"),
		w.lately("order created"), w.any("billed", nil, "2026-03-12", "2026-04-01"), key)
	for _, set := range []func(int64){w.writeStatus, w.writePayment, w.writeValue, w.writePeople, w.writeLines} {
		set(key)
	}
	w.changed(schema.Requests, key, true)
}

func (w *world) convert() {
	key, ok := w.pick(schema.Requests, "request_type = 'budget' AND NOT EXISTS (SELECT 1 FROM requests AS o WHERE o.request_type = 'order' AND o.id = x.id)")
	if !ok {
		return
	}
	var id string
	_, err := w.tx.Get("id", &id, "SELECT id FROM requests WHERE request_key = ?", key)
	w.must(err)
	w.insertRequest("order", id)
}

func (w *world) setStatus()  { w.change(schema.Requests, "true", w.writeStatus) }
func (w *world) setPayment() { w.change(schema.Requests, "true", w.writePayment) }
func (w *world) revalue()    { w.change(schema.Requests, "true", w.writeValue) }
func (w *world) reassign()   { w.change(schema.Requests, "true", w.writePeople) }
func (w *world) setLines()   { w.change(schema.Requests, "true", w.writeLines) }

func (w *world) writeStatus(key int64) {
	w.exec("UPDATE requests SET deal_status = ? WHERE request_key = ?", w.any("status", "Novo", "Em negociação", " NOVO\u00a0", nil, "", "novo!", "Cancelado",
		" CANCELÁDA ", "estornado", "Perdido", "LOST\t", "expirado", "Entregue", "concluído", "CONCLUI\u0301DO", "Delivered"), key)
}

func (w *world) writePayment(key int64) {
	w.exec("DELETE FROM request_payments WHERE request_key = ?", key)
	if status := w.any("payment", "received", "none", "cancelled", " Cancelled", "CÁNCELLED", "cancelled?", nil); status != "none" {
		w.exec("INSERT INTO request_payments (request_key, status, type, condition_name, transaction_status) VALUES (?, ?, ?, ?, ?)", key, status,
			w.any("means", "pix", "boleto", nil), w.any("condition", "cash", nil), w.any("transaction", "paid", nil))
	}
}

func (w *world) writeValue(key int64) {
	w.exec("UPDATE requests SET original_value = ?, final_value = ?, discount = ?, surcharge = ?, total_power = ? WHERE request_key = ?",
		w.money("original"), w.money("final"), w.money("discount"), w.money("surcharge"), w.any("power", nil, 0.0, 3.3, 12.75), key)
	w.exec("DELETE FROM request_freights WHERE request_key = ?", key)
	w.exec("INSERT INTO request_freights (request_key, price, type, address_state) VALUES (?, ?, ?, ?)", key, w.money("freight"), w.any("freight", "cif", nil), w.any("state", "SP", "", nil))
}

func (w *world) writePeople(key int64) {
	w.exec("UPDATE requests SET responsible_email = ?, responsible_name = ?, responsible_surname = ? WHERE request_key = ?",
		w.any("seller", "ana@x.br", " Ana@X.br", "rui@x.br", "", nil), w.any("name", "Ana", "Rui", nil), w.any("surname", "Reis", "", nil), key)
	w.exec("DELETE FROM request_companies WHERE request_key = ?", key)
	w.exec("INSERT INTO request_companies (request_key, cnpj, cpf, company_name, fantasy_name, address_state) VALUES (?, ?, ?, ?, ?, ?)", key,
		w.any("CNPJ", "11222333000181", "11.222.333/0001-81", "", nil), w.any("CPF", "52998224725", nil), w.any("company", "Sol", "", nil), w.any("trade name", "S", nil), w.any("company's state", "RJ", nil))
}

func (w *world) writeLines(key int64) {
	w.exec("DELETE FROM request_products WHERE request_key = ?", key)
	for position := range rapid.IntRange(0, 3).Draw(w.T, "lines") {
		w.exec("INSERT INTO request_products (request_key, position, type, product_code, quantity, single_price, total_price, center_code) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", key, position+1,
			w.any("line", "module", "inverter", nil), w.any("code", "A", "B", nil), w.any("quantity", 1.0, 2.5, 40.0, nil), w.money("price"), w.money("total"), w.any("center", "C", "", nil))
	}
}

// remove leaves the time as it is: the record has changed.
func (w *world) remove() {
	w.change(schema.Requests, "true", func(key int64) {
		w.exec("UPDATE requests SET removed = ? WHERE request_key = ?", w.any("removed", 1, 0, nil), key)
	})
}

// tombstone changes no history: nobody saw the record.
func (w *world) tombstone() {
	root := w.root()
	if key, ok := w.pick(root, "true"); ok {
		w.exec(fmt.Sprintf("UPDATE %s SET _deleted_at = iif(_deleted_at IS NULL, ?, NULL) WHERE %s = ?", root.Name, root.Key[0]), w.timestamp(), key)
		w.must(w.tx.NoteStaleKeys(root, key))
	}
}

func (w *world) root() *schema.Table {
	return rapid.SampledFrom([]*schema.Table{schema.Requests, schema.Equipments}).Draw(w.T, "root")
}

func (w *world) prune() {
	_, err := w.tx.Prune(w.root(), "", w.now)
	w.must(err)
}

func (w *world) newItem() {
	kind, code := w.any("type", "module", "inverter", "").(string), w.any("code", "A", "B").(string)
	if _, exists := w.pick(schema.Equipments, fmt.Sprintf("type = '%s' AND product_code = '%s'", kind, code)); exists {
		return
	}
	w.exec("INSERT INTO equipments (type, product_code, _first_seen_at, _changed_at) VALUES (?, ?, ?, ?)", kind, code, w.timestamp(), w.timestamp())
	var key int64
	_, err := w.tx.Get("key", &key, "SELECT max(equipment_key) FROM equipments")
	w.must(err)
	for _, set := range []func(int64){w.writePrices, w.writeStock, w.writeDescription} {
		set(key)
	}
	w.changed(schema.Equipments, key, true)
}

func (w *world) reprice()  { w.change(schema.Equipments, "true", w.writePrices) }
func (w *world) restock()  { w.change(schema.Equipments, "true", w.writeStock) }
func (w *world) describe() { w.change(schema.Equipments, "true", w.writeDescription) }

// repriceAndBack leaves no trace in the catalogue, but one in the history.
func (w *world) repriceAndBack() {
	key, ok := w.pick(schema.Equipments, "true")
	if !ok {
		return
	}
	var cost *float64
	_, err := w.tx.Get("cost", &cost, "SELECT cost_price FROM equipments WHERE equipment_key = ?", key)
	w.must(err)
	w.writePrices(key)
	w.changed(schema.Equipments, key, false)
	w.now = w.now.Add(26 * time.Hour)
	w.exec("UPDATE equipments SET cost_price = ? WHERE equipment_key = ?", cost, key)
	w.changed(schema.Equipments, key, false)
}

func (w *world) writePrices(key int64) {
	w.exec("UPDATE equipments SET base_price = ?, cost_price = ?, is_to_sell = ? WHERE equipment_key = ?",
		w.any("base price", 10.5, 11.0, 0.0, nil), w.any("cost", 7.77, 8.005, 0.0, nil), w.any("for sale", 0, 1), key)
}

func (w *world) writeStock(key int64) {
	w.exec("UPDATE equipments SET inventory_current = ?, inventory_reserved = ?, inventory_minimum = 1 WHERE equipment_key = ?", w.any("stock", 90.0, 3.0, nil), w.any("reserved", 5.0, nil), key)
	w.exec("DELETE FROM equipment_inventory WHERE equipment_key = ?", key)
	for position := range rapid.IntRange(0, 2).Draw(w.T, "centers") {
		w.exec("INSERT INTO equipment_inventory (equipment_key, position, center_code, current, reserved) VALUES (?, ?, ?, ?, ?)", key, position+1,
			w.any("center", "C", "D", nil), w.any("stock", 70.0, nil), w.any("reserved", 2.0, nil))
	}
}

func (w *world) writeDescription(key int64) {
	w.exec("UPDATE equipments SET manufacturer = ?, model = ?, nominal_max_power = ? WHERE equipment_key = ?", w.any("manufacturer", "Sol", "Lua", nil), w.any("model", "X", nil), w.any("power", 550.0, nil), key)
	w.exec("DELETE FROM module_specifications WHERE equipment_key = ?", key)
	if rated := w.any("rated", "none", 600.0, nil); rated != "none" {
		w.exec("INSERT INTO module_specifications (equipment_key, rated_maximum_power) VALUES (?, ?)", key, rated)
	}
}
