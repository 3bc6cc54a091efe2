package platformtest

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// Company is one company created through POST /company, as stored: a CPF sent beside a CNPJ and a responsible who is
// no known seller are empty.
type Company struct {
	Name                string         `json:"name"`
	Surname             string         `json:"surname"`
	Email               string         `json:"email"`
	Password            string         `json:"password"` // kept for tests to compare; never logged or served
	CPF                 string         `json:"CPF"`
	CNPJ                string         `json:"CNPJ"`
	Address             CompanyAddress `json:"address"`
	Cellphone           string         `json:"cellphone"`
	Responsible         string         `json:"responsible"`
	HasStateInscription string         `json:"hasStateInscription"`
	StateInscription    string         `json:"stateInscription"`
	CreatedAt           time.Time      `json:"-"` // by the platform's clock
}

// CompanyAddress is where a created company is.
type CompanyAddress struct {
	CEP          string `json:"CEP"`
	State        string `json:"state"`
	City         string `json:"city"`
	Patio        string `json:"patio"` // street
	Number       string `json:"number"`
	Neighborhood string `json:"neighborhood"`
	Complement   string `json:"complement"`
}

// maxCreateBody bounds the body of POST /company, in bytes.
const maxCreateBody = 4 << 20

// Companies returns the companies created so far, in the order of their creation.
func (p *Platform) Companies() []Company {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.companies)
}

// createCompanies creates all companies of a call or none.
func (p *Platform) createCompanies(r *http.Request, now time.Time) answer {
	companies, err := readCompanies(r)
	if err != nil {
		return notCreated(http.StatusBadRequest, err)
	}
	for i := range companies {
		if err := companies[i].check(); err != nil {
			return notCreated(http.StatusBadRequest, fmt.Errorf("create[%d]: %w", i, err))
		}
	}
	if err := p.store(companies, now); err != nil {
		return notCreated(http.StatusConflict, err)
	}
	return answer{status: http.StatusOK, body: envelope(`{"success":true}`, "")}
}

func notCreated(status int, err error) answer {
	return answer{status: status, body: envelope(`{"success":false}`, err.Error())}
}

func readCompanies(r *http.Request) ([]Company, error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, errors.New("Content-Type must be application/json")
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxCreateBody+1))
	if err != nil {
		return nil, fmt.Errorf("read the body: %w", err)
	}
	if len(body) > maxCreateBody {
		return nil, fmt.Errorf("the body is larger than %d bytes", maxCreateBody)
	}
	return parseCompanies(body)
}

func parseCompanies(body []byte) ([]Company, error) {
	var call struct {
		Create []Company `json:"create"`
	}
	if err := json.Unmarshal(body, &call); err != nil {
		return nil, errors.New("the body is not the documented JSON") // the cause could quote a password
	}
	if len(call.Create) == 0 {
		return nil, errors.New("create must hold at least one company")
	}
	return call.Create, nil
}

var (
	cpfFormat       = regexp.MustCompile(`^\d{3}\.\d{3}\.\d{3}-\d{2}$`)
	cnpjFormat      = regexp.MustCompile(`^[0-9A-Z]{2}\.[0-9A-Z]{3}\.[0-9A-Z]{3}/[0-9A-Z]{4}-\d{2}$`) // alphanumeric since July 2026
	cepFormat       = regexp.MustCompile(`^\d{5}-\d{3}$`)
	cellphoneFormat = regexp.MustCompile(`^\(\d{2}\) \d{5}-\d{4}$`)

	taxPunctuation = strings.NewReplacer(".", "", "-", "", "/", "")
)

// check applies the rules of section 2.1. Name, e-mail and password are taken to be mandatory; an address or a
// cellphone may be left out, but what is sent must have its format.
func (c *Company) check() error {
	switch {
	case c.Name == "":
		return errors.New("name is required")
	case c.Password == "":
		return errors.New("password is required")
	case !isEmail(c.Email):
		return errors.New("email is not an e-mail address")
	case c.Cellphone != "" && !cellphoneFormat.MatchString(c.Cellphone):
		return errors.New("cellphone must have the format (00) 00000-0000")
	case c.Address.CEP != "" && !cepFormat.MatchString(c.Address.CEP):
		return errors.New("address.CEP must have the format 00000-000")
	case c.Address.State != "" && !isFederativeUnit(c.Address.State):
		return errors.New("address.state is no federative unit")
	case c.HasStateInscription == "sim" && c.StateInscription == "":
		return errors.New("stateInscription is required when hasStateInscription is sim")
	}
	return c.checkTaxNumber()
}

func (c *Company) checkTaxNumber() error {
	switch {
	case c.CNPJ != "":
		if !cnpjFormat.MatchString(c.CNPJ) || !validCNPJ(taxPunctuation.Replace(c.CNPJ)) {
			return errors.New("CNPJ is not valid; its format is 00.000.000/0000-00")
		}
	case c.CPF != "":
		if !cpfFormat.MatchString(c.CPF) || !validCPF(taxPunctuation.Replace(c.CPF)) {
			return errors.New("CPF is not valid; its format is 000.000.000-00")
		}
	default:
		return errors.New("CPF or CNPJ is required")
	}
	return nil
}

func isEmail(text string) bool {
	address, err := mail.ParseAddress(text)
	return err == nil && address.Address == text
}

func isFederativeUnit(code string) bool {
	return slices.ContainsFunc(federativeUnits, func(uf federativeUnit) bool { return uf.code == code })
}

// store keeps the companies unless one of them is known already, or twice among them.
func (p *Platform) store(companies []Company, now time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken == nil {
		p.taken = p.world.companyKeys()
	}
	added := map[string]bool{}
	for i := range companies {
		c := &companies[i]
		c.CreatedAt = now
		if c.CNPJ != "" {
			c.CPF = ""
		}
		if !p.world.hasSeller(c.Responsible) {
			c.Responsible = ""
		}
		for _, key := range []string{c.CNPJ + c.CPF, strings.ToLower(c.Email)} {
			if p.taken[key] || added[key] {
				return fmt.Errorf("create[%d]: a company with this tax number or e-mail exists", i)
			}
			added[key] = true
		}
	}
	for key := range added {
		p.taken[key] = true
	}
	p.companies = append(p.companies, companies...)
	for _, c := range companies {
		p.world.welcome(c)
	}
	return nil
}

// companyKeys returns the tax numbers and e-mails of the companies that the world's requests come from.
func (s *scene) companyKeys() map[string]bool {
	keys := make(map[string]bool, 2*s.companies)
	for n := range s.companies {
		c := s.company(n)
		keys[c.cnpj+c.cpf] = true
		keys[c.contact.email] = true
	}
	return keys
}

func (s *scene) hasSeller(email string) bool {
	return slices.ContainsFunc(s.sellers, func(p person) bool { return p.email == email })
}
