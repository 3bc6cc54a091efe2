package flatten_test

import (
	"encoding/json"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"time"

	"solarmirror/schema"
)

// The independent comparison of a record with what was rebuilt from its rows. Both are decoded with encoding/json and brought to a
// normal form that spells out, and goes no further than, the equivalences the contract grants:
//
//   - null, absence and an empty array are the same for documented fields, and so is an inlined object without any value;
//   - a number may be a string, whatever way it is written; a text may be a number or a boolean; a boolean may be "true" or 1;
//   - an instant may have any offset;
//   - an object, or among files a string, may stand alone where an array is documented, a scalar where a list is;
//   - a string among files is an object with that one uploaded file;
//   - a missing key column is ''.
//
// Everything else, unknown fields above all, must be the same to the letter.

// Types of their own keep a converted value apart from the same text found where it must be kept as it is.
type (
	normalText   string
	normalNumber string
	normalTime   string
	normalBool   bool
)

// normalize returns the normal form of a decoded value, nil where it is as good as absent.
func normalize(s *shape, v any) any {
	if v == nil {
		return nil
	}
	switch s.kind {
	case leaf:
		return normalScalar(s.column, v)
	case inlined:
		o, ok := v.(map[string]any)
		if !ok {
			return v
		}
		if n := normalMembers(s, o); len(n) > 0 {
			return n
		}
		return nil
	case one:
		if o, ok := v.(map[string]any); ok {
			return normalMembers(s, o)
		}
		return v
	case many:
		return normalArray(v, func(e any) (any, bool) { return normalElement(s, e) })
	}
	return normalArray(v, func(e any) (any, bool) {
		n := normalScalar(s.column, e)
		return n, isNormal(n)
	})
}

// normalMembers keeps members that are unknown as they are, null included.
func normalMembers(s *shape, o map[string]any) map[string]any {
	normal := map[string]any{}
	for name, v := range o {
		known := s.members[name]
		if known == nil {
			normal[name] = v
			continue
		}
		n := normalize(known, v)
		if n == normalText("") && known.column != nil && slices.Contains(known.table.Unique, known.column.Name) {
			n = nil
		}
		if n != nil {
			normal[name] = n
		}
	}
	return normal
}

// normalArray reads a lone value that could be an element as the only one.
func normalArray(v any, element func(any) (normal any, fits bool)) any {
	array, ok := v.([]any)
	if !ok {
		if n, fits := element(v); fits {
			return []any{n}
		}
		return v
	}
	if len(array) == 0 {
		return nil
	}
	normal := make([]any, len(array))
	for i, e := range array {
		normal[i], _ = element(e)
	}
	return normal
}

func normalElement(s *shape, v any) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		return normalMembers(s.element(), v), true
	case string:
		if s.bare != nil {
			return map[string]any{strings.TrimPrefix(s.table.Bare, "/"): []any{normalText(v)}}, true
		}
	}
	return v, false
}

func isNormal(v any) bool {
	switch v.(type) {
	case normalText, normalNumber, normalTime, normalBool:
		return true
	}
	return false
}

func normalScalar(c *schema.Column, v any) any {
	s, isString := v.(string)
	if n, ok := v.(json.Number); ok {
		s = string(n)
	}
	switch c.Type {
	case schema.Text:
		return asText(v)
	case schema.Real, schema.BigInt:
		if jsonNumber.MatchString(s) {
			return normalDecimal(s)
		}
	case schema.Boolean:
		switch {
		case v == true || s == "true" && isString || s == "1" && !isString:
			return normalBool(true)
		case v == false || s == "false" && isString || s == "0" && !isString:
			return normalBool(false)
		}
	case schema.Timestamp:
		if isString {
			return asTime(c, s)
		}
	}
	return v
}

func asText(v any) any {
	switch v := v.(type) {
	case string:
		return normalText(v)
	case json.Number:
		return normalText(v)
	case bool:
		if v {
			return normalText("true")
		}
		return normalText("false")
	}
	return v
}

var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// normalDecimal writes a number exactly, as its significant digits and a power of ten of any size.
func normalDecimal(s string) normalNumber {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	power, ok := new(big.Int).SetString(exponent, 10)
	if !ok {
		power = new(big.Int) // there is none
	}
	sign := ""
	if strings.HasPrefix(mantissa, "-") {
		sign, mantissa = "-", mantissa[1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	power.Sub(power, big.NewInt(int64(len(fraction))))
	digits := strings.TrimLeft(whole+fraction, "0")
	short := strings.TrimRight(digits, "0")
	power.Add(power, big.NewInt(int64(len(digits)-len(short))))
	if short == "" {
		return "0"
	}
	return normalNumber(sign + short + "e" + power.String())
}

var (
	isoInstant = regexp.MustCompile(`^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[-+](?:[01]\d|2[0-3]):[0-5]\d)$`)
	isoLocal   = regexp.MustCompile(`^(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?)(?:\.(\d+))?()$`)
)

func asTime(c *schema.Column, s string) any {
	form := isoInstant
	if c.Local {
		form = isoLocal
	}
	parts := form.FindStringSubmatch(s)
	if parts == nil {
		return s
	}
	seconds, fraction, zone := parts[1], strings.TrimRight(parts[2], "0"), parts[3]
	if len(seconds) == len("2006-01-02T15:04") {
		if parts[2] != "" {
			return s
		}
		seconds += ":00"
	}
	if zone == "" {
		zone = "Z"
	}
	t, err := time.Parse(time.RFC3339, seconds+zone)
	if err != nil {
		return s
	}
	return normalTime(t.UTC().Format("2006-01-02T15:04:05.") + fraction)
}
