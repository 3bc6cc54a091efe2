package flatten_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pgregory.net/rapid"

	"solarmirror/schema"
	"solarmirror/sync/flatten"
)

// expected is what flattening a drawn record must come to, known because the drawing decided it.
type expected struct {
	rows  map[string]map[string]any // by address, as rowsOf has it: what the record's fields give
	extra map[string]any            // by JSON Pointer
	drift map[flatten.Drift]int64
}

// drawing draws a random record of a root table, from the documented forms or, when drifting, from everything real servers
// do to them.
type drawing struct {
	*rapid.T
	drifting bool
	expected
}

// drawRecord returns a record that must be accepted.
func drawRecord(t *rapid.T, root *schema.Table, drifting bool) (object, expected) {
	d := &drawing{t, drifting, expected{map[string]map[string]any{}, map[string]any{}, map[flatten.Drift]int64{}}}
	s := shapeOf(root)
	at := place{addr: address(root)}
	d.newRow(at.addr)
	record := d.members(s, at, root.Unique...)
	last := root.Column(root.Unique[1])
	id := rapid.StringMatching(`[a-z0-9ç]{1,8}`).Draw(t, "key")
	d.rows[at.addr][last.Name] = id
	record = append(record, member{last.Path[1:], text(id)})
	if first := root.Column(root.Unique[0]); first.Path != "" {
		value := d.value(s.members[first.Path[1:]], at.member(first.Path[1:]))
		if d.rows[at.addr][first.Name] == nil {
			d.rows[at.addr][first.Name] = ""
		}
		record = append(record, member{first.Path[1:], value})
	}
	return record, d.expected
}

// place is where a value stands.
type place struct {
	pointer   string
	addr      string // of the row it belongs to
	positions []int64
	lone      bool // in an object that stands in place of an array: its members' pointers have no index
}

func (p place) member(name string) place {
	p.pointer += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
	p.lone = false
	return p
}

// in is the same place seen from the row of a table.
func (p place) in(t *schema.Table, positions ...int64) place {
	p.positions = positions
	p.addr = address(t, positions...)
	return p
}

func address(t *schema.Table, positions ...int64) string {
	return fmt.Sprint(t.Name, positions)
}

func listAddress(s *shape, positions []int64) string {
	if s.list != "" {
		return fmt.Sprintf("%s[%s %d]", s.table.Name, s.list, positions[0])
	}
	return address(s.table, positions...)
}

func (d *drawing) newRow(addr string) { d.rows[addr] = map[string]any{} }

func (d *drawing) keep(at place, v any) { d.extra[at.pointer] = v }

func (d *drawing) note(path, kind string) { d.drift[flatten.Drift{Path: path, Kind: kind}]++ }

// misfit expects the value whole in extra.
func (d *drawing) misfit(at place, path string, v any) any {
	d.keep(at, v)
	d.note(path, "shape")
	return v
}

func (d *drawing) oneIn(n int) bool { return rapid.IntRange(1, n).Draw(d.T, "one in") == n }

// deviates says whether the next value is to be other than documented.
func (d *drawing) deviates() bool { return d.drifting && d.oneIn(3) }

// members draws an object's members, but for those whose columns are left out.
func (d *drawing) members(s *shape, at place, without ...string) object {
	o := object{}
	for _, name := range s.names() {
		m := s.members[name]
		if m.kind == leaf && slices.Contains(without, m.column.Name) || d.oneIn(2) {
			continue
		}
		o = append(o, member{name, d.value(m, at.member(name))})
	}
	for d.drifting && d.oneIn(3) {
		o = d.unknown(s, at, o)
	}
	return o
}

func (d *drawing) unknown(s *shape, at place, o object) object {
	names := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"_id", "profitMargin", "a/b", "~", "~1", "m~0n", "", "0", "1", "01", "12", "-", "*", ".", "\x00", "ID", "Name", "é", "😀", "\u2028", `"`, `\`, "requestType", "extra",
	}))
	name := names.Draw(d.T, "name")
	taken := func(m member) bool { return m.name == name }
	if s.members[name] != nil || slices.ContainsFunc(o, taken) {
		return o
	}
	inside := at.member(name)
	if isNumber := strings.Trim(name, "0123456789") == "" && name != ""; at.lone && isNumber && (name == "0" || name[0] != '0') {
		inside.pointer = at.pointer + "/0/" + name
	}
	v := d.any(3)
	d.keep(inside, v)
	d.note(s.path+strings.TrimPrefix(at.member(name).pointer, at.pointer), "unknown")
	return append(o, member{name, v})
}

// any draws any JSON value.
func (d *drawing) any(depth int) any {
	kinds := 5
	if depth > 0 {
		kinds = 7
	}
	switch rapid.IntRange(1, kinds).Draw(d.T, "kind") {
	case 1:
		return null
	case 2:
		return literal(strconv.FormatBool(rapid.Bool().Draw(d.T, "bool")))
	case 3:
		return rapid.SampledFrom([]literal{"0", "-0", "1.50", "9007199254740993", "1e400", "1E+2", "-3.0e-7", "123456789012345678901234567890"}).Draw(d.T, "number")
	case 4, 5:
		return text(d.string())
	case 6:
		l := list{}
		for range rapid.IntRange(0, 3).Draw(d.T, "elements") {
			l = append(l, d.any(depth-1))
		}
		return l
	}
	o := object{}
	for range rapid.IntRange(0, 3).Draw(d.T, "members") {
		name := d.string()
		if !slices.ContainsFunc(o, func(m member) bool { return m.name == name }) {
			o = append(o, member{name, d.any(depth - 1)})
		}
	}
	return o
}

func (d *drawing) string() string {
	return rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"", "Novo", "São Paulo", "<p>a&b</p>", "a\x00b", "😀", "\u2028\ufffd", `"\/`, "\b\f\n\r\t\x7f", "null", "true", "12.50", "2026-03-02T13:45:12.318Z",
	})).Draw(d.T, "string")
}

