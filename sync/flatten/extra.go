package flatten

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// maxExample bounds the bytes of a value kept as an example of drift.
const maxExample = 200

// keep adds a raw value to extra, under the pointer of where it stands.
func (f *Flattener) keep(raw jsontext.Value) {
	sep := byte(',')
	if len(f.extra) == 0 {
		sep = '{'
	}
	f.extra = append(f.extra, sep)
	f.extra, _ = jsontext.AppendQuote(f.extra, f.pointer) // the pointer is made of decoded, hence valid, names
	f.extra = append(f.extra, ':')
	f.extra = append(f.extra, raw...)
}

// extraMembers calls each with every pointer and value of an extra; the value is good until the next.
func extraMembers(extra string, each func(pointer string, raw jsontext.Value) error) error {
	dec := jsontext.NewDecoder(strings.NewReader(extra))
	if k := dec.PeekKind(); k != '{' && k != 0 {
		return fmt.Errorf("not an object but %s", kindName(k))
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return err
		}
		pointer := name.String()
		raw, err := dec.ReadValue()
		if err != nil {
			return err
		}
		if err := each(pointer, raw); err != nil {
			return err
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	if _, err := dec.ReadToken(); err != io.EOF {
		return fmt.Errorf("more than one value")
	}
	return nil
}

// note records drift of the record at hand. Only the first of a kind in a batch needs its example.
func (f *Flattener) note(path, kind string, example jsontext.Value) {
	d := drifted{Drift: Drift{path, kind}}
	if _, seen := f.out.Drift[d.Drift]; !seen {
		d.example = shorten(example)
	}
	f.drift = append(f.drift, d)
}

func shorten(example jsontext.Value) string {
	if len(example) > maxExample {
		example = example[:maxExample]
		for !utf8.Valid(example) { // cut within a character
			example = example[:len(example)-1]
		}
	}
	return string(example)
}

// appendStep appends a member name to a JSON Pointer (RFC 6901).
func appendStep(pointer, name []byte) []byte {
	pointer = append(pointer, '/')
	for _, c := range name {
		switch c {
		case '~':
			pointer = append(pointer, "~0"...)
		case '/':
			pointer = append(pointer, "~1"...)
		default:
			pointer = append(pointer, c)
		}
	}
	return pointer
}

// isIndex says whether a step of a JSON Pointer can be the index of an array's element.
func isIndex(step string) bool {
	return step != "" && areDigits(step) && (step == "0" || step[0] != '0')
}
