package flatten

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"solarmirror/schema"
)

// Promoter moves values of records out of extra into columns that the schema has gained since they were flattened. It gathers the rows
// to write: root rows and the rows of tables with a gained column. Nothing else about a record changes. It belongs to one
// goroutine.
type Promoter struct {
	plan   *Plan
	paths  [][]string // where the values stand, split into steps
	tables []int      // into plan.tables: the root and those with a gained column
	batch  *Batch
	flat   *Flattener
	keys   []int64
}

// NewPromoter returns a promoter of the values at the given paths: JSON Pointers, with * for every element of an array.
func (p *Plan) NewPromoter(paths []string) *Promoter {
	pr := &Promoter{plan: p, batch: p.NewBatch()}
	pr.flat = p.NewFlattener(pr.batch)
	for _, path := range paths {
		pr.paths = append(pr.paths, steps(path))
	}
	gained := map[int]bool{0: true}
	pr.findTables(p.record, gained)
	for i := range p.tables {
		if gained[i] {
			pr.tables = append(pr.tables, i)
		}
	}
	return pr
}

// findTables marks the tables of everything at and below the paths.
func (p *Promoter) findTables(n *node, gained map[int]bool) {
	if n.path != "" && p.below(n.path) {
		gained[n.table] = true
	}
	for _, member := range n.members {
		p.findTables(member, gained)
	}
	if n.element != nil {
		p.findTables(n.element, gained)
	}
}

// Add promotes one record, given the rows of all its tables. It says whether any of the paths stands in its extra; if not, nothing is to be
// written.
func (p *Promoter) Add(rows []schema.Rows) (bool, error) {
	old, err := findRoot(rows)
	if err != nil {
		return false, fmt.Errorf("promoting a record: %w", err)
	}
	stored := old.Row(0)
	before, err := p.extraOf(stored)
	if err != nil {
		return false, p.failed(stored, err)
	}
	if !slices.ContainsFunc(before, func(e entry) bool { return p.at(e.pointer) }) {
		return false, nil
	}
	raw, err := Rebuild(rows)
	if err != nil {
		return false, p.failed(stored, err)
	}
	if err := p.flat.Flatten(p.record(stored, raw)); err != nil {
		return false, p.failed(stored, err)
	}
	roots := &p.batch.Rows[0]
	fresh := roots.Row(roots.Len() - 1)
	after, err := p.extraOf(fresh)
	if err != nil {
		return false, p.failed(stored, err)
	}
	p.keepBookkeeping(fresh, stored)
	fresh[p.column("extra")] = p.merge(before, after)
	p.keys = append(p.keys, stored[0].(int64))
	return true, nil
}

// record is what the flattener needs besides the rows. Its hash and time are replaced by those stored.
func (p *Promoter) record(stored []any, raw []byte) Record {
	rec := Record{Key: stored[0].(int64), Raw: raw}
	if k := p.plan.keys[0]; k.name == "" {
		rec.Partition, _ = stored[k.column].(string)
	}
	return rec
}

// Rows are the rows of the tables concerned, the root's first.
func (p *Promoter) Rows() []schema.Rows {
	rows := make([]schema.Rows, len(p.tables))
	for i, t := range p.tables {
		rows[i] = p.batch.Rows[t]
	}
	return rows
}

// Keys are the surrogate keys of the records gathered.
func (p *Promoter) Keys() []int64 { return p.keys }

// Drift is what still differs from the model at the paths; all other drift was noted when the records were read.
func (p *Promoter) Drift() map[Drift]Seen {
	list := map[Drift]Seen{}
	for d, seen := range p.batch.Drift {
		if p.below(d.Path) {
			list[d] = seen
		}
	}
	return list
}

// Reset forgets the records gathered and keeps the memory.
func (p *Promoter) Reset() {
	p.batch.Reset()
	p.keys = p.keys[:0]
}

// keepBookkeeping takes over what says when and as what the record was read.
func (p *Promoter) keepBookkeeping(fresh, stored []any) {
	for i, c := range p.plan.tables[0].Columns {
		if c.Path == "" && c.Name != "extra" {
			fresh[i] = stored[i]
		}
	}
}

// entry is a member of extra.
type entry struct {
	pointer string
	raw     jsontext.Value
}

func (p *Promoter) extraOf(root []any) ([]entry, error) {
	text, ok := root[p.column("extra")].(string)
	if !ok {
		return nil, nil
	}
	var list []entry
	err := extraMembers(text, func(pointer string, raw jsontext.Value) error {
		list = append(list, entry{pointer, raw.Clone()})
		return nil
	})
	return list, err
}

// merge is the extra of a promoted record: the members of old as they were, but for those at the paths; of those, what the columns
// could not hold.
func (p *Promoter) merge(before, after []entry) any {
	var left []entry
	rebuilt := map[string]string{} // the pointers of what is promoted, as Rebuild understood them, to what they were
	for _, e := range before {
		if with := p.withIndices(e.pointer); with == "" {
			left = append(left, e)
		} else {
			rebuilt[with] = e.pointer
		}
	}
	for _, e := range after {
		for with, was := range rebuilt {
			if rest, ok := strings.CutPrefix(e.pointer, with); ok && (rest == "" || rest[0] == '/') {
				left = append(left, entry{was + rest, e.raw})
			}
		}
	}
	if len(left) == 0 {
		return nil
	}
	var text []byte
	for i, e := range left {
		text = append(text, "{,"[min(i, 1)])
		text, _ = jsontext.AppendQuote(text, e.pointer) // it was read from JSON
		text = append(append(text, ':'), e.raw...)
	}
	return string(append(text, '}'))
}

func (p *Promoter) column(name string) int {
	return slices.Index(p.plan.tables[0].ColumnNames(), name)
}

func (p *Promoter) failed(stored []any, err error) error {
	return fmt.Errorf("promoting record %v of %s: %w", stored[0], p.plan.tables[0].Name, err)
}

// at says whether a pointer is one of the paths.
func (p *Promoter) at(pointer string) bool { return p.withIndices(pointer) != "" }

// withIndices returns a pointer that is one of the paths, with the index 0 wherever an object stood in place of an array; "" for any other
// pointer.
func (p *Promoter) withIndices(pointer string) string {
	for _, path := range p.paths {
		if full, rest, ok := follow(path, steps(pointer)); ok && len(rest) == 0 {
			return full
		}
	}
	return ""
}

// below says whether a pointer is one of the paths or leads to a part of one.
func (p *Promoter) below(pointer string) bool {
	return slices.ContainsFunc(p.paths, func(path []string) bool {
		_, _, ok := follow(path, steps(pointer))
		return ok
	})
}

func steps(pointer string) []string { return strings.Split(strings.TrimPrefix(pointer, "/"), "/") }

// follow goes along a pointer as far as the path leads. It returns the pointer so far, with an index for every array, and the steps
// left. An object in place of an array has no index in its pointers; it is the only element.
func follow(path, pointer []string) (full string, rest []string, ok bool) {
	for _, step := range path {
		switch {
		case step == "*" && (len(pointer) == 0 || pointer[0] != "*" && !isIndex(pointer[0])):
			full += "/0"
			continue
		case len(pointer) == 0 || step != "*" && step != pointer[0]:
			return "", nil, false
		}
		full += "/" + pointer[0]
		pointer = pointer[1:]
	}
	return full, pointer, true
}
