package flatten

import (
	"bytes"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Flattener walks records along a plan. It belongs to one goroutine.
type Flattener struct {
	plan *Plan
	out  *Batch

	buf     bytes.Buffer
	dec     *jsontext.Decoder
	rec     Record
	row     []int     // per table: where its current row starts in out.Rows[table].Values
	pos     []int64   // per table: position of its current element
	pointer []byte    // JSON Pointer of the value being read
	steps   []int     // lengths of pointer to go back to
	extra   []byte    // the extra object so far, without its closing brace
	drift   []drifted // of this record; merged into out.Drift only if the record is accepted
	start   []int     // per table: length of out.Rows[table].Values before this record
}

type drifted struct {
	Drift
	example string
}

// NewFlattener returns a flattener that appends to out.
func (p *Plan) NewFlattener(out *Batch) *Flattener {
	n := len(p.tables)
	f := &Flattener{plan: p, out: out, row: make([]int, n), pos: make([]int64, n), start: make([]int, n)}
	f.dec = jsontext.NewDecoder(&f.buf)
	return f
}

// Flatten appends the rows of one record to the batch. The error is a *Reject, and the batch is then as it was before.
func (f *Flattener) Flatten(rec Record) error {
	f.rec = rec
	f.pointer, f.steps, f.extra, f.drift = f.pointer[:0], f.steps[:0], f.extra[:0], f.drift[:0]
	for i := range f.start {
		f.start[i] = len(f.out.Rows[i].Values)
	}
	if err := f.record(); err != nil {
		for i, n := range f.start {
			rows := &f.out.Rows[i]
			clear(rows.Values[n:])
			rows.Values = rows.Values[:n]
		}
		return asReject(err)
	}
	for _, d := range f.drift {
		seen := f.out.Drift[d.Drift]
		if seen.Occurrences++; seen.Occurrences == 1 {
			seen.Example = d.example
		}
		f.out.Drift[d.Drift] = seen
	}
	return nil
}

func (f *Flattener) record() error {
	// A bytes.Buffer is decoded in place; the decoder never writes to it.
	f.buf = *bytes.NewBuffer(f.rec.Raw)
	f.dec.Reset(&f.buf)
	if k := f.dec.PeekKind(); k != '{' {
		if k == 0 {
			_, err := f.dec.ReadToken()
			return err
		}
		return notAnObject(k)
	}
	f.newRow(0)
	if err := f.object(f.plan.record); err != nil {
		return err
	}
	switch _, err := f.dec.ReadToken(); err {
	case io.EOF:
		return f.finishRoot()
	case nil:
		return &Reject{Reason: "more than one value in the record"}
	default:
		return err
	}
}

// finishRoot checks the key and fills the columns that no field feeds.
func (f *Flattener) finishRoot() error {
	root := f.out.Rows[0].Table
	row := f.out.Rows[0].Values[f.row[0]:]
	if err := f.plan.finishKey(row, f.rec.Partition); err != nil {
		return err
	}
	canonical, ok := Canonical(f.rec.Raw)
	if !ok { // the decoder accepts the text, and a greater depth
		return errTooDeep
	}
	for i, c := range root.Columns {
		switch c.Name {
		case "extra":
			if len(f.extra) > 0 {
				row[i] = string(append(f.extra, '}'))
			}
		case "_hash":
			row[i] = HashBytes(f.rec.RawHash, canonical)
		case "_first_seen_at", "_changed_at":
			row[i] = f.rec.At
		}
	}
	return nil
}

// object reads an object whose members the node documents.
func (f *Flattener) object(n *node) error {
	if _, err := f.dec.ReadToken(); err != nil {
		return err
	}
	for f.dec.PeekKind() == '"' {
		quoted, err := f.dec.ReadValue()
		if err != nil {
			return err
		}
		member, err := f.enter(n, quoted)
		if err != nil {
			return err
		}
		if err := f.value(member, n); err != nil {
			return err
		}
		f.leave()
	}
	_, err := f.dec.ReadToken() // the closing brace, or what is wrong in its place
	return err
}

// enter moves the pointer to a member and returns its node, nil when it is unknown.
func (f *Flattener) enter(n *node, quoted jsontext.Value) (*node, error) {
	name, err := memberName(quoted)
	if err != nil {
		return nil, err
	}
	f.steps = append(f.steps, len(f.pointer))
	f.pointer = appendStep(f.pointer, name)
	return n.members[string(name)], nil
}

// memberName returns the name a JSON string stands for. Without escapes that is a part of quoted itself.
func memberName(quoted jsontext.Value) ([]byte, error) {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1], nil
	}
	return jsontext.AppendUnquote(nil, quoted)
}

func (f *Flattener) enterElement(i int) {
	f.steps = append(f.steps, len(f.pointer))
	f.pointer = append(f.pointer, '/')
	f.pointer = strconv.AppendInt(f.pointer, int64(i), 10)
}

func (f *Flattener) leave() {
	last := len(f.steps) - 1
	f.pointer = f.pointer[:f.steps[last]]
	f.steps = f.steps[:last]
}

