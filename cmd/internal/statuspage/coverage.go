package statuspage

import (
	"time"

	"solarmirror/store"
)

// coverage is what was read whole of one pass over a stream, or is being read: everything, or the windows of a backfill as one.
type coverage struct {
	Stream, Pass string
	From, To     string // dates; both "" for everything
	Windows      int
	Complete     int // of them
	Records      int64
	Last         time.Time // when the last was completed; zero: none was
	Weaker       int       // of them: with a weaker promise
}

// Done says whether nothing is left of it.
func (c coverage) Done() bool { return c.Complete == c.Windows }

// Everything says whether it has no bounds.
func (c coverage) Everything() bool { return c.From == "" && c.To == "" }

// Coverage adds the windows of each pass up.
func (v *view) Coverage() []coverage {
	type key struct {
		stream, pass string
		everything   bool
	}
	var order []key
	sums := map[key]*coverage{}
	for _, w := range v.windows {
		k := key{w.Stream, w.Pass, w.From == "" && w.To == ""}
		c := sums[k]
		if c == nil {
			c = &coverage{Stream: w.Stream, Pass: w.Pass, From: w.From, To: w.To}
			sums[k] = c
			order = append(order, k)
		}
		c.add(w)
	}
	list := make([]coverage, len(order))
	for i, k := range order {
		list[i] = *sums[k]
	}
	return list
}

func (c *coverage) add(w store.Window) {
	c.Windows++
	c.Records += w.Records
	if w.From < c.From {
		c.From = w.From
	}
	if w.To == "" || c.To != "" && w.To > c.To {
		c.To = w.To // one without an end reaches furthest
	}
	if w.Promise != "" {
		c.Weaker++
	}
	if !w.CompletedAt.IsZero() {
		c.Complete++
		if w.CompletedAt.After(c.Last) {
			c.Last = w.CompletedAt
		}
	}
}
