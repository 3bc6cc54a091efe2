package platformtest

import (
	"cmp"
	"slices"
)

// Order is the order in which a list is sorted before it is cut into pages. What the sort leaves equal stands in the
// order of creation, in the direction of the sort.
type Order uint8

// The values of Order. The first eight are stable: a list stands still while the world does.
const (
	OrderCreatedDesc Order = iota // newest first
	OrderCreatedAsc
	OrderUpdatedDesc // a touched record jumps to the front
	OrderUpdatedAsc
	OrderID     // of a request the id, which rises with its creation; of an item type and product code
	OrderCode   // of a request the code, which rises with its creation; of an item the product code
	OrderName   // new records come in anywhere
	OrderStatus // of a request the deal status, as text: one that moves on goes anywhere; of an item whether it is sold
	OrderRandom // shuffled anew at every request
	OrderTies   // newest first by spans of thirty days, within a span shuffled anew at every request
)

func orderNames() []string {
	return []string{
		"created-desc", "created-asc", "updated-desc", "updated-asc", "id", "code", "name", "status", "random", "ties",
	}
}

// StableOrders are all orders but the random one and the one with ties.
func StableOrders() []Order {
	return []Order{
		OrderCreatedDesc, OrderCreatedAsc, OrderUpdatedDesc, OrderUpdatedAsc, OrderID, OrderCode, OrderName, OrderStatus,
	}
}

// String is the name that ParseDialect knows the order by.
func (o Order) String() string { return orderNames()[o] }

// rank is what records are sorted by: the number, then the text.
type rank struct {
	number int64
	text   string
}

// arrange brings a list that is newest first into the order. For the orders that shuffle, see shuffled.
func (o Order) arrange(list []uint32, of func(i uint32) rank) {
	if o == OrderCreatedDesc || o == OrderRandom {
		return
	}
	descending := o == OrderUpdatedDesc || o == OrderTies
	if !descending {
		slices.Reverse(list)
	}
	if o == OrderCreatedAsc {
		return
	}
	type ranked struct {
		rank
		index uint32
	}
	all := make([]ranked, len(list))
	for n, i := range list {
		all[n] = ranked{of(i), i}
	}
	slices.SortStableFunc(all, func(a, b ranked) int {
		order := cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.text, b.text))
		if descending {
			return -order
		}
		return order
	})
	for n := range all {
		list[n] = all[n].index
	}
}

// tieSpan is how long the creations are that OrderTies takes for simultaneous.
const tieSpan = 30 * dayMS

// shuffled returns the list as this one request finds it. The given list, which is cached, stays as it is.
func (o Order) shuffled(list []uint32, d *dice, of func(i uint32) rank) []uint32 {
	switch o {
	case OrderRandom:
		list = slices.Clone(list)
		d.shuffle(list)
	case OrderTies:
		list = slices.Clone(list)
		for from := 0; from < len(list); {
			to := from + 1
			for to < len(list) && of(list[to]) == of(list[from]) {
				to++
			}
			d.shuffle(list[from:to])
			from = to
		}
	}
	return list
}

func (d *dice) shuffle(list []uint32) {
	for n := len(list) - 1; n > 0; n-- {
		m := d.below(n + 1)
		list[n], list[m] = list[m], list[n]
	}
}

func (q requestQuery) rank(w *world, o Order, i uint32) rank {
	r := &w.requests[i]
	switch o {
	case OrderUpdatedDesc, OrderUpdatedAsc:
		return rank{number: r.updated}
	case OrderTies:
		return rank{number: r.created / tieSpan}
	case OrderID:
		return rank{text: w.id(i, r)}
	case OrderCode:
		return rank{text: w.code(i, r)}
	case OrderName:
		segment := w.size(i, r).segment
		return rank{text: w.name(i, segment, w.customer(i, segment))}
	case OrderStatus:
		return rank{text: r.stage.facts().deal}
	default:
		return rank{number: r.created}
	}
}

func (q equipmentQuery) rank(w *world, o Order, i uint32) rank {
	it := &w.items[i]
	switch o {
	case OrderUpdatedDesc, OrderUpdatedAsc:
		return rank{number: it.updated}
	case OrderTies:
		return rank{number: it.created / tieSpan}
	case OrderID:
		return rank{text: it.key()}
	case OrderCode:
		return rank{text: it.ProductCode}
	case OrderName:
		return rank{text: it.Name}
	case OrderStatus:
		if it.IsToSell {
			return rank{number: 1}
		}
		return rank{}
	default:
		return rank{number: it.created}
	}
}
