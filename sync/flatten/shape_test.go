package flatten_test

import (
	"maps"
	"slices"
	"strings"

	"solarmirror/schema"
)

// shape is the documented form of a value, read from the schema by the tests for themselves: Plan must not be its own witness.
type shape struct {
	kind    shapeKind
	path    string         // JSON Pointer, * for elements of arrays
	table   *schema.Table  // whose row the value is in or starts
	column  *schema.Column // leafs, and what a list's elements are
	members map[string]*shape
	bare    *shape // many: the list a plain string stands for
	list    string // lists in a Values table: their name there
}

type shapeKind int

const (
	leaf shapeKind = iota
	inlined
	one
	many
	listOf
)

func shapeOf(root *schema.Table) *shape {
	s := &shape{kind: one, members: map[string]*shape{}}
	s.add(root)
	return s
}

func (s *shape) add(t *schema.Table) {
	s.table = t
	for i, c := range t.Columns {
		if c.Path != "" && c.Path != "." {
			at := s.at(c.Path)
			at.kind, at.table, at.column = leaf, t, &t.Columns[i]
		}
	}
	for _, child := range t.Children {
		switch child.Shape {
		case schema.One:
			at := s.at(child.Path)
			at.kind = one
			at.add(child)
		case schema.Many:
			at := s.at(child.Path)
			at.many(child)
		case schema.Values:
			for _, a := range child.Arrays {
				at := s.at(a.Path)
				at.kind, at.table, at.list, at.column = listOf, child, a.Name, child.Column("value")
			}
		}
	}
}

func (s *shape) many(t *schema.Table) {
	s.table = t
	for i, c := range t.Columns {
		if c.Path == "." {
			s.kind, s.column = listOf, &t.Columns[i]
			return
		}
	}
	s.kind = many
	element := &shape{path: s.path + "/*", members: map[string]*shape{}}
	element.add(t)
	s.members = element.members
	s.bare = element.members[strings.TrimPrefix(t.Bare, "/")]
}

func (s *shape) at(pointer string) *shape {
	for _, step := range strings.Split(pointer[1:], "/") {
		if s.members[step] == nil {
			s.members[step] = &shape{kind: inlined, path: s.path + "/" + step, table: s.table, members: map[string]*shape{}}
		}
		s = s.members[step]
	}
	return s
}

func (s *shape) names() []string { return slices.Sorted(maps.Keys(s.members)) }

// element is the shape of one element of a many.
func (s *shape) element() *shape {
	return &shape{kind: one, path: s.path + "/*", table: s.table, members: s.members}
}
