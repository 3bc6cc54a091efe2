package platformtest

import "math"

// What may happen to a request when its turn comes, beside the next step of its deal.
const (
	chanceVanish  = 0.003
	chanceRemove  = 0.015
	chanceEdit    = 0.25
	chanceRestore = 0.05 // of a removed one
	chancePurge   = 0.02 // of a removed one: deleted for good
	removedDays   = 60.0 // mean time between the turns of a removed one
)

// born returns the first turn of a new request.
func (w *world) born(i uint32) int64 {
	d := throw(w.seed, streamLife, uint64(i), math.MaxUint64)
	return after(&d, w.requests[i].created, stageNew.facts().days)
}

// turn lets one thing happen to request i and returns when its next turn is. Each turn draws from dice of its own, so
// that a request's life does not depend on the others.
func (w *world) turn(i uint32, at int64, mayVanish bool) int64 {
	r := &w.requests[i]
	if r.gone { // by churn, since its last turn
		return math.MaxInt64
	}
	d := throw(w.seed, streamLife, uint64(i), uint64(r.turns))
	r.turns++
	before := *r
	if r.act(&d, at, mayVanish) {
		r.updated = at
		w.version++
		w.noteRequest(changeOf(&before, r), i)
	}
	switch {
	case r.gone:
		return math.MaxInt64
	case r.removed:
		return after(&d, at, removedDays)
	default:
		return after(&d, at, r.stage.facts().days)
	}
}

// act reports whether anything changed.
func (r *request) act(d *dice, at int64, mayVanish bool) bool {
	x := d.float()
	if r.removed {
		switch {
		case x < chanceRestore:
			r.removed = false
		case mayVanish && x < chanceRestore+chancePurge:
			r.gone = true
		default:
			return false
		}
		return true
	}
	switch {
	case mayVanish && x < chanceVanish:
		r.gone = true
	case x < chanceVanish+chanceRemove:
		r.removed = true
	case r.stage.isFinal() || x < chanceVanish+chanceRemove+chanceEdit:
		r.edit(d)
	default:
		r.advance(d, at)
	}
	return true
}

// edit changes the notes, before billing the discount, and before the order a product line.
func (r *request) edit(d *dice) {
	switch x := d.float(); {
	case x < 0.25 && !r.stage.isOrder() && r.lineEdits < 5:
		r.lineEdits++
	case x < 0.5 && r.stage < stageBilled && r.discountEdits < math.MaxUint8:
		r.discountEdits++
	case r.noteEdits < 12:
		r.noteEdits++
	default:
		r.noteEdits = 1 // somebody tidied up
	}
}

func (r *request) advance(d *dice, at int64) {
	next := r.stage.facts().next
	weights := make([]int, len(next))
	for n := range next {
		weights[n] = next[n].weight
	}
	r.stage = next[d.weighted(weights)].to
	switch r.stage {
	case stagePlaced:
		r.ordered = at
	case stagePaid:
		r.paid = at
	case stageBilled:
		r.billed = at
	}
}
