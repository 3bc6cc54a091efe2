package flatten

import "solarmirror/schema"

// Record is what a row needs besides the record itself.
type Record struct {
	Key       int64  // surrogate key
	Partition string // value of a natural key column that no field feeds (request_type); "" where there is none
	RawHash   uint64 // first half of _hash
	At        string // when the page was read, as a TIMESTAMP
	Raw       []byte
}

// Drift is one way in which records differ from the model.
type Drift struct {
	Path string // JSON Pointer, * for elements of arrays
	Kind string // unknown, type or shape, as in _drift
}

// Seen is how often a Drift was met in a batch, and the first value met.
type Seen struct {
	Occurrences int64
	Example     string
}

// Batch gathers the rows of many records of one plan.
type Batch struct {
	Rows  []schema.Rows // one per table of the plan, the root first
	Drift map[Drift]Seen
}

// NewBatch returns an empty batch for the plan.
func (p *Plan) NewBatch() *Batch {
	b := &Batch{Rows: make([]schema.Rows, len(p.tables)), Drift: map[Drift]Seen{}}
	for i, t := range p.tables {
		b.Rows[i].Table = t
	}
	return b
}

// Reset empties the batch and keeps its memory.
func (b *Batch) Reset() {
	for i := range b.Rows {
		clear(b.Rows[i].Values)
		b.Rows[i].Values = b.Rows[i].Values[:0]
	}
	clear(b.Drift)
}

// take moves the rows and the drift of another batch of the same plan to the end of this one.
func (b *Batch) take(other *Batch) {
	for i := range b.Rows {
		b.Rows[i].Values = append(b.Rows[i].Values, other.Rows[i].Values...)
	}
	for d, more := range other.Drift {
		seen, known := b.Drift[d]
		if !known {
			seen.Example = more.Example
		}
		seen.Occurrences += more.Occurrences
		b.Drift[d] = seen
	}
	other.Reset()
}