// scalar draws what is no array, no object and not null.
func (d *drawing) scalar(strings bool) any {
	if strings && rapid.Bool().Draw(d.T, "a string") {
		return text(d.string())
	}
	return rapid.SampledFrom([]literal{"true", "false", "0", "7", "-1.5e3", "1e999"}).Draw(d.T, "scalar")
}

// value draws the value of a documented member.
func (d *drawing) value(s *shape, at place) any {
	if d.oneIn(10) {
		return null
	}
	switch s.kind {
	case leaf:
		return d.leaf(s, at, s.path)
	case inlined, one:
		return d.single(s, at)
	case many:
		return d.many(s, at)
	}
	return d.list(s, at)
}

// leaf draws a scalar that is not null, for the column of the row at hand.
func (d *drawing) leaf(s *shape, at place, path string) any {
	v := d.column(s.column)
	if v.want != nil {
		d.rows[at.addr][s.column.Name] = v.want
	}
	if v.drift {
		d.note(path, "type")
	}
	if v.keep {
		d.keep(at, v.json)
	}
	return v.json
}

func (d *drawing) single(s *shape, at place) any {
	if d.deviates() {
		if d.oneIn(3) {
			return d.misfit(at, s.path, list{d.any(1)})
		}
		return d.misfit(at, s.path, d.scalar(true))
	}
	if s.kind == one {
		at = at.in(s.table)
		d.newRow(at.addr)
	}
	return d.members(s, at)
}

func (d *drawing) many(s *shape, at place) any {
	if d.deviates() {
		d.note(s.path, "shape")
		alone := at.in(s.table, append(slices.Clone(at.positions), 1)...)
		alone.lone = true
		return d.element(s, alone)
	}
	l := list{}
	for i := range rapid.IntRange(0, 3).Draw(d.T, "elements") {
		inside := at.member(strconv.Itoa(i)).in(s.table, append(slices.Clone(at.positions), int64(i)+1)...)
		switch {
		case !d.deviates():
			d.newRow(inside.addr)
			l = append(l, d.members(s.element(), inside))
		case d.oneIn(3):
			l = append(l, d.misfit(inside, s.path+"/*", null))
		default:
			d.note(s.path+"/*", "shape")
			l = append(l, d.stranger(s, inside))
		}
	}
	return l
}

// element draws what stands alone in place of an array.
func (d *drawing) element(s *shape, at place) any {
	if rapid.Bool().Draw(d.T, "an object") {
		d.newRow(at.addr)
		return d.members(s.element(), at)
	}
	return d.stranger(s, at)
}

// stranger draws a scalar among objects; its drift is noted already.
func (d *drawing) stranger(s *shape, at place) any {
	if s.bare != nil && rapid.Bool().Draw(d.T, "bare") {
		name := d.string()
		d.newRow(at.addr)
		d.rows[address(s.bare.table, append(slices.Clone(at.positions), 1)...)] = map[string]any{s.bare.column.Name: name}
		return text(name)
	}
	v := d.scalar(s.bare == nil)
	d.keep(at, v)
	return v
}

func (d *drawing) list(s *shape, at place) any {
	if d.deviates() {
		return d.lone(s, at)
	}
	l := list{}
	for i := range rapid.IntRange(0, 3).Draw(d.T, "elements") {
		inside := at.member(strconv.Itoa(i))
		inside.addr = listAddress(s, append(slices.Clone(at.positions), int64(i)+1))
		d.newRow(inside.addr)
		if d.oneIn(5) {
			l = append(l, null)
			continue
		}
		l = append(l, d.leaf(s, inside, s.path+"/*"))
	}
	return l
}

// lone draws what stands alone in place of a list of scalars.
func (d *drawing) lone(s *shape, at place) any {
	v := d.column(s.column)
	if _, isList := v.json.(list); isList {
		v.json = object{}
	}
	d.note(s.path, "shape")
	if v.want == nil {
		d.keep(at, v.json)
		return v.json
	}
	d.rows[listAddress(s, append(slices.Clone(at.positions), 1))] = map[string]any{s.column.Name: v.want}
	if v.drift {
		d.note(s.path, "type")
	}
	if v.keep {
		d.keep(at, v.json)
	}
	return v.json
}
