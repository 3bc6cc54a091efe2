package flatten

import "sync"

// Crew flattens many records at once, each processor a part of them. It belongs to one goroutine.
type Crew struct {
	out   *Batch
	hands []*Flattener // the first one appends to out, the others to batches of their own
}

// leastPart is how many records are worth another goroutine.
const leastPart = 8

// NewCrew returns a crew of so many hands that appends to out.
func (p *Plan) NewCrew(out *Batch, hands int) *Crew {
	c := &Crew{out: out, hands: []*Flattener{p.NewFlattener(out)}}
	for len(c.hands) < hands {
		c.hands = append(c.hands, p.NewFlattener(p.NewBatch()))
	}
	return c
}

// Flatten appends the rows of records to the batch, in their order, and returns for each what [Flattener.Flatten] says of it.
func (c *Crew) Flatten(records []Record) []error {
	errs := make([]error, len(records))
	size := max(leastPart, (len(records)+len(c.hands)-1)/len(c.hands))
	part := func(hand int) {
		for i := hand * size; i < min((hand+1)*size, len(records)); i++ {
			errs[i] = c.hands[hand].Flatten(records[i])
		}
	}
	parts := (len(records) + size - 1) / size
	var others sync.WaitGroup
	for hand := 1; hand < parts; hand++ {
		others.Go(func() { part(hand) })
	}
	part(0)
	others.Wait()
	for hand := 1; hand < parts; hand++ {
		c.out.take(c.hands[hand].out)
	}
	return errs
}
