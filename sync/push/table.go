package push

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// columns are the fields of a company with their names in a Portuguese table. The first is the one
// of the template.
var columns = []struct {
	field      string
	portuguese []string
}{
	{"name", []string{"nome"}}, {"surname", []string{"sobrenome"}}, {"email", []string{"e-mail"}}, {"password", []string{"senha"}},
	{"CPF", []string{"CPF"}}, {"CNPJ", []string{"CNPJ"}}, {"address.CEP", []string{"CEP"}}, {"address.state", []string{"UF", "estado"}},
	{"address.city", []string{"cidade"}}, {"address.patio", []string{"logradouro", "rua", "endereço"}}, {"address.number", []string{"número"}},
	{"address.neighborhood", []string{"bairro"}}, {"address.complement", []string{"complemento"}}, {"cellphone", []string{"celular", "telefone"}},
	{"responsible", []string{"responsável"}}, {"hasStateInscription", []string{"tem inscrição estadual"}}, {"stateInscription", []string{"inscrição estadual"}},
}

// ColumnNames returns the names that a table's columns may have: the Portuguese ones, then the
// outbox's.
func ColumnNames() (portuguese, outbox []string) {
	for _, c := range columns {
		portuguese = append(portuguese, c.portuguese...)
		outbox = append(outbox, columnName(c.field))
	}
	return portuguese, outbox
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

// Template returns an empty table for [ReadCSV], in the form that a Brazilian Excel opens and saves
// with its accents.
func Template() string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.portuguese[0]
	}
	return "\ufeff" + strings.Join(names, ";") + "\r\n"
}

// UnknownColumnsError: names in the first line of a table are no fields of a company.
type UnknownColumnsError struct{ Names []string }

func (e *UnknownColumnsError) Error() string {
	quoted := make([]string, len(e.Names))
	for i, name := range e.Names {
		quoted[i] = fmt.Sprintf("%q", name)
	}
	return "no columns of a company: " + strings.Join(quoted, ", ")
}

// ReadCSV reads a table whose first line names the columns in Portuguese, as [Template] does, or as
// the outbox does (name, email, cnpj, address_cep, …), in any order. Case, accents, spaces and
// punctuation of the names do not count. An [*UnknownColumnsError] tells of other names.
//
// Spreadsheets decide the rest: the separator is a comma, a semicolon or a tab, or what a line
// sep=; before the names says. Lines without a value are skipped, and so is a last column without a
// name and values. Lines may end as on an old Macintosh.
func ReadCSV(r io.Reader) ([]Entry, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read companies: %w", err)
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if !bytes.Contains(text, []byte("\n")) {
		text = bytes.ReplaceAll(text, []byte("\r"), []byte("\n"))
	}
	comma, text := separator(text)
	table := csv.NewReader(bytes.NewReader(text))
	table.Comma, table.FieldsPerRecord = comma, -1
	header, err := readRecord(table)
	if err != nil {
		return nil, fmt.Errorf("read companies: the line of column names: %w", csvFault(err))
	}
	names := header
	if last := len(header) - 1; strings.TrimSpace(header[last]) == "" {
		names = header[:last]
	}
	fields, err := readHeader(names)
	if err != nil {
		return nil, fmt.Errorf("read companies: %w", err)
	}
	var entries []Entry
	for {
		record, err := readRecord(table)
		if errors.Is(err, io.EOF) {
			return entries, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read companies: %w", csvFault(err))
		}
		line, _ := table.FieldPos(0)
		entry := Entry{Line: line}
		switch {
		case len(record) != len(header):
			entry.Err = fmt.Errorf("the line has %d values, and there are %d columns", len(record), len(header))
		case !isBlank(record[len(names):]):
			entry.Err = errors.New("the last value is in a column without a name")
		default:
			entry.fill(fields, record[:len(names)])
		}
		entries = append(entries, entry)
	}
}

// separator returns the separator of a table, and the table with an empty line in place of Excel's
// line sep=.
func separator(text []byte) (rune, []byte) {
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	if sep, found := strings.CutPrefix(strings.ToLower(strings.TrimRight(string(first), "\r")), "sep="); found && len(sep) == 1 && strings.Contains(",;\t", sep) {
		return rune(sep[0]), append([]byte("\n"), rest...)
	}
	names, _, _ := bytes.Cut(bytes.TrimLeft(text, " \r\n"), []byte("\n"))
	comma := ','
	for _, other := range ";\t" {
		if bytes.Count(names, []byte(string(other))) > bytes.Count(names, []byte(string(comma))) {
			comma = other
		}
	}
	return comma, text
}

// readRecord returns the next record that has a value.
func readRecord(table *csv.Reader) ([]string, error) {
	for {
		record, err := table.Read()
		if err != nil || !isBlank(record) {
			return record, err
		}
	}
}

func isBlank(values []string) bool { return strings.TrimSpace(strings.Join(values, "")) == "" }

// csvFault keeps the place of a fault and its kind, and nothing of the text.
func csvFault(err error) error {
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		return fmt.Errorf("line %d: %w", parse.Line, parse.Err)
	}
	return err
}

// readHeader returns the field of each column.
func readHeader(header []string) ([]string, error) {
	if !utf8.ValidString(strings.Join(header, "")) {
		return nil, errors.New("the names of the columns are not UTF-8; save the table as \"CSV UTF-8\"")
	}
	known := map[string]string{}
	for _, c := range columns {
		for _, name := range append(c.portuguese, c.field) {
			known[bareName(name)] = c.field
		}
	}
	list := make([]string, len(header))
	first := map[string]int{}
	unknown := &UnknownColumnsError{}
	for i, name := range header {
		field := known[bareName(name)]
		if field == "" {
			unknown.Names = append(unknown.Names, shortName(name))
			continue
		}
		if j, twice := first[field]; twice {
			return nil, fmt.Errorf("columns %d (%q) and %d (%q) are the same field, %s", j+1, header[j], i+1, name, columnName(field))
		}
		list[i], first[field] = field, i
	}
	if len(unknown.Names) > 0 {
		return nil, unknown
	}
	return list, nil
}

// bareName is a name in small letters without accents, spaces and punctuation: "address.CEP" and
// address_cep are one.
func bareName(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFD.String(name))
}

func (e *Entry) fill(fields, record []string) {
	byName := fieldsByName(&e.Company)
	for i, field := range fields {
		*byName[field] = record[i]
	}
	e.finish(nil)
}
