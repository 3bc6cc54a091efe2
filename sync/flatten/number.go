package flatten

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// longestNumber bounds the numbers taken into columns: strconv misreads an exponent that makes up for thousands of zeros.
const longestNumber = 1000

// fromNumber converts a number, or a string that is written exactly as a number.
func fromNumber(kind jsontext.Kind, raw jsontext.Value, number func([]byte) (any, fit)) (any, fit) {
	s, how := []byte(raw), fits
	switch kind {
	case '0':
	case '"':
		if s, how = []byte(unquote(raw)), converted; !isNumber(s) {
			return nil, misfits
		}
	default:
		return nil, misfits
	}
	if len(s) > longestNumber {
		return nil, misfits
	}
	v, got := number(s)
	return v, max(got, how)
}

func isNumber(s []byte) bool {
	return len(s) > 0 && (s[0] == '-' || isDigit(s[0])) && isDigit(s[len(s)-1]) && jsontext.Value(s).IsValid()
}

func toReal(s []byte) (any, fit) {
	f, err := strconv.ParseFloat(string(s), 64)
	if err != nil {
		return nil, misfits
	}
	if survivesFloat64(s, f) {
		return f, fits
	}
	return f, rounded
}

// survivesFloat64 says whether the shortest way of writing f is the number as written, so that nothing of it is lost.
func survivesFloat64(s []byte, f float64) bool {
	if len(s) <= 15 && !bytes.ContainsAny(s, "eE") {
		return true // float64 tells all decimals of 15 digits apart
	}
	digits, exp := decimal(s)
	var short [32]byte
	d2, exp2 := decimal(strconv.AppendFloat(short[:0], f, 'e', -1, 64))
	return string(digits) == string(d2) && exp == exp2
}

// decimal takes a JSON number apart: its significant digits without zeros at either end, and the power of ten of
// 0.digits. Zero has no digits. The exponent saturates, beyond anything a float64 holds.
func decimal(s []byte) (digits []byte, exp int) {
	mantissa := s
	if i := bytes.IndexAny(s, "eE"); i >= 0 {
		mantissa = s[:i]
		e, err := strconv.Atoi(string(bytes.TrimPrefix(s[i+1:], []byte("+"))))
		if err != nil || e > 1e6 || e < -1e6 {
			e = 1e6
			if s[i+1] == '-' {
				e = -1e6
			}
		}
		exp = e
	}
	mantissa = bytes.TrimPrefix(mantissa, []byte("-"))
	whole, frac, _ := bytes.Cut(mantissa, []byte("."))
	digits = append(append(make([]byte, 0, len(mantissa)), whole...), frac...)
	exp += len(whole)
	trimmed := bytes.TrimLeft(digits, "0")
	exp -= len(digits) - len(trimmed)
	trimmed = bytes.TrimRight(trimmed, "0")
	if len(trimmed) == 0 {
		return nil, 0
	}
	return trimmed, exp
}

// toInteger takes any way of writing a whole number that fits 64 bits: 3, 3.0, 3e2.
func toInteger(s []byte) (any, fit) {
	if n, err := strconv.ParseInt(string(s), 10, 64); err == nil {
		return n, fits
	}
	digits, exp := decimal(s)
	if len(digits) == 0 {
		return int64(0), fits
	}
	if len(digits) > exp || exp > 19 {
		return nil, misfits
	}
	whole := append(digits, bytes.Repeat([]byte("0"), exp-len(digits))...)
	if s[0] == '-' {
		whole = append([]byte("-"), whole...)
	}
	n, err := strconv.ParseInt(string(whole), 10, 64)
	if err != nil {
		return nil, misfits
	}
	return n, fits
}
