package push

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"solarmirror/store/outbox"
)

// Entry is one company read from a document, or why it could not be read.
type Entry struct {
	Line    int // where it begins, from 1
	Company outbox.Company
	Err     error // an unreadable entry, or an [*InvalidError]; nil when the company can be queued
}

// ReadJSON reads the platform's own form of companies: one object, an array of them, or the body of
// its request, {"create":[…]}. The error is of a text that is no such thing; what is wrong with one
// company is in its entry. Errors never quote values.
func ReadJSON(r io.Reader) ([]Entry, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read companies: %w", err)
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	body, err := isBody(text)
	if err != nil {
		return nil, err
	}
	d := jsontext.NewDecoder(bytes.NewReader(text))
	switch {
	case body:
		return readBody(d, text)
	case d.PeekKind() == '[':
		return readArray(d, text)
	}
	entry := readObject(d, text)
	if _, err := d.ReadToken(); entry.Err == nil && !errors.Is(err, io.EOF) {
		return nil, errors.New("read companies: bytes follow the JSON object; give several companies as an array")
	}
	return []Entry{entry}, nil
}

// isBody reports whether text begins with an object that has the member "create", as no company
// has. That member must be the only one.
func isBody(text []byte) (bool, error) {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	if d.PeekKind() != '{' {
		return false, nil
	}
	_, err := d.ReadToken()
	var body bool
	var others []string
	for err == nil && d.PeekKind() != '}' {
		var name jsontext.Token
		if name, err = d.ReadToken(); err != nil {
			break
		}
		if name.String() == "create" {
			body = true
		} else {
			others = append(others, shortName(name.String()))
		}
		err = d.SkipValue()
	}
	switch {
	case err != nil: // readObject says where
		return false, nil
	case body && len(others) > 0:
		return false, fmt.Errorf("read companies: %s beside create; a body holds nothing but create", strings.Join(others, ", "))
	}
	return body, nil
}

func readBody(d *jsontext.Decoder, text []byte) ([]Entry, error) {
	for range 2 { // { and "create"
		if _, err := d.ReadToken(); err != nil {
			return nil, notJSON(err)
		}
	}
	if d.PeekKind() != '[' {
		return nil, errors.New("read companies: create must be an array of companies")
	}
	entries, err := readElements(d, text)
	if err != nil {
		return nil, err
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, notJSON(err)
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("read companies: bytes follow the JSON object")
	}
	return entries, nil
}

func readArray(d *jsontext.Decoder, text []byte) ([]Entry, error) {
	entries, err := readElements(d, text)
	if err != nil {
		return nil, err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("read companies: bytes follow the JSON array")
	}
	return entries, nil
}

// readElements reads an array of companies.
func readElements(d *jsontext.Decoder, text []byte) (entries []Entry, err error) {
	if _, err := d.ReadToken(); err != nil {
		return nil, notJSON(err)
	}
	for d.PeekKind() != ']' {
		entry := readObject(d, text)
		if isSyntax(entry.Err) {
			return nil, entry.Err
		}
		entries = append(entries, entry)
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, notJSON(err)
	}
	return entries, nil
}

// ReadJSONLines reads one object of the platform's form per line; empty lines are skipped.
func ReadJSONLines(r io.Reader) ([]Entry, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	var entries []Entry
	for number := 1; lines.Scan(); number++ {
		line := bytes.TrimSpace(bytes.TrimPrefix(lines.Bytes(), []byte("\xef\xbb\xbf")))
		if len(line) == 0 {
			continue
		}
		d := jsontext.NewDecoder(bytes.NewReader(line))
		entry := readObject(d, line)
		if _, err := d.ReadToken(); entry.Err == nil && !errors.Is(err, io.EOF) {
			entry.Err = errors.New("bytes follow the JSON object")
		}
		entry.Line = number
		entries = append(entries, entry)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read companies: %w", err)
	}
	return entries, nil
}

type syntaxError struct{ error }

func isSyntax(err error) bool {
	var syntax syntaxError
	return errors.As(err, &syntax)
}

// notJSON does not quote its cause, which may quote the text.
func notJSON(err error) error {
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return syntaxError{errors.New("read companies: a name stands twice in one JSON object")}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return syntaxError{errors.New("read companies: the JSON ends too early")}
	}
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		return syntaxError{fmt.Errorf("read companies: not JSON at byte %d", syntactic.ByteOffset)}
	}
	return syntaxError{errors.New("read companies: not JSON")}
}

// readObject reads one company.
func readObject(d *jsontext.Decoder, text []byte) Entry {
	kind := d.PeekKind()
	before := text[:d.InputOffset()]
	rest := text[len(before):]
	gap := rest[:len(rest)-len(bytes.TrimLeft(rest, ", \t\r\n"))]
	entry := Entry{Line: 1 + bytes.Count(before, []byte("\n")) + bytes.Count(gap, []byte("\n"))}
	if kind != '{' {
		if err := d.SkipValue(); err != nil {
			entry.Err = notJSON(err)
		} else {
			entry.Err = errors.New("a company must be a JSON object")
		}
		return entry
	}
	faults, err := readMembers(d, "", fieldsByName(&entry.Company))
	if err != nil {
		entry.Err = notJSON(err)
		return entry
	}
	entry.finish(faults)
	return entry
}

// fieldsByName are all texts of a company, its password included.
func fieldsByName(c *outbox.Company) map[string]*string {
	byName := map[string]*string{"password": (*string)(&c.Password)}
	for _, f := range fields(c) {
		byName[f.name] = f.value
	}
	return byName
}

// finish normalises and validates, with the faults of reading in front.
func (e *Entry) finish(faults []Fault) {
	e.Company = Normalise(e.Company)
	var invalid *InvalidError
	if errors.As(Validate(e.Company), &invalid) {
		faults = append(faults, invalid.Faults...)
	}
	if len(faults) > 0 {
		e.Err = &InvalidError{faults}
	}
}

// readMembers reads an object whose members are texts; "address" holds a second one.
func readMembers(d *jsontext.Decoder, prefix string, byName map[string]*string) (faults []Fault, err error) {
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	for d.PeekKind() != '}' {
		token, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		name := prefix + token.String()
		value, known := byName[name]
		switch kind := d.PeekKind(); {
		case known && kind == '"':
			text, err := d.ReadToken()
			if err != nil {
				return nil, err
			}
			*value = text.String()
			continue
		case name == "address" && kind == '{':
			inner, err := readMembers(d, "address.", byName)
			if err != nil {
				return nil, err
			}
			faults = append(faults, inner...)
			continue
		case name == "address" && kind != 'n':
			faults = append(faults, Fault{name, "must be an object"})
		case !known && name != "address":
			faults = append(faults, unknownField(name, byName))
		case known && kind != 'n':
			faults = append(faults, Fault{name, "must be a text"})
		}
		if err := d.SkipValue(); err != nil {
			return nil, err
		}
	}
	_, err = d.ReadToken()
	return faults, err
}

func unknownField(name string, byName map[string]*string) Fault {
	for known := range byName {
		if strings.EqualFold(known, name) {
			return Fault{shortName(name), fmt.Sprintf("is written %s", known)}
		}
	}
	return Fault{shortName(name), "is no field of a company"}
}

// shortName bounds what a document may put into an error.
func shortName(name string) string {
	const most = 40
	if len(name) <= most {
		return name
	}
	return strings.ToValidUTF8(name[:most], "") + "…"
}
