package platformtest

import (
	"encoding/json"
	"strconv"
)

// afterShop returns when the next catalogue event is: each item is touched about once in forty days.
func (w *world) afterShop(at int64) int64 {
	d := throw(w.seed, streamShop, w.shops)
	return after(&d, at, 40/float64(len(w.items)+1))
}

// shop lets one thing happen in the catalogue. Only the created… filters know times of equipment; nothing in a record
// tells that it changed.
func (w *world) shop(at int64) {
	d := throw(w.seed, streamShop, w.shops, 1)
	w.shops++
	x := d.float()
	if x < 0.01 {
		w.introduce(&d, at)
		return
	}
	if len(w.items) == 0 {
		return
	}
	i := d.below(len(w.items))
	if w.items[i].gone {
		return
	}
	w.alter(i, at, func(it *item) {
		if x < 0.013 {
			it.discontinue()
			return
		}
		it.fluctuate(&d)
	})
}

// fluctuate changes the price of an item or, more often, its stock.
func (it *item) fluctuate(d *dice) {
	if d.chance(0.24) {
		it.reprice(d)
		return
	}
	it.moveStock(d)
}

// introduce adds a new item of any type under the first free code.
func (w *world) introduce(d *dice, at int64) {
	kind := pick(d, equipmentTypes)
	for serial := generatedItems[kind] + 1; ; serial++ {
		if w.known[kind+"/"+itemCode(kind, serial)] {
			continue
		}
		it := generateItem(w.seed, kind, serial)
		it.created, it.updated = at, at
		w.known[it.key()] = true
		w.items = append(w.items, it)
		w.version++
		w.note(EventInserted, ResourceEquipments, it.key())
		return
	}
}

// discontinue ends the sale of an item, and the second time withdraws it. In a loaded item only numbers may change, so
// that one is withdrawn at once.
func (it *item) discontinue() {
	if it.loaded || !it.IsToSell {
		it.gone = true
		return
	}
	it.IsToSell = false
	it.raw = patch(it.raw, map[string]string{"/isToSell": "false"})
}

func (it *item) reprice(d *dice) {
	factor := 0.94 + 0.13*d.float()
	it.BasePrice = round(it.BasePrice*factor, 2)
	it.CostPrice = round(it.CostPrice*factor, 2)
	it.raw = patch(it.raw, map[string]string{
		"/baseprice": strconv.FormatFloat(it.BasePrice, 'f', -1, 64),
		"/costPrice": strconv.FormatFloat(it.CostPrice, 'f', -1, 64),
	})
}

// levels is a stock as records show it.
type levels struct {
	Current  int `json:"current"`
	Reserved int `json:"reserved"`
}

// moveStock sells from one centre, or fills it up when little is left, and keeps the sum in step.
func (it *item) moveStock(d *dice) {
	var stock struct {
		Inventory         levels   `json:"inventory"`
		InventoryByCenter []levels `json:"inventoryByCenter"`
	}
	if json.Unmarshal(it.raw, &stock) != nil || len(stock.InventoryByCenter) == 0 {
		return
	}
	n := d.below(len(stock.InventoryByCenter))
	before := stock.InventoryByCenter[n]
	now := levels{Current: before.Current - d.below(before.Current/3+2)}
	if now.Current <= 2 {
		now.Current = before.Current + d.between(20, 400)
	}
	now.Reserved = d.below(now.Current/4 + 1)
	at := "/inventoryByCenter/" + strconv.Itoa(n)
	it.raw = patch(it.raw, map[string]string{
		at + "/current":       strconv.Itoa(now.Current),
		at + "/reserved":      strconv.Itoa(now.Reserved),
		"/inventory/current":  strconv.Itoa(stock.Inventory.Current + now.Current - before.Current),
		"/inventory/reserved": strconv.Itoa(stock.Inventory.Reserved + now.Reserved - before.Reserved),
	})
}
