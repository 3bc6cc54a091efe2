package platformtest

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// The changes that make up drift, and the tree of JSON values that they work on.

func put(literal string) change {
	return func(*node, *dice) *node { return parseNode([]byte(literal)) }
}

func drawNumber(_ *node, d *dice) *node {
	return scalar(strconv.AppendFloat(nil, float64(d.between(100, 9_999_999))/100, 'f', -1, 64))
}

func drawID(_ *node, d *dice) *node {
	return scalar(append(d.hex([]byte{'"'}, 24), '"'))
}

func leaveOut(*node, *dice) *node { return nil }

func nullObject(old *node, _ *dice) *node {
	if old == nil || old.kind != '{' {
		return old
	}
	return scalar([]byte("null"))
}

// quoteNumber makes a string of a number.
func quoteNumber(old *node, _ *dice) *node {
	if !old.is('0') {
		return old
	}
	return scalar([]byte(`"` + string(old.literal) + `"`))
}

func quoteBoolean(old *node, _ *dice) *node {
	if !old.is('t') && !old.is('f') {
		return old
	}
	return scalar([]byte(`"` + string(old.literal) + `"`))
}

// unquoteDigits makes a number of the digits in a string.
func unquoteDigits(old *node, _ *dice) *node {
	if !old.is('"') {
		return old
	}
	digits := strings.Map(func(c rune) rune {
		if '0' <= c && c <= '9' {
			return c
		}
		return -1
	}, string(old.literal))
	digits = strings.TrimLeft(digits, "0")
	if digits == "" {
		digits = "0"
	}
	return scalar([]byte(digits))
}

// shiftZone writes the same moment with an offset.
func shiftZone(old *node, _ *dice) *node {
	if !old.is('"') {
		return old
	}
	at, err := time.Parse(`"`+time.RFC3339Nano+`"`, string(old.literal))
	if err != nil {
		return old
	}
	return scalar(at.In(time.FixedZone("", -3*60*60)).AppendFormat(nil, `"2006-01-02T15:04:05.000-07:00"`))
}

// writeExponent writes the same number otherwise.
func writeExponent(old *node, _ *dice) *node {
	if !old.is('0') {
		return old
	}
	value, err := strconv.ParseFloat(string(old.literal), 64)
	if err != nil {
		return old
	}
	return scalar(strconv.AppendFloat(nil, value, 'E', -1, 64))
}

// unwrapFirst puts the first element in the place of an array.
func unwrapFirst(old *node, _ *dice) *node {
	if old == nil || old.kind != '[' || len(old.values) == 0 {
		return old
	}
	return old.values[0]
}

// node is a JSON value that can be edited. Names and scalars stay as they were written.
type node struct {
	kind    jsontext.Kind // '{', '[' or that of the scalar
	literal []byte        // of a scalar
	names   []string      // of an object's members, as written, without the quotes
	values  []*node
}

func scalar(literal []byte) *node {
	return &node{kind: jsontext.Value(literal).Kind(), literal: literal}
}

func (n *node) is(kind jsontext.Kind) bool { return n != nil && n.kind == kind }

// parseNode reads a JSON value that is known to be one. Duplicate names are kept.
func parseNode(raw []byte) *node {
	return readNode(jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)))
}

func readNode(dec *jsontext.Decoder) *node {
	kind := dec.PeekKind()
	if kind != '{' && kind != '[' {
		value, err := dec.ReadValue()
		if err != nil {
			panic("platformtest: a record is not JSON: " + err.Error())
		}
		return scalar(bytes.Clone(value))
	}
	n := &node{kind: kind}
	_, _ = dec.ReadToken() // as peeked
	for {
		switch next := dec.PeekKind(); {
		case next == '}' || next == ']':
			_, _ = dec.ReadToken()
			return n
		case kind == '{':
			name := readNode(dec).literal
			n.names = append(n.names, string(name[1:len(name)-1]))
		}
		n.values = append(n.values, readNode(dec))
	}
}

// edit changes what stands at a path. Where the way there is missing or no container, nothing is changed.
func (n *node) edit(path []string, d *dice, change change) {
	name := path[0]
	switch {
	case n.kind == '[' && name == "*":
		for i, value := range n.values {
			if len(path) > 1 {
				value.edit(path[1:], d, change)
			} else if changed := change(value, d); changed != nil {
				n.values[i] = changed
			}
		}
	case n.kind == '{' && len(path) > 1:
		if i := n.index(name); i >= 0 {
			n.values[i].edit(path[1:], d, change)
		}
	case n.kind == '{':
		n.editMember(name, d, change)
	}
}

func (n *node) editMember(name string, d *dice, change change) {
	i := n.index(name)
	if i < 0 {
		if added := change(nil, d); added != nil {
			n.names, n.values = append(n.names, name), append(n.values, added)
		}
		return
	}
	if changed := change(n.values[i], d); changed != nil {
		n.values[i] = changed
		return
	}
	n.names = append(n.names[:i], n.names[i+1:]...)
	n.values = append(n.values[:i], n.values[i+1:]...)
}

func (n *node) index(name string) int {
	for i := range n.names {
		if n.names[i] == name {
			return i
		}
	}
	return -1
}

func (n *node) appendJSON(b []byte) []byte {
	if n.kind != '{' && n.kind != '[' {
		return append(b, n.literal...)
	}
	b = append(b, byte(n.kind))
	for i, value := range n.values {
		if i > 0 {
			b = append(b, ',')
		}
		if n.kind == '{' {
			b = append(append(append(b, '"'), n.names[i]...), '"', ':')
		}
		b = value.appendJSON(b)
	}
	return append(b, byte(n.kind)+2) // ']' and '}' are two behind their counterparts
}
