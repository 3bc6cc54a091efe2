package platform

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// The values of [Config.Envelope]: where a listing answer holds its records. Members not named here are ignored.
const (
	EnvelopeAuto  = "auto"  // any of the three below
	EnvelopeArray = "array" // […]
	EnvelopeData  = "data"  // {"data":[…],"totalItems":N}
	EnvelopeItems = "items" // {"error":null,"data":{"items":[…],"totalItems":N}}
)

// list is what an answer's envelope held.
type list struct {
	kind     string // the envelope
	records  [][]byte
	total    int
	hasTotal bool
	note     string // why a total that was there cannot be used
}

// envelope is an answer's outer members, as found by one pass over it. Raw texts are nil where there was no member.
type envelope struct {
	scanner
	kind       string // "" while no list was found
	records    [][]byte
	totalOuter []byte
	totalInner []byte
	errorText  []byte
	null       string // the member that should hold the list and is null; "" if none
	keys       []string
	seen       map[string]bool
	duplicate  string
}

// parseList finds the records in an answer. want is one of the Envelope values, expect about how many records there
// will be. It fails with *BodyError, *RefusedError or *EnvelopeError.
func parseList(body []byte, want string, expect int) (list, error) {
	e := &envelope{scanner: scanner{text: body}, records: make([][]byte, 0, min(expect, 1000)), seen: map[string]bool{}}
	saw, err := e.read()
	if err != nil {
		return list{}, bodyFault(body, err)
	}
	switch {
	case e.duplicate != "":
		return list{}, &BodyError{Reason: fmt.Sprintf("the answer has the key %q twice", e.duplicate)}
	case isSet(e.errorText):
		return list{}, &RefusedError{Message: stringOrRaw(e.errorText)}
	case e.null != "":
		return list{}, &BodyError{Reason: e.null + " is null, which is no list"}
	case e.kind == "":
		return list{}, &EnvelopeError{Want: want, Saw: saw, Keys: e.keys}
	case want != EnvelopeAuto && want != e.kind:
		return list{}, &EnvelopeError{Want: want, Saw: fmt.Sprintf("the envelope %q", e.kind), Keys: e.keys}
	}
	l := list{kind: e.kind, records: e.records}
	l.total, l.hasTotal, l.note = e.total()
	return l, nil
}

// read passes over the whole body and says what kind of value it is.
func (e *envelope) read() (saw string, err error) {
	e.space()
	switch e.peek() {
	case '[':
		saw, e.kind = "an array", EnvelopeArray
		e.array(&e.records)
	case '{':
		saw = "an object"
		e.object(e.outer)
	case '"':
		saw = "a string"
		e.pass()
	case 'n':
		e.null = "the answer"
		e.pass()
	case 't', 'f':
		saw = "a boolean"
		e.pass()
	default:
		saw = "a number"
		e.pass()
	}
	if e.fault == "" {
		e.end()
	}
	return saw, e.err()
}

// outer takes a member of the answer itself.
func (e *envelope) outer(raw []byte) bool {
	switch key := e.note("", raw); key {
	case "error":
		return e.keep(&e.errorText, key)
	case "totalItems", "total", "totalCount":
		return e.keep(&e.totalOuter, key)
	case "data":
		e.once(key)
		switch e.peek() {
		case '[':
			e.kind = EnvelopeData
			return e.array(&e.records)
		case '{':
			return e.object(e.inner)
		}
		return e.nullOr(key)
	}
	return e.pass()
}

// inner takes a member of the object in "data".
func (e *envelope) inner(raw []byte) bool {
	switch key := e.note("data.", raw); key {
	case "data.totalItems", "data.total", "data.totalCount":
		return e.keep(&e.totalInner, key)
	case "data.items":
		e.once(key)
		if e.peek() == '[' {
			e.kind = EnvelopeItems
			return e.array(&e.records)
		}
		return e.nullOr(key)
	}
	return e.pass()
}

// maxKeys and maxKeyBytes bound what an EnvelopeError shows of a foreign answer.
const (
	maxKeys     = 20
	maxKeyBytes = 40
)

// note remembers a key for the error message and returns it decoded, below its prefix.
func (e *envelope) note(prefix string, raw []byte) string {
	key := prefix + decodeKey(raw)
	if len(e.keys) < maxKeys {
		e.keys = append(e.keys, strconv.Quote(shorten(withoutPersonalData(key), maxKeyBytes)))
	}
	return key
}

// once notices a second use of a key this package reads, where either value could be the meant one.
func (e *envelope) once(key string) {
	if e.seen[key] {
		e.duplicate = key
	}
	e.seen[key] = true
}

// keep passes over a value and puts its text in raw.
func (e *envelope) keep(raw *[]byte, key string) bool {
	e.once(key)
	start := e.pos
	ok := e.pass()
	*raw = e.text[start:e.pos]
	return ok
}

// nullOr passes over a value that is no list, and remembers it if it is null.
func (e *envelope) nullOr(key string) bool {
	if e.peek() == 'n' {
		e.null = strconv.Quote(key)
	}
	return e.pass()
}

// total reads the total beside the list, or else the one at the top.
func (e *envelope) total() (n int, ok bool, note string) {
	raw := string(e.totalOuter)
	if e.kind == EnvelopeItems && e.totalInner != nil {
		raw = string(e.totalInner)
	}
	if raw == "" || raw == "null" {
		return 0, false, ""
	}
	digits := raw
	if strings.HasPrefix(raw, `"`) {
		digits = decodeKey([]byte(raw[1 : len(raw)-1]))
	}
	if strings.Trim(digits, "0123456789") == "" {
		if n, err := strconv.Atoi(digits); err == nil {
			return n, true, ""
		}
	} else {
		raw = withoutPersonalData(raw)
	}
	return 0, false, "totalItems is no count: " + shorten(raw, maxKeyBytes)
}

// isSet reports whether the member "error" speaks of one. Besides null, the empty values mean that all is well.
func isSet(raw []byte) bool {
	switch string(raw) {
	case "", "null", `""`, "false", "0", "{}", "[]":
		return false
	}
	return true
}

// decodeKey returns what is written between a string's quotes, decoded.
func decodeKey(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw)
	}
	return stringOrRaw([]byte(`"` + string(raw) + `"`))
}

// stringOrRaw returns the string a JSON text stands for, or the text itself when it is no string.
func stringOrRaw(raw []byte) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return string(raw)
	}
	return s
}

// bodyFault says what a body that is not JSON most likely is.
func bodyFault(body []byte, err error) *BodyError {
	s := scanner{text: body}
	s.space()
	var syntax *syntaxError
	switch {
	case s.pos == len(body):
		return &BodyError{Reason: "the body is empty"}
	case s.peek() == '<':
		return &BodyError{Reason: "the body is HTML or XML, not JSON", Remedy: "check that platform.base_url is the platform's interface, not its web page"}
	case errors.As(err, &syntax) && syntax.cut:
		return &BodyError{Reason: fmt.Sprintf("the body was cut off after %d bytes", len(body))}
	}
	return &BodyError{Reason: "the body is not JSON", Err: err}
}

// serverMessage returns the words of an error answer: the text of its member "error" or "message", "" if it has none.
func serverMessage(body []byte) string {
	s := scanner{text: body}
	s.space()
	if s.peek() != '{' {
		return ""
	}
	message := ""
	s.object(func(raw []byte) bool {
		start := s.pos
		ok := s.pass()
		if key := string(raw); ok && (key == "error" || key == "message") && isSet(s.text[start:s.pos]) {
			message = stringOrRaw(s.text[start:s.pos])
		}
		return ok
	})
	return message
}
