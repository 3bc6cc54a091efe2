package platform

import (
	"encoding/binary"
	"math/bits"
)

// skip returns where the value ends that starts at text[i]. It is the scanner's value once more, for speed: all in one loop, with its state in local
// variables. Whatever is not well-formed, or nests deeper than 64 levels, it leaves to the scanner, which knows what to say of it; it then returns -1.
func skip(text []byte, i int) int {
	var objects uint64 // the lowest bit is the innermost level: 1 for an object, 0 for an array
	depth := 0
	for {
		if i >= len(text) {
			return -1
		}
		switch c := text[i]; c {
		case '"':
			i = skipString(text, i)
		case '{', '[':
			if depth == 64 {
				return -1
			}
			depth++
			objects <<= 1
			i = skipSpace(text, i+1)
			if c == '[' {
				if i < len(text) && text[i] == ']' {
					break
				}
				continue
			}
			objects |= 1
			if i < len(text) && text[i] == '}' {
				break
			}
			if i = skipKey(text, i); i < 0 {
				return -1
			}
			continue
		case 't':
			i = skipLiteral(text, i, "true")
		case 'f':
			i = skipLiteral(text, i, "false")
		case 'n':
			i = skipLiteral(text, i, "null")
		default:
			i = skipNumber(text, i)
		}
		if i < 0 {
			return -1
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
				if i = skipSpace(text, i); objects&1 != 0 {
					i = skipKey(text, i)
				}
				break
			}
			if c != ']' && c != '}' || (c == '}') != (objects&1 != 0) {
				return -1
			}
			depth--
			objects >>= 1
		}
		if i < 0 {
			return -1
		}
	}
}

func skipSpace(text []byte, i int) int {
	for i < len(text) && isSpace(text[i]) {
		i++
	}
	return i
}

// skipKey returns where the value of a member starts.
func skipKey(text []byte, i int) int {
	if i >= len(text) || text[i] != '"' {
		return -1
	}
	if i = skipString(text, i); i < 0 {
		return -1
	}
	if i = skipSpace(text, i); i >= len(text) || text[i] != ':' {
		return -1
	}
	return skipSpace(text, i+1)
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

func skipLiteral(text []byte, i int, word string) int {
	if end := i + len(word); end <= len(text) && string(text[i:end]) == word {
		return end
	}
	return -1
}

func skipNumber(text []byte, i int) int {
	s := scanner{text: text, pos: i}
	if !s.number() {
		return -1
	}
	return s.pos
}
