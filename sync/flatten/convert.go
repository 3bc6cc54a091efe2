package flatten

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"solarmirror/schema"
)

// fit says how well a value went into its column.
type fit int

const (
	fits      fit = iota // the documented type
	converted            // another type, nothing lost
	rounded              // the column holds it rounded; extra holds it as written
	misfits              // the column stays NULL; extra holds it
)

// convert makes a column's value of a raw JSON scalar that is not null.
func convert(c *schema.Column, kind jsontext.Kind, raw jsontext.Value) (any, fit) {
	switch c.Type {
	case schema.Text:
		return toText(kind, raw)
	case schema.Real:
		return fromNumber(kind, raw, toReal)
	case schema.BigInt:
		return fromNumber(kind, raw, toInteger)
	case schema.Boolean:
		return toBoolean(kind, raw)
	}
	if kind != '"' {
		return nil, misfits
	}
	switch {
	case c.Type == schema.Date:
		return toDate(unquote(raw))
	case c.Local:
		return toLocalTimestamp(unquote(raw))
	}
	return toTimestamp(unquote(raw))
}

func toText(kind jsontext.Kind, raw jsontext.Value) (any, fit) {
	switch kind {
	case '"':
		return unquote(raw), fits
	case '0', 't', 'f':
		return string(raw), converted
	}
	return nil, misfits
}

func unquote(raw jsontext.Value) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	s, _ := jsontext.AppendUnquote(nil, raw) // the decoder found it valid
	return string(s)
}

func toBoolean(kind jsontext.Kind, raw jsontext.Value) (any, fit) {
	switch kind {
	case 't':
		return int64(1), fits
	case 'f':
		return int64(0), fits
	}
	said := string(raw)
	if kind == '"' {
		said = unquote(raw)
	}
	switch {
	case kind == '"' && said == "true", kind == '0' && said == "1":
		return int64(1), converted
	case kind == '"' && said == "false", kind == '0' && said == "0":
		return int64(0), converted
	}
	return nil, misfits
}
