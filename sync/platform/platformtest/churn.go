package platformtest

import (
	"bytes"
	"container/heap"
	"slices"
)

// Churn is how much the world moves between every two list requests, independently of the clock: the expected number
// of events of each kind, drawn from the seed when a list request arrives, before it is answered. They befall the
// collection that is asked for: orders, budgets, or the catalogue. Times of update are the clock's.
type Churn struct {
	Inserts     float64 // a new budget, an order placed at once, a new item
	Updates     float64 // of a live or a removed request; the price or the stock of an item, which no filter sees
	Removals    float64 // a live request is removed, one in four deleted for good; an item is withdrawn
	Conversions float64 // a live budget becomes an order, or an order a budget again
	Restores    float64 // a removed request is live again, a withdrawn item is back
}

// SetChurn changes how much the world moves from now on. Account of events is kept only by a platform that was made with churn.
func (p *Platform) SetChurn(c Churn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.churn = c
}

// EventKind is what happened to a record.
type EventKind string

// The values of EventKind.
const (
	EventInserted  EventKind = "inserted"
	EventUpdated   EventKind = "updated" // touched; a filter sees it even where the record reads as before
	EventRemoved   EventKind = "removed"
	EventRestored  EventKind = "restored"
	EventDeleted   EventKind = "deleted"   // in no list any more
	EventConverted EventKind = "converted" // from budget to order or back
)

// Event is one change of the world.
type Event struct {
	Request  int64  // the number of the HTTP request at whose arrival it happened, as Served counts
	Resource string // where the record is listed from then on
	Key      string // as in Record
	Kind     EventKind
}

// Events returns what has happened so far, in order: by churn and, as the clock passed, by itself. Only a platform
// with churn keeps account of it.
func (p *Platform) Events() []Event {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.world.diary == nil {
		return nil
	}
	return slices.Clone(p.world.diary.events)
}

// diary is the account of events.
type diary struct {
	request int64 // the one that is being answered
	events  []Event
}

// note writes an event down if an account is kept.
func (w *world) note(kind EventKind, resource, key string) {
	if w.diary != nil {
		w.diary.events = append(w.diary.events, Event{w.diary.request, resource, key, kind})
	}
}

func (w *world) noteRequest(kind EventKind, i uint32) {
	if w.diary == nil {
		return // the id costs something
	}
	r := &w.requests[i]
	w.note(kind, r.resource(), w.id(i, r))
}

func (r *request) resource() string {
	if r.stage.isOrder() {
		return ResourceOrders
	}
	return ResourceBudgets
}

// changeOf says what a change of a request is to those who list it.
func changeOf(before, after *request) EventKind {
	switch {
	case after.gone:
		return EventDeleted
	case after.removed && !before.removed:
		return EventRemoved
	case before.removed && !after.removed:
		return EventRestored
	case before.stage.isOrder() != after.stage.isOrder():
		return EventConverted
	default:
		return EventUpdated
	}
}

// churn lets happen what befalls the arrival of a request for a list.
func (w *world) churn(c Churn, number int64, q query) {
	if c == (Churn{}) {
		return
	}
	if w.diary != nil {
		w.diary.request = number
	}
	d := throw(w.seed, streamChurn, uint64(number))
	switch q := q.(type) {
	case requestQuery:
		w.churnRequests(c, &d, q.orders)
	case equipmentQuery:
		w.churnItems(c, &d)
	}
}

func (w *world) churnRequests(c Churn, d *dice, orders bool) {
	listed := func(r *request) bool { return !r.gone && r.stage.isOrder() == orders }
	for range d.poisson(c.Inserts) {
		w.insertRequest(orders)
	}
	for range d.poisson(c.Updates) {
		w.touch(d, listed, (*request).update)
	}
	for range d.poisson(c.Removals) {
		w.touch(d, func(r *request) bool { return listed(r) && !r.removed }, func(r *request, d *dice, _ int64) {
			r.gone = d.chance(0.25)
			r.removed = !r.gone
		})
	}
	for range d.poisson(c.Conversions) {
		w.touch(d, func(r *request) bool { return !r.gone && !r.removed }, (*request).convert)
	}
	for range d.poisson(c.Restores) {
		w.touch(d, func(r *request) bool { return listed(r) && r.removed }, func(r *request, _ *dice, _ int64) { r.removed = false })
	}
}

// insertRequest adds a request, which from then on lives like the others.
func (w *world) insertRequest(order bool) {
	i := uint32(len(w.requests))
	r := request{created: w.now, updated: w.now, newcomer: w.attract(i)}
	if order {
		r.stage, r.ordered = stagePlaced, w.now
	}
	w.requests = append(w.requests, r)
	heap.Push(&w.agenda, appointment{w.born(i), what(i)})
	w.version++
	w.noteRequest(EventInserted, i)
}

// touch changes one of the requests that may be, if there is any.
func (w *world) touch(d *dice, may func(*request) bool, change func(r *request, d *dice, at int64)) {
	i, ok := w.find(d, len(w.requests), func(i int) bool { return may(&w.requests[i]) })
	if !ok {
		return
	}
	r := &w.requests[i]
	before := *r
	change(r, d, w.now)
	r.updated = w.now
	w.version++
	w.noteRequest(changeOf(&before, r), uint32(i))
}

// find returns an index below n that may be, the next one after a random place.
func (w *world) find(d *dice, n int, may func(i int) bool) (int, bool) {
	if n == 0 {
		return 0, false
	}
	from := d.below(n)
	for k := range n {
		if i := (from + k) % n; may(i) {
			return i, true
		}
	}
	return 0, false
}

// update edits a request or, if it stays what it is by that, takes its deal a step on.
func (r *request) update(d *dice, at int64) {
	if r.removed || r.stage == stageApproved || r.stage.isFinal() || d.chance(0.7) {
		r.edit(d)
		return
	}
	r.advance(d, at)
}

// convert makes an order of a budget, and of an order the approved budget that it was.
func (r *request) convert(_ *dice, at int64) {
	if r.stage.isOrder() {
		r.stage, r.ordered, r.paid, r.billed = stageApproved, 0, 0, 0
		return
	}
	r.stage, r.ordered = stagePlaced, at
}

func (w *world) churnItems(c Churn, d *dice) {
	for range d.poisson(c.Inserts) {
		w.introduce(d, w.now)
	}
	onShelf := func(i int) bool { return !w.items[i].gone }
	for range d.poisson(c.Updates) {
		if i, ok := w.find(d, len(w.items), onShelf); ok {
			w.alter(i, w.now, func(it *item) { it.fluctuate(d) })
		}
	}
	for range d.poisson(c.Removals) {
		if i, ok := w.find(d, len(w.items), onShelf); ok {
			w.alter(i, w.now, func(it *item) { it.gone = true })
		}
	}
	for range d.poisson(c.Restores) {
		if i, ok := w.find(d, len(w.items), func(i int) bool { return w.items[i].gone }); ok {
			w.alter(i, w.now, func(it *item) { it.gone = false })
		}
	}
}

// alter changes an item, and takes account of it if that changed anything.
func (w *world) alter(i int, at int64, change func(*item)) {
	it := &w.items[i]
	before := *it
	change(it)
	kind := EventUpdated
	switch {
	case it.gone && !before.gone:
		kind = EventDeleted
	case before.gone && !it.gone:
		kind = EventRestored
	case bytes.Equal(before.raw, it.raw):
		return
	}
	it.updated = at
	w.version++
	w.note(kind, ResourceEquipments, it.key())
}
