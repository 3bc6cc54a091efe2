package flatten

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Reject is a record that cannot be keyed. It is kept raw, in _rejects.
type Reject struct {
	Reason  string
	Pointer string // JSON Pointer of the fault, "" for the whole record
}

func (r *Reject) Error() string {
	if r.Pointer == "" {
		return r.Reason
	}
	return r.Reason + " at " + r.Pointer
}

var errTooDeep = &Reject{Reason: fmt.Sprintf("the record is nested deeper than %d levels", maxDepth)}

// asReject says in a person's words why a record could not be decoded.
func asReject(err error) *Reject {
	var r *Reject
	if errors.As(err, &r) {
		return r
	}
	var syntax *jsontext.SyntacticError
	if !errors.As(err, &syntax) {
		return &Reject{Reason: "the record is not valid JSON: " + err.Error()}
	}
	reason := "the record is not valid JSON: " + syntax.Err.Error()
	switch {
	case strings.Contains(reason, "max depth"): // the decoder's own limit, above maxDepth
		return errTooDeep
	case errors.Is(err, jsontext.ErrDuplicateName):
		reason = "the record has a name twice"
	case strings.Contains(reason, "UTF-8"), strings.Contains(reason, "surrogate"):
		reason = "the record has invalid UTF-8"
	}
	return &Reject{Reason: reason, Pointer: string(syntax.JSONPointer)}
}

func notAnObject(k jsontext.Kind) *Reject {
	return &Reject{Reason: "the record is not an object but " + kindName(k)}
}

func kindName(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '[':
		return "an array"
	}
	return "an object"
}
