package platform

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// maxDepth limits the recursion of value, so that a hostile body cannot exhaust the stack. Only
// malformed text reaches value; well-formed text may nest to any depth.
const maxDepth = 1000

// scanner passes once over a JSON text, checking all of RFC 8259's grammar, and finds where elements begin and end. It
// decodes nothing, so duplicate keys, invalid UTF-8 and lone surrogates pass: they are a record's fault, not the page's.
//
// Its methods move pos past what they are named for and return false after a fault, which is then in fault and at pos.
type scanner struct {
	text  []byte
	pos   int
	depth int
	fault string // what was expected or wrong; "" while all is well
}

// syntaxError is where and why a body is not JSON.
type syntaxError struct {
	offset int
	fault  string
	cut    bool // the text ended too early: what there is of it is right
}

func (e *syntaxError) Error() string { return fmt.Sprintf("%s at byte %d", e.fault, e.offset) }

// Faults, as the end of "… at byte N".
const (
	faultValue    = "no JSON value"
	faultDepth    = "an error below 1000 levels of nesting"
	faultKey      = "no object key"
	faultColon    = "no colon"
	faultComma    = "neither comma nor closing bracket"
	faultControl  = "a control character in a string"
	faultEscape   = "a wrong escape in a string"
	faultNumber   = "a wrong number"
	faultTrailing = "bytes after the end of the document"
)

func (s *scanner) fail(fault string) bool {
	s.fault = fault
	return false
}

// err returns the fault met, nil if none was.
func (s *scanner) err() error {
	if s.fault == "" {
		return nil
	}
	return &syntaxError{offset: s.pos, fault: s.fault, cut: s.pos >= len(s.text)}
}

// end requires that only white space is left.
func (s *scanner) end() bool {
	s.space()
	if s.pos < len(s.text) {
		return s.fail(faultTrailing)
	}
	return true
}

func (s *scanner) space() {
	for s.pos < len(s.text) && isSpace(s.text[s.pos]) {
		s.pos++
	}
}

func isSpace(c byte) bool { return c <= ' ' && (c == ' ' || c == '\n' || c == '\r' || c == '\t') }

// peek returns the next byte, 0 at the end. A zero byte in the text is valid nowhere a peek happens.
func (s *scanner) peek() byte {
	if s.pos < len(s.text) {
		return s.text[s.pos]
	}
	return 0
}

// pass passes over any value. The caller has passed the white space before it.
func (s *scanner) pass() bool {
	if end := skip(s.text, s.pos); end >= 0 {
		s.pos = end
		return true
	}
	return s.value()
}

// value is a slower pass that names the fault, to a limited depth.
func (s *scanner) value() bool {
	switch s.peek() {
	case '"':
		return s.str()
	case '{':
		return s.object(nil)
	case '[':
		return s.array(nil)
	case 't':
		return s.literal("true")
	case 'f':
		return s.literal("false")
	case 'n':
		return s.literal("null")
	default:
		return s.number()
	}
}

// array passes over an array, and appends the text of each element to elements unless that is nil.
func (s *scanner) array(elements *[][]byte) bool {
	if !s.open() {
		return false
	}
	if s.peek() == ']' {
		return s.close()
	}
	for {
		start := s.pos
		if elements == nil {
			if !s.value() {
				return false
			}
		} else {
			if !s.pass() {
				return false
			}
			*elements = append(*elements, s.text[start:s.pos:s.pos])
		}
		s.space()
		switch s.peek() {
		case ',':
			s.pos++
			s.space()
		case ']':
			return s.close()
		default:
			return s.fail(faultComma)
		}
	}
}

// object passes over an object. With visit it hands over each key, as written between its quotes, and leaves passing
// over the value to visit.
func (s *scanner) object(visit func(key []byte) bool) bool {
	if !s.open() {
		return false
	}
	if s.peek() == '}' {
		return s.close()
	}
	for {
		key, ok := s.key()
		if !ok {
			return false
		}
		if visit == nil {
			ok = s.value()
		} else {
			ok = visit(key)
		}
		if !ok {
			return false
		}
		s.space()
		switch s.peek() {
		case ',':
			s.pos++
			s.space()
		case '}':
			return s.close()
		default:
			return s.fail(faultComma)
		}
	}
}

// key passes over a key and its colon, up to the value.
func (s *scanner) key() ([]byte, bool) {
	if s.peek() != '"' {
		return nil, s.fail(faultKey)
	}
	start := s.pos
	if !s.str() {
		return nil, false
	}
	key := s.text[start+1 : s.pos-1]
	s.space()
	if s.peek() != ':' {
		return nil, s.fail(faultColon)
	}
	s.pos++
	s.space()
	return key, true
}

// open passes over an opening bracket and the white space after it.
func (s *scanner) open() bool {
	if s.depth++; s.depth > maxDepth {
		return s.fail(faultDepth)
	}
	s.pos++
	s.space()
	return true
}

func (s *scanner) close() bool {
	s.depth--
	s.pos++
	return true
}

// str passes over a string, from its opening quote.
func (s *scanner) str() bool {
	s.pos++
	for {
		s.pos = plain(s.text, s.pos)
		switch c := s.peek(); {
		case c == '"':
			s.pos++
			return true
		case c == '\\':
			if !s.escape() {
				return false
			}
		default: // also the end of the text, where peek is 0
			return s.fail(faultControl)
		}
	}
}

// plain returns the index at or after i of the first byte that is no plain part of a string: a quote, a backslash or a
// control character; len(text) if there is none.
func plain(text []byte, i int) int {
	for ; i+8 <= len(text); i += 8 {
		if found := special(binary.LittleEndian.Uint64(text[i:])); found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(text); i++ {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' {
			return i
		}
	}
	return i
}

// special looks at eight bytes at a time and flags what is no plain part of a string, in the bytes' highest bits: in each of the two tests the
// lowest flagged byte is a true find (a borrow only reaches bytes above it), so the lowest of all is. With its second bit turned over, a quote
// is a space and nothing that was below a space gets above it, so the first test finds both.
func special(word uint64) uint64 {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	return (((word ^ ones*2) - ones*(' '+1)) | ((word ^ ones*'\\') - ones)) &^ word & highs
}

// escape passes over an escape, from its backslash.
func (s *scanner) escape() bool {
	s.pos++
	switch s.peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos++
		return true
	case 'u':
		s.pos++
		for range 4 {
			if !isHex(s.peek()) {
				return s.fail(faultEscape)
			}
			s.pos++
		}
		return true
	default:
		return s.fail(faultEscape)
	}
}

func isHex(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func (s *scanner) literal(word string) bool {
	for i := range len(word) {
		if s.peek() != word[i] {
			return s.fail(faultValue)
		}
		s.pos++
	}
	return true
}

// number passes over a number; as the last possibility of a value, it is also where anything else fails.
func (s *scanner) number() bool {
	first := s.peek()
	if first == '-' {
		s.pos++
		first = s.peek()
	} else if !isDigit(first) {
		return s.fail(faultValue)
	}
	if first == '0' {
		s.pos++
	} else if !s.digits() {
		return false
	}
	if s.peek() == '.' {
		s.pos++
		if !s.digits() {
			return false
		}
	}
	if s.peek()|0x20 == 'e' {
		s.pos++
		if c := s.peek(); c == '+' || c == '-' {
			s.pos++
		}
		return s.digits()
	}
	return true
}

// digits passes over one digit or more.
func (s *scanner) digits() bool {
	if !isDigit(s.peek()) {
		return s.fail(faultNumber)
	}
	for isDigit(s.peek()) {
		s.pos++
	}
	return true
}
