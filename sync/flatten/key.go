package flatten

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// keyColumn says where half of a record's natural key comes from.
type keyColumn struct {
	column int    // in the root table
	name   string // top-level member; "" when the stream supplies the value
}

// Key reads the natural key of a raw record, the two columns of its root's Unique, and no further than it must: a key is
// no promise that the record is sound. Where [Plan]'s flattener accepts the record, it finds the same key. Partition is as in
// [Record]. The error is a *Reject.
func (p *Plan) Key(raw []byte, partition string) (key [2]string, err error) {
	k := p.keyers.Get().(*keyer)
	defer p.keyers.Put(k)
	row, err := k.read(p, raw)
	if err != nil {
		return key, asReject(err)
	}
	return p.checkKey(row, partition)
}

// checkKey makes a natural key of what the record says, where "" is nothing usable.
func (p *Plan) checkKey(said [2]string, partition string) ([2]string, error) {
	if p.keys[0].name == "" {
		said[0] = partition
	}
	if said[1] == "" {
		name := p.keys[1].name
		return said, &Reject{Reason: "the record has no usable " + name, Pointer: "/" + name}
	}
	return said, nil
}

// finishKey checks the key columns of a root row and fills what the record does not say.
func (p *Plan) finishKey(row []any, partition string) error {
	var said [2]string
	for i, k := range p.keys {
		said[i], _ = row[k.column].(string)
	}
	key, err := p.checkKey(said, partition)
	for i, k := range p.keys {
		row[k.column] = key[i]
	}
	return err
}

// keyer reads keys; it is kept for its decoder's memory.
type keyer struct {
	buf bytes.Buffer
	dec *jsontext.Decoder
}

func newKeyer() any {
	k := &keyer{}
	k.dec = jsontext.NewDecoder(&k.buf)
	return k
}

// read returns what the record says in the members of its key. Of a member that is there twice the first counts; the
// flattener refuses such a record anyway.
func (k *keyer) read(p *Plan, raw []byte) (said [2]string, err error) {
	k.buf = *bytes.NewBuffer(raw)
	k.dec.Reset(&k.buf, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if kind := k.dec.PeekKind(); kind != '{' && kind != 0 {
		return said, notAnObject(kind)
	}
	if _, err := k.dec.ReadToken(); err != nil {
		return said, err
	}
	met := [2]bool{p.keys[0].name == "", p.keys[1].name == ""}
	for !met[0] || !met[1] {
		if k.dec.PeekKind() != '"' {
			_, err := k.dec.ReadToken() // the closing brace, or what is wrong in its place
			return said, err
		}
		half, err := k.half(p)
		if err != nil {
			return said, err
		}
		if half < 0 || met[half] {
			if err := k.dec.SkipValue(); err != nil {
				return said, err
			}
			continue
		}
		met[half] = true
		if said[half], err = k.text(p, half); err != nil {
			return said, err
		}
	}
	return said, nil
}

// half reads a member's name and says which half of the key it is; -1 is neither.
func (k *keyer) half(p *Plan) (int, error) {
	quoted, err := k.dec.ReadValue()
	if err != nil {
		return -1, err
	}
	name, err := memberName(quoted)
	if err != nil {
		return -1, err
	}
	for i, c := range p.keys {
		if c.name != "" && string(name) == c.name {
			return i, nil
		}
	}
	return -1, nil
}

// text reads a key member's value as its column would hold it; "" is null or a misfit.
func (k *keyer) text(p *Plan, half int) (string, error) {
	kind := k.dec.PeekKind()
	raw, err := k.dec.ReadValue()
	if err != nil || kind == 'n' {
		return "", err
	}
	if kind == '"' && !raw.IsValid() {
		return "", &Reject{Reason: "the record has invalid UTF-8", Pointer: "/" + p.keys[half].name}
	}
	v, _ := convert(&p.tables[0].Columns[p.keys[half].column], kind, raw)
	s, _ := v.(string)
	return s, nil
}
