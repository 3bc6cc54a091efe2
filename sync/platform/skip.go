package platform

import (
	"encoding/binary"
	"math/bits"
)

// skip returns where the value ends that starts at text[i], or -1 if it is malformed; the
// scanner's value then names the fault. skip is value once more, for speed: one loop with its
// state in local variables, and no recursion, so no depth of nesting exhausts the stack.
func skip(text []byte, i int) int {
	var objects uint64 // the lowest bit is the innermost level: 1 for an object, 0 for an array
	var outer []uint64 // objects of each 64 levels further out
	depth := 0
	key := false // what begins at i is a member's key
	for i < len(text) {
		switch c := text[i]; {
		case c == '"':
			if i = skipString(text, i); i < 0 {
				return -1
			}
			if key {
				if i = skipSpace(text, i); i >= len(text) || text[i] != ':' {
					return -1
				}
				i, key = skipSpace(text, i+1), false
				continue
			}
		case key:
			return -1
		case c == '{' || c == '[':
			if depth > 0 && depth%64 == 0 {
				outer = append(outer, objects)
			}
			depth++
			objects <<= 1
			if c == '{' {
				objects |= 1
			}
			if i = skipSpace(text, i+1); i < len(text) && text[i] == c+2 { // the bracket that ends it
				break
			}
			key = c == '{'
			continue
		case c == 't':
			if i += 4; i > len(text) || string(text[i-4:i]) != "true" {
				return -1
			}
		case c == 'f':
			if i += 5; i > len(text) || string(text[i-5:i]) != "false" {
				return -1
			}
		case c == 'n':
			if i += 4; i > len(text) || string(text[i-4:i]) != "null" {
				return -1
			}
		default:
			if i = skipNumber(text, i); i < 0 {
				return -1
			}
		}
		// Behind a value, or at the bracket that ends an empty one.
		for {
			if depth == 0 {
				return i
			}
			if i = skipSpace(text, i); i >= len(text) {
				return -1
			}
			c := text[i]
			i++
			if c == ',' {
				i, key = skipSpace(text, i), objects&1 != 0
				break
			}
			if c != ']' && c != '}' || (c == '}') != (objects&1 != 0) {
				return -1
			}
			depth--
			objects >>= 1
			if last := len(outer) - 1; last >= 0 && depth%64 == 0 {
				objects, outer = outer[last], outer[:last]
			}
		}
	}
	return -1
}

func skipSpace(text []byte, i int) int {
	for i < len(text) && isSpace(text[i]) {
		i++
	}
	return i
}

// skipString is plain and escape in one: most strings end within a step or two.
func skipString(text []byte, i int) int {
	for i++; ; {
		if i+8 <= len(text) {
			found := special(binary.LittleEndian.Uint64(text[i:]))
			if found == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(found) / 8
		} else if i = plain(text, i); i >= len(text) {
			return -1
		}
		if text[i] == '"' {
			return i + 1
		}
		s := scanner{text: text, pos: i}
		if text[i] != '\\' || !s.escape() {
			return -1
		}
		i = s.pos
	}
}

// skipNumber is the scanner's number once more.
func skipNumber(text []byte, i int) int {
	if i < len(text) && text[i] == '-' {
		i++
	}
	if i < len(text) && text[i] == '0' {
		i++
	} else if i = skipDigits(text, i); i < 0 {
		return -1
	}
	if i < len(text) && text[i] == '.' {
		if i = skipDigits(text, i+1); i < 0 {
			return -1
		}
	}
	if i < len(text) && text[i]|0x20 == 'e' {
		if i++; i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		i = skipDigits(text, i)
	}
	return i
}

// skipDigits passes over one digit or more.
func skipDigits(text []byte, i int) int {
	if i >= len(text) || !isDigit(text[i]) {
		return -1
	}
	for i < len(text) && isDigit(text[i]) {
		i++
	}
	return i
}
