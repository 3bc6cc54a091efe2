package platformtest

import (
	"container/heap"
	"encoding/json"
	"math"
	"time"
)

// request is the state of one request; a million of them must fit. All else is derived by scene.
type request struct {
	created, updated, ordered, paid, billed int64 // milliseconds since 1970; the last three zero until it happens
	turns                                   uint32
	newcomer                                uint32 // the created company it comes from, counted from 1; 0 is none of them
	stage                                   stage
	noteEdits, discountEdits, lineEdits     uint8
	removed                                 bool
	gone                                    bool // deleted for good: in no list any more
}

// world is the platform's data and its life. Requests are in the order of their creation. Not safe for concurrent use.
type world struct {
	*scene
	requests []request
	items    []item
	known    map[string]bool // keys of all items that ever were
	perDay   float64         // new budgets on an average day
	now      int64
	agenda   agenda
	shops    uint64 // shop events so far: the key of the next one's dice
	version  uint64 // rises whenever a list could change
	diary    *diary // nil: no account of events is kept
}

func newWorld(seed uint64, zone *time.Location, start int64, requests int, loaded []json.RawMessage) *world {
	items := buildCatalogue(seed, loaded, start)
	w := &world{
		scene: newScene(seed, zone, start, requests, items), items: items, known: map[string]bool{}, now: start,
	}
	for i := range items {
		w.known[items[i].key()] = true
	}
	if requests > 0 {
		w.perDay = max(3, float64(requests)/700)
	}
	w.requests = make([]request, requests, requests+requests/100)
	w.agenda = make(agenda, 0, requests+requests/100)
	for i, created := range history(seed, requests, start, zone) {
		w.live(uint32(i), created)
	}
	w.planDay(start)
	w.agenda = append(w.agenda, appointment{w.afterShop(start), whatShop})
	heap.Init(&w.agenda)
	return w
}

// live makes request i and lets it live until the world's start.
func (w *world) live(i uint32, created int64) {
	w.requests[i] = request{created: created, updated: created}
	next := w.born(i)
	for next <= w.now {
		next = w.turn(i, next, false)
	}
	w.agenda = append(w.agenda, appointment{next, what(i)})
}

// catchUp lets everything happen that is due by the given moment. A clock that goes back changes nothing.
func (w *world) catchUp(to int64) {
	for len(w.agenda) > 0 && w.agenda[0].at <= to {
		due := &w.agenda[0]
		at := due.at
		switch due.what {
		case whatDay:
			heap.Pop(&w.agenda)
			w.planDay(at)
			continue
		case whatBirth:
			i := uint32(len(w.requests))
			w.requests = append(w.requests, request{created: at, updated: at, newcomer: w.attract(i)})
			due.at, due.what = w.born(i), what(i)
			w.version++
			w.noteRequest(EventInserted, i)
		case whatShop:
			w.shop(at)
			due.at = w.afterShop(at)
		default:
			due.at = w.turn(uint32(due.what), at, true)
		}
		heap.Fix(&w.agenda, 0)
	}
	w.now = max(w.now, to)
}

// planDay puts the new budgets of the local day of from on the agenda, those after from, and the next midnight.
func (w *world) planDay(from int64) {
	day := midnight(from, w.zone)
	for _, at := range arrivals(w.seed, day, w.perDay) {
		if at > from {
			heap.Push(&w.agenda, appointment{at, whatBirth})
		}
	}
	heap.Push(&w.agenda, appointment{day.AddDate(0, 0, 1).UnixMilli(), whatDay})
}

// what is who an appointment is for: a request's index, or one of the following.
type what int64

const (
	whatDay   what = -1
	whatBirth what = -2
	whatShop  what = -3
)

type appointment struct {
	at   int64
	what what
}

// agenda is a heap of all appointments, the earliest first.
type agenda []appointment

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	return a[i].at < a[j].at || a[i].at == a[j].at && a[i].what < a[j].what
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(appointment)) }
func (a *agenda) Pop() any {
	last := len(*a) - 1
	x := (*a)[last]
	*a = (*a)[:last]
	return x
}

// after returns a moment some days after at, as the mean goes, and never the same moment.
func after(d *dice, at int64, meanDays float64) int64 {
	return at + max(1, int64(math.Round(d.exp(meanDays)*float64(dayMS))))
}