// value reads the value of a member; around is the object it stands in.
func (f *Flattener) value(n, around *node) error {
	if n == nil {
		return f.unknown(around)
	}
	kind := f.dec.PeekKind()
	if kind == 'n' {
		_, err := f.dec.ReadToken()
		return err
	}
	switch n.kind {
	case scalar:
		raw, err := f.dec.ReadValue()
		if err != nil {
			return err
		}
		f.store(n, f.row[n.table], kind, raw)
		return nil
	case inline, single:
		if kind != '{' {
			return f.misfit(n.path, "shape")
		}
		if n.kind == single {
			f.newRow(n.table)
		}
		return f.object(n)
	case array:
		return f.array(n, kind)
	default:
		return f.list(n, kind)
	}
}

// unknown keeps a member that nothing documents.
func (f *Flattener) unknown(around *node) error {
	start := f.steps[len(f.steps)-1]
	step := string(f.pointer[start:])
	if around.lone && isIndex(step[1:]) { // or "1" would read as the array's second element
		f.pointer = append(append(f.pointer[:start], "/0"...), step...)
	}
	return f.misfit(around.path+step, "unknown")
}

// misfit keeps the next value whole in extra.
func (f *Flattener) misfit(path, kind string) error {
	raw, err := f.dec.ReadValue()
	if err != nil {
		return err
	}
	f.keep(raw)
	f.note(path, kind, raw)
	return nil
}

// array reads an array of objects. A value that stands there by itself is read as the only element.
func (f *Flattener) array(n *node, kind jsontext.Kind) error {
	if kind == '[' {
		return f.elements(n.table, func(kind jsontext.Kind) error {
			return f.element(n.element, kind, n.element.path)
		})
	}
	start := f.dec.InputOffset()
	f.pos[n.table] = 1
	if err := f.element(n.alone, kind, n.path); err != nil {
		return err
	}
	if kind == '{' {
		f.note(n.path, "shape", bytes.TrimLeft(f.rec.Raw[start:f.dec.InputOffset()], ": \t\r\n"))
	}
	return nil
}

// elements reads an array, with read for each of its elements.
func (f *Flattener) elements(table int, read func(kind jsontext.Kind) error) error {
	if _, err := f.dec.ReadToken(); err != nil {
		return err
	}
	for i := 0; ; i++ {
		kind := f.dec.PeekKind()
		if kind == ']' || kind == 0 {
			_, err := f.dec.ReadToken() // the closing bracket, or what is wrong in its place
			return err
		}
		f.enterElement(i)
		f.pos[table] = int64(i) + 1
		if err := read(kind); err != nil {
			return err
		}
		f.leave()
	}
}

// element reads one element of an array of objects; path is where drift is noted. What is no object leaves a gap in the
// positions.
func (f *Flattener) element(n *node, kind jsontext.Kind, path string) error {
	switch {
	case kind == '{':
		f.newRow(n.table)
		return f.object(n)
	case kind == '"' && n.bare != nil:
		raw, err := f.dec.ReadValue()
		if err != nil {
			return err
		}
		f.newRow(n.table)
		f.pos[n.bare.table] = 1
		f.store(n.bare, f.newRow(n.bare.table), kind, raw)
		f.note(path, "shape", raw)
		return nil
	}
	return f.misfit(path, "shape")
}

// list reads an array of scalars. A null is a row without a value.
func (f *Flattener) list(n *node, kind jsontext.Kind) error {
	if kind != '[' {
		return f.loneListValue(n, kind)
	}
	return f.elements(n.table, func(kind jsontext.Kind) error {
		raw, err := f.dec.ReadValue()
		if err != nil {
			return err
		}
		row := f.newListRow(n)
		if kind != 'n' {
			f.store(n.element, row, kind, raw)
		}
		return nil
	})
}

// loneListValue reads a value that stands where a list is documented: the only element, if it is a scalar that fits.
func (f *Flattener) loneListValue(n *node, kind jsontext.Kind) error {
	raw, err := f.dec.ReadValue()
	if err != nil {
		return err
	}
	f.note(n.path, "shape", raw)
	if _, how := convert(f.plan.column(n), kind, raw); how == misfits {
		f.keep(raw)
		return nil
	}
	f.pos[n.table] = 1
	f.store(n, f.newListRow(n), kind, raw)
	return nil
}

// newRow starts a row of a table, fills its key, and returns where it starts.
func (f *Flattener) newRow(table int) int {
	rows := &f.out.Rows[table]
	start := len(rows.Values)
	for range rows.Table.Columns {
		rows.Values = append(rows.Values, nil)
	}
	f.row[table] = start
	row := rows.Values[start:]
	row[0] = f.rec.Key
	positions := f.plan.positions[table]
	first := len(rows.Table.Key) - len(positions)
	for i, t := range positions {
		row[first+i] = f.pos[t]
	}
	return start
}

func (f *Flattener) newListRow(n *node) int {
	start := f.newRow(n.table)
	if n.name != "" {
		f.out.Rows[n.table].Values[start+1] = n.name
	}
	return start
}

// store puts a scalar into its column, or into extra, or both.
func (f *Flattener) store(n *node, row int, kind jsontext.Kind, raw jsontext.Value) {
	v, how := convert(f.plan.column(n), kind, raw)
	f.out.Rows[n.table].Values[row+n.column] = v
	if how == fits {
		return
	}
	f.note(n.path, "type", raw)
	if how != converted {
		f.keep(raw)
	}
}
