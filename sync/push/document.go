package push

import (
	"bufio"
	"bytes"
	"encoding/csv"
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

// ReadJSON reads the platform's own form of a company: one object, or an array of them. The error is of a text that is no such
// thing; what is wrong with one company is in its entry. Errors never quote values.
func ReadJSON(r io.Reader) ([]Entry, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read companies: %w", err)
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	d := jsontext.NewDecoder(bytes.NewReader(text))
	if d.PeekKind() != '[' {
		entry := readObject(d, text)
		if _, err := d.ReadToken(); entry.Err == nil && !errors.Is(err, io.EOF) {
			return nil, errors.New("read companies: bytes follow the JSON object; give several companies as an array")
		}
		return []Entry{entry}, nil
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, notJSON(err)
	}
	var entries []Entry
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
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("read companies: bytes follow the JSON array")
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
	byName := map[string]*string{}
	for _, f := range fields(&entry.Company) {
		byName[f.name] = f.value
	}
	password := ""
	byName["password"] = &password
	faults, err := readMembers(d, "", byName)
	entry.Company.Password = outbox.Password(password)
	if err != nil {
		entry.Err = notJSON(err)
		return entry
	}
	entry.finish(faults)
	return entry
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

// ReadCSV reads a table whose first line names the columns as the outbox does (name, email, cnpj, address_cep, …), in any order, with commas
// or, as Brazilian spreadsheets write it, semicolons between them.
func ReadCSV(r io.Reader) ([]Entry, error) {
	in := bufio.NewReader(r)
	if mark, _ := in.Peek(3); string(mark) == "\xef\xbb\xbf" {
		_, _ = in.Discard(3)
	}
	table := csv.NewReader(in)
	first, _ := in.Peek(in.Size())
	line, _, _ := bytes.Cut(first, []byte("\n"))
	if bytes.Count(line, []byte(";")) > bytes.Count(line, []byte(",")) {
		table.Comma = ';'
	}
	header, err := table.Read()
	if err != nil {
		return nil, fmt.Errorf("read companies: the line of column names: %w", csvFault(err))
	}
	if err := checkHeader(header); err != nil {
		return nil, err
	}
	var entries []Entry
	for {
		record, err := table.Read()
		if errors.Is(err, io.EOF) {
			return entries, nil
		}
		if err != nil && !errors.Is(err, csv.ErrFieldCount) {
			return nil, fmt.Errorf("read companies: %w", csvFault(err))
		}
		line, _ := table.FieldPos(0)
		entry := Entry{Line: line}
		if err != nil {
			entry.Err = fmt.Errorf("the line has %d values, and there are %d columns", len(record), len(header))
		} else {
			entry.fill(header, record)
		}
		entries = append(entries, entry)
	}
}

// csvFault keeps the place of a fault and its kind, and nothing of the text.
func csvFault(err error) error {
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		return fmt.Errorf("line %d: %w", parse.Line, parse.Err)
	}
	return err
}

// columnName is a field's name as the outbox's table has it.
func columnName(field string) string {
	switch field {
	case "hasStateInscription":
		return "has_state_inscription"
	case "stateInscription":
		return "state_inscription"
	}
	return strings.ToLower(strings.ReplaceAll(field, ".", "_"))
}

func checkHeader(header []string) error {
	known := map[string]bool{"password": true}
	for _, f := range fields(&outbox.Company{}) {
		known[columnName(f.name)] = true
	}
	for i, name := range header {
		header[i] = strings.ToLower(strings.TrimSpace(name))
		if !known[header[i]] {
			return fmt.Errorf("read companies: column %d is %q, which is no column of company_outbox or stands twice", i+1, shortName(name))
		}
		known[header[i]] = false // the second time is one too many
	}
	return nil
}

func (e *Entry) fill(header, record []string) {
	values := map[string]string{}
	for i, name := range header {
		values[name] = record[i]
	}
	for _, f := range fields(&e.Company) {
		*f.value = values[columnName(f.name)]
	}
	e.Company.Password = outbox.Password(values["password"])
	e.finish(nil)
}
