package flatten_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"unicode/utf16"
)

// The tests' own JSON: a value is a literal (a number, true, false or null as written), a text, a list or an object whose members
// have an order. It can be written in many ways.
type (
	literal string
	text    string
	list    []any
	member  struct {
		name  string
		value any
	}
	object []member
)

const null literal = "null"

// write writes a value with white space, escapes and an order of members that the seed decides.
func write(v any, seed uint64) []byte {
	w := &jsonWriter{rnd: rand.New(rand.NewPCG(seed, 1)), plain: seed == 0}
	w.value(v)
	return w.out.Bytes()
}

type jsonWriter struct {
	out   bytes.Buffer
	rnd   *rand.Rand
	plain bool
}

func (w *jsonWriter) value(v any) {
	w.space()
	switch v := v.(type) {
	case literal:
		w.out.WriteString(string(v))
	case text:
		w.text(string(v))
	case list:
		w.out.WriteByte('[')
		for i, e := range v {
			w.comma(i)
			w.value(e)
		}
		w.out.WriteByte(']')
	case object:
		w.object(v)
	default:
		panic(fmt.Sprintf("write: %T", v))
	}
	w.space()
}

func (w *jsonWriter) object(o object) {
	order := make([]int, len(o))
	for i := range order {
		order[i] = i
	}
	if !w.plain {
		w.rnd.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	w.out.WriteByte('{')
	for n, i := range order {
		w.comma(n)
		w.space()
		w.text(o[i].name)
		w.space()
		w.out.WriteByte(':')
		w.value(o[i].value)
	}
	w.out.WriteByte('}')
}

func (w *jsonWriter) comma(i int) {
	if i > 0 {
		w.out.WriteByte(',')
	}
}

func (w *jsonWriter) space() {
	for !w.plain && w.rnd.IntN(8) == 0 {
		w.out.WriteByte(" \t\r\n"[w.rnd.IntN(4)])
	}
}

func (w *jsonWriter) text(s string) {
	w.out.WriteByte('"')
	escaping := !w.plain && w.rnd.IntN(3) == 0
	for _, r := range s {
		short := strings.IndexRune("\"\\/\b\f\n\r\t", r)
		switch {
		case escaping && w.rnd.IntN(2) == 0:
			w.unicodeEscape(r)
		case short >= 0 && (r != '/' || escaping):
			w.out.WriteByte('\\')
			w.out.WriteByte(`"\/bfnrt`[short])
		case r < ' ':
			w.unicodeEscape(r)
		default:
			w.out.WriteRune(r)
		}
	}
	w.out.WriteByte('"')
}

func (w *jsonWriter) unicodeEscape(r rune) {
	format := `\u%04x`
	if w.rnd.IntN(2) == 0 {
		format = `\u%04X`
	}
	if high, low := utf16.EncodeRune(r); high != '\uFFFD' {
		fmt.Fprintf(&w.out, format, high)
		r = low
	}
	fmt.Fprintf(&w.out, format, r)
}

// decodeStrict is the independent reader: encoding/json, numbers as written, exactly one value.
func decodeStrict(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("more than one value: %v", err)
	}
	return v, nil
}
