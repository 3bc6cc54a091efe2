package platform

import (
	"bytes"
	"encoding/json"
	"errors"
	"html"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// creation is what an answer to POST /company says.
type creation struct {
	success  *bool // nil where it does not say, or says something else than true or false
	hasError bool  // "error" is there and not null
}

// readCreation reads {"data":{"success":true},"error":null}. fault says why the text is no JSON object that can be relied on: a key
// that stands twice anywhere in it makes either value doubtful.
func readCreation(body []byte) (c creation, fault string) {
	if len(body) > maxCompanyAnswer {
		return creation{}, "it is too long"
	}
	d := jsontext.NewDecoder(bytes.NewReader(body))
	value, err := d.ReadValue()
	if err != nil {
		return creation{}, jsonFault(body, err)
	}
	if value.Kind() != '{' {
		return creation{}, "it is no JSON object"
	}
	whole := slices.Clone(value)
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return creation{}, "bytes follow its JSON"
	}
	// The keys' case counts, which a struct of encoding/json would not heed.
	var outer, data map[string]json.RawMessage
	if err := json.Unmarshal(whole, &outer); err != nil {
		return creation{}, "it is not JSON"
	}
	failure, given := outer["error"]
	c.hasError = given && string(bytes.TrimSpace(failure)) != "null"
	if json.Unmarshal(outer["data"], &data) != nil {
		return c, ""
	}
	switch string(bytes.TrimSpace(data["success"])) {
	case "true":
		c.success = new(true)
	case "false":
		c.success = new(false)
	}
	return c, ""
}

func jsonFault(body []byte, err error) string {
	switch {
	case len(bytes.TrimSpace(body)) == 0:
		return "it is empty"
	case errors.Is(err, jsontext.ErrDuplicateName):
		return "a key stands twice in it"
	}
	return "it is not JSON"
}

// minSecret is the length from which a field is cut out of what the platform says; shorter ones are part of too many words.
const minSecret = 4

// secrets returns what of a call must not come back in an error: the token and the password whatever their length, and the
// personal fields.
func (c Company) secrets(token string) []string {
	list := []string{token, c.Password}
	for _, field := range []string{
		c.Name, c.Surname, c.Email, c.CPF, c.CNPJ, digits(c.CPF), digits(c.CNPJ), c.Cellphone, digits(c.Cellphone), c.StateInscription,
		c.Address.CEP, c.Address.Patio, c.Address.Complement, c.Responsible,
	} {
		if len(field) >= minSecret {
			list = append(list, field)
		}
	}
	var all []string
	for _, secret := range list {
		for _, written := range []string{secret, html.EscapeString(secret), url.QueryEscape(secret), url.PathEscape(secret), jsonEscaped(secret), quoted(secret)} {
			if written != "" && !slices.Contains(all, written) {
				all = append(all, written)
			}
		}
	}
	// Longer ones first, or a part of one would be left beside the mark of another.
	slices.SortStableFunc(all, func(a, b string) int { return len(b) - len(a) })
	return all
}

func digits(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(".-/() ", r) {
			return -1
		}
		return r
	}, s)
}

func jsonEscaped(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		return ""
	}
	return string(text[1 : len(text)-1])
}

// quoted is how errors of the standard library repeat a text.
func quoted(s string) string {
	text := strconv.Quote(s)
	return text[1 : len(text)-1]
}

// scrub replaces everything secret in a text, also where its letters changed their case.
func (p *post) scrub(text string) string {
	const mark = "•••"
	for _, secret := range p.secrets {
		var out strings.Builder
		rest := text
		for {
			i := indexFold(rest, secret)
			if i < 0 {
				break
			}
			out.WriteString(rest[:i] + mark)
			rest = rest[i+len(secret):]
		}
		text = out.String() + rest
	}
	return text
}

// indexFold is strings.Index for which ASCII letters have no case.
func indexFold(text, part string) int {
	return strings.Index(asciiLower(text), asciiLower(part))
}

// asciiLower keeps every byte in its place, which strings.ToLower does not.
func asciiLower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
