package flatten

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"solarmirror/schema"
)

// Plan is the compiled way from a record to its rows. It is safe for concurrent use.
type Plan struct {
	tables    []*schema.Table // root first, parents before children
	positions [][]int         // per table: the tables whose positions end its key, its own last
	record    *node
	keys      [2]keyColumn
	keyers    sync.Pool // of *keyer
}

// node is what a documented value is expected to be.
type node struct {
	path    string // JSON Pointer from the record, * for elements of arrays
	kind    nodeKind
	table   int              // index into Plan.tables of the row this value is in, or that it starts
	column  int              // scalar and list: index of the value's column in its table
	members map[string]*node // inline and single: documented members
	element *node            // array and list: what each element is expected to be
	alone   *node            // array: what an object standing in its place is expected to be: element, but lone
	lone    bool             // single: the pointers of its members have no index
	bare    *node            // element of an array: the list that a plain string stands for
	name    string           // list: what a Values table's name column says
}

type nodeKind int

const (
	scalar nodeKind = iota
	inline          // object whose members live in the row around it
	single          // object with a row of its own: schema.One
	array           // array of objects: schema.Many
	list            // array of scalars: schema.Many over ".", schema.Values
)

// Compile makes the plan of a root table. A schema that contradicts itself is a fault of the program and panics.
func Compile(root *schema.Table) *Plan {
	p := &Plan{
		tables: root.Tables(),
		record: &node{kind: single, members: map[string]*node{}},
		keyers: sync.Pool{New: newKeyer},
	}
	p.positions = make([][]int, len(p.tables))
	p.addTable(root, p.record, nil)
	for i, name := range root.Unique {
		c := slices.IndexFunc(root.Columns, func(c schema.Column) bool { return c.Name == name })
		p.keys[i] = keyColumn{column: c, name: strings.TrimPrefix(root.Columns[c].Path, "/")}
	}
	return p
}

// Tables returns the tables the plan fills, the root first.
func (p *Plan) Tables() []*schema.Table { return p.tables }

// addTable hangs a table's columns and children under the node of its element.
func (p *Plan) addTable(t *schema.Table, at *node, parents []int) {
	index := slices.Index(p.tables, t)
	at.table = index
	for i, c := range t.Columns {
		if c.Path == "" {
			continue
		}
		leaf := at.descend(c.Path, index)
		leaf.kind, leaf.table, leaf.column = scalar, index, i
	}
	for _, child := range t.Children {
		p.addChild(child, at, parents)
	}
}

func (p *Plan) addChild(t *schema.Table, at *node, parents []int) {
	index := slices.Index(p.tables, t)
	switch t.Shape {
	case schema.One:
		n := at.descend(t.Path, at.table)
		n.kind = single
		p.addTable(t, n, parents)
	case schema.Many:
		n := at.descend(t.Path, at.table)
		n.table = index
		p.positions[index] = append(slices.Clone(parents), index)
		if c := elementColumn(t); c >= 0 {
			n.becomeList(index, c)
			return
		}
		n.kind = array
		n.element = &node{path: n.path + "/*", kind: single, members: map[string]*node{}}
		p.addTable(t, n.element, p.positions[index])
		n.element.bare = n.element.members[strings.TrimPrefix(t.Bare, "/")]
		alone := *n.element
		alone.lone = true
		n.alone = &alone
	case schema.Values:
		p.positions[index] = []int{index}
		for _, a := range t.Arrays {
			n := at.descend(a.Path, at.table)
			n.becomeList(index, elementColumn(t))
			n.name = a.Name
		}
	default:
		panic(fmt.Sprintf("flatten: table %s has no place under a record", t.Name))
	}
}

func (n *node) becomeList(table, column int) {
	n.kind, n.table, n.column = list, table, column
	n.element = &node{path: n.path + "/*", kind: scalar, table: table, column: column}
}

// column returns the column of a scalar or list.
func (p *Plan) column(n *node) *schema.Column { return &p.tables[n.table].Columns[n.column] }

// elementColumn returns the column that holds an array's plain elements, or -1 where the elements are objects.
func elementColumn(t *schema.Table) int {
	return slices.IndexFunc(t.Columns, func(c schema.Column) bool { return c.Path == "." })
}

// descend returns the node at a JSON Pointer below n, making inlined objects on the way.
func (n *node) descend(pointer string, table int) *node {
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		next, ok := n.members[step]
		if !ok {
			next = &node{path: n.path + "/" + step, kind: inline, table: table, members: map[string]*node{}}
			n.members[step] = next
		}
		n = next
	}
	return n
}
