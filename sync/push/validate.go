package push

import (
	"fmt"
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"solarmirror/store/identity"
	"solarmirror/store/outbox"
)

// Fault is one thing wrong with a company. It never holds the value itself.
type Fault struct {
	Field   string // as the platform names it: address.CEP
	Problem string
}

func (f Fault) String() string { return f.Field + " " + f.Problem }

// InvalidError is everything wrong with one company.
type InvalidError struct{ Faults []Fault }

func (e *InvalidError) Error() string {
	texts := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		texts[i] = f.String()
	}
	return strings.Join(texts, "; ")
}

// Normalise brings a company to the platform's way of writing: white space around values goes, bare
// digits get their punctuation, letters of codes become capitals. What does not fit a form is left
// for Validate to name.
func Normalise(c outbox.Company) outbox.Company {
	for _, f := range fields(&c) {
		*f.value = strings.TrimSpace(*f.value)
	}
	c.CPF = punctuate(c.CPF, "000.000.000-00")
	c.CNPJ = punctuate(strings.ToUpper(c.CNPJ), "00.000.000/0000-00")
	c.CEP = punctuate(c.CEP, "00000-000")
	c.Cellphone = punctuate(c.Cellphone, "(00) 00000-0000")
	c.State = strings.ToUpper(c.State)
	return c
}

// punctuate fills the zeros of a form with the characters of a bare value of their number.
func punctuate(value, form string) string {
	if len(value) != strings.Count(form, "0") || strings.ContainsFunc(value, func(r rune) bool { return r >= utf8.RuneSelf || !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		return value
	}
	var out strings.Builder
	next := 0
	for _, c := range form {
		if c == '0' {
			out.WriteByte(value[next])
			next++
			continue
		}
		out.WriteRune(c)
	}
	return out.String()
}

// field is one text of a company, as the platform names it.
type field struct {
	name  string
	value *string
}

// fields lists all texts but the password.
func fields(c *outbox.Company) []field {
	return []field{
		{"name", &c.Name}, {"surname", &c.Surname}, {"email", &c.Email}, {"CPF", &c.CPF}, {"CNPJ", &c.CNPJ},
		{"address.CEP", &c.CEP}, {"address.state", &c.State}, {"address.city", &c.City}, {"address.patio", &c.Patio}, {"address.number", &c.Number},
		{"address.neighborhood", &c.Neighborhood}, {"address.complement", &c.Complement}, {"cellphone", &c.Cellphone}, {"responsible", &c.Responsible},
		{"hasStateInscription", &c.HasStateInscription}, {"stateInscription", &c.StateInscription},
	}
}

var (
	cpfForm       = regexp.MustCompile(`^\d{3}\.\d{3}\.\d{3}-\d{2}$`)
	cnpjForm      = regexp.MustCompile(`^[0-9A-Z]{2}\.[0-9A-Z]{3}\.[0-9A-Z]{3}/[0-9A-Z]{4}-\d{2}$`)
	cepForm       = regexp.MustCompile(`^\d{5}-\d{3}$`)
	cellphoneForm = regexp.MustCompile(`^\([1-9]\d\) \d{5}-\d{4}$`)
)

// federativeUnits are the codes of the 26 states and the federal district.
var federativeUnits = strings.Fields("AC AL AM AP BA CE DF ES GO MA MG MS MT PA PB PE PI PR RJ RN RO RR RS SC SE SP TO")

// maxField bounds every text, in bytes; nothing a company is described by comes near it.
const maxField = 1000

// Validate returns nil for a company the platform's documented rules allow, and an [*InvalidError]
// with every fault otherwise. Name, e-mail and password are taken to be required: a user cannot be
// made without. A CPF beside a CNPJ is ignored by the platform and therefore not looked at.
func Validate(c outbox.Company) error {
	v := &validator{}
	for _, f := range fields(&c) {
		v.text(f.name, *f.value)
	}
	v.text("password", c.Password.Reveal())
	v.require("name", c.Name)
	v.require("password", c.Password.Reveal())
	if v.require("email", c.Email) {
		v.email("email", c.Email)
	}
	if c.Responsible != "" {
		v.email("responsible", c.Responsible)
	}
	v.taxID(c)
	if c.CEP != "" && (!cepForm.MatchString(c.CEP) || c.CEP == "00000-000") {
		v.add("address.CEP", "is no postal code; write it 00000-000")
	}
	if c.State != "" && !slices.Contains(federativeUnits, c.State) {
		v.add("address.state", "is no federative unit; write two letters such as SP")
	}
	if c.Cellphone != "" && !cellphoneForm.MatchString(c.Cellphone) {
		v.add("cellphone", "is no mobile number; write it (00) 00000-0000")
	}
	v.stateInscription(c)
	if len(v.faults) == 0 {
		return nil
	}
	return &InvalidError{v.faults}
}

type validator struct{ faults []Fault }

func (v *validator) add(field, format string, args ...any) {
	v.faults = append(v.faults, Fault{field, fmt.Sprintf(format, args...)})
}

// text holds for every field: programs may have inserted anything.
func (v *validator) text(field, value string) {
	switch {
	case !utf8.ValidString(value):
		v.add(field, "is not valid UTF-8")
	case strings.ContainsFunc(value, unicode.IsControl):
		v.add(field, "holds a control character")
	case len(value) > maxField:
		v.add(field, "is longer than %d bytes", maxField)
	}
}

func (v *validator) require(field, value string) bool {
	if value == "" {
		v.add(field, "is missing")
	}
	return value != ""
}

func (v *validator) email(field, value string) {
	address, err := mail.ParseAddress(value)
	if err != nil || address.Address != value || len(value) > 254 || !strings.Contains(value[strings.LastIndexByte(value, '@'):], ".") {
		v.add(field, "is no e-mail address; write it name@example.com")
	}
}

func (v *validator) taxID(c outbox.Company) {
	switch {
	case c.CNPJ != "":
		v.number("CNPJ", c.CNPJ, cnpjForm, "00.000.000/0000-00")
	case c.CPF != "":
		v.number("CPF", c.CPF, cpfForm, "000.000.000-00")
	default:
		v.add("CPF", "is missing, and so is CNPJ; one of them is required")
	}
}

func (v *validator) number(field, value string, form *regexp.Regexp, written string) {
	switch {
	case !form.MatchString(value):
		v.add(field, "has another form than %s", written)
	case !identity.ValidTaxID(value):
		v.add(field, "has wrong check digits")
	}
}

func (v *validator) stateInscription(c outbox.Company) {
	switch {
	case c.HasStateInscription == "sim" && c.StateInscription == "":
		v.add("stateInscription", "is missing, and required when hasStateInscription is sim")
	case c.HasStateInscription != "sim" && strings.EqualFold(c.HasStateInscription, "sim"):
		v.add("hasStateInscription", "must be written sim, in small letters")
	}
}
