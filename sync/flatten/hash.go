package flatten

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/cespare/xxhash/v2"
	"github.com/go-json-experiment/json/jsontext"
)

// RawHash hashes a record's bytes as they came.
func RawHash(raw []byte) uint64 { return xxhash.Sum64(raw) }

// HashBytes is a record's _hash: raw hash, then canonical hash, big-endian.
func HashBytes(raw, canonical uint64) []byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, 16), raw)
	return binary.BigEndian.AppendUint64(b, canonical)
}

// maxDepth is how many levels a record may nest, itself included. It is the limit of SQLite's JSON
// functions, with which analysts read extra.
const maxDepth = 1000

// Canonical hashes a record's content: the order of members and white space do not count, the way a string is
// escaped neither; numbers count as written. It is meant for valid JSON; ok is false when it cannot
// follow the text, and when the text nests deeper than maxDepth.
//
// An object's hash is the sum of its members' hashes, which needs no sorting and no memory.
func Canonical(raw []byte) (hash uint64, ok bool) {
	w := walker{src: raw}
	hash, ok = w.value(0)
	w.space()
	return hash, ok && w.at == len(raw)
}

type walker struct {
	src []byte
	at  int
}

// Seeds keep the kinds of value apart: 1, "1" and [1] are not the same.
const (
	seedLiteral uint64 = 0x9e3779b97f4a7c15
	seedString  uint64 = 0xc2b2ae3d27d4eb4f
	seedArray   uint64 = 0x165667b19e3779f9
	seedObject  uint64 = 0x27d4eb2f165667c5
)

// mix spreads a over all bits, so that sums and products of mixed values do not cancel each other.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^0xa0761d6478bd642f, b^0xe7037ed1a0b428db)
	return hi ^ lo
}

func (w *walker) value(depth int) (uint64, bool) {
	w.space()
	if w.at >= len(w.src) {
		return 0, false
	}
	switch c := w.src[w.at]; {
	case c == '"':
		h, ok := w.str()
		return mix(h, seedString), ok
	case (c == '{' || c == '[') && depth == maxDepth:
		return 0, false
	case c == '{':
		return w.object(depth)
	case c == '[':
		return w.array(depth)
	}
	start := w.at
	for w.at < len(w.src) && !endsLiteral(w.src[w.at]) {
		w.at++
	}
	return mix(xxhash.Sum64(w.src[start:w.at]), seedLiteral), w.at > start
}

func (w *walker) object(depth int) (uint64, bool) {
	w.at++
	sum := seedObject
	if w.space(); w.take('}') {
		return mix(sum, seedObject), true
	}
	for {
		w.space()
		if w.at >= len(w.src) || w.src[w.at] != '"' {
			return 0, false
		}
		name, ok := w.str()
		if w.space(); !ok || !w.take(':') {
			return 0, false
		}
		value, ok := w.value(depth + 1)
		if !ok {
			return 0, false
		}
		sum += mix(name, value)
		w.space()
		if w.take('}') {
			return mix(sum, seedObject), true
		}
		if !w.take(',') {
			return 0, false
		}
	}
}

func (w *walker) array(depth int) (uint64, bool) {
	w.at++
	h := seedArray
	if w.space(); w.take(']') {
		return mix(h, seedArray), true
	}
	for {
		value, ok := w.value(depth + 1)
		if !ok {
			return 0, false
		}
		h = mix(h+value, seedArray)
		w.space()
		if w.take(']') {
			return mix(h, seedArray), true
		}
		if !w.take(',') {
			return 0, false
		}
	}
}

// str hashes what a string says, escapes resolved.
func (w *walker) str() (uint64, bool) {
	start := w.at + 1
	end, ok := closingQuote(w.src, start)
	if !ok {
		return 0, false
	}
	w.at = end + 1
	if said := w.src[start:end]; bytes.IndexByte(said, '\\') < 0 {
		return xxhash.Sum64(said), true
	}
	said, err := jsontext.AppendUnquote(nil, w.src[start-1:end+1])
	return xxhash.Sum64(said), err == nil
}

// closingQuote finds the end of a string that starts at start: a quote with an even number of backslashes before it.
func closingQuote(src []byte, start int) (end int, ok bool) {
	for end = start; ; end++ {
		i := bytes.IndexByte(src[end:], '"')
		if i < 0 {
			return 0, false
		}
		end += i
		before := src[start:end]
		backslashes := len(before) - len(bytes.TrimRight(before, `\`))
		if backslashes%2 == 0 {
			return end, true
		}
	}
}

func (w *walker) space() {
	for w.at < len(w.src) {
		switch w.src[w.at] {
		case ' ', '\t', '\n', '\r':
			w.at++
		default:
			return
		}
	}
}

func (w *walker) take(c byte) bool {
	if w.at < len(w.src) && w.src[w.at] == c {
		w.at++
		return true
	}
	return false
}

func endsLiteral(c byte) bool {
	switch c {
	case ',', ']', '}', ' ', '\t', '\n', '\r', ':', '"', '[', '{':
		return true
	}
	return false
}
