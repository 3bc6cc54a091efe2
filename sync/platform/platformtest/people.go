package platformtest

import (
	"fmt"
	"strconv"
	"strings"
)

type person struct{ name, surname, email, cellphone string }

func (p person) fullName() string { return p.name + " " + p.surname }

type address struct {
	cep, state, city, neighborhood string
	street, number, complement     string
	streetType, streetWithoutType  string
}

// company is an energy company: an integrator that sells systems. One without a CNPJ is an individual with a CPF.
type company struct {
	cnpj, cpf          string
	fantasyName, legal string
	contact            person
	address            address
}

// customer is who the system is billed to.
type customer struct {
	person                          person
	legalName, fantasyName          string // empty for an individual
	cnpj, cpf, rg, stateInscription string
}

var firstNames = []string{"Maria", "José", "Ana", "João", "Antônio", "Francisco", "Carlos", "Paulo", "Pedro", "Lucas", "Luiz",
	"Marcos", "Gabriel", "Rafael", "Daniel", "Marcelo", "Bruno", "Eduardo", "Felipe", "Rodrigo", "Juliana", "Fernanda", "Patrícia",
	"Aline", "Sandra", "Camila", "Amanda", "Bruna", "Jéssica", "Letícia", "Júlia", "Luciana", "Vanessa", "Mariana", "Gabriela",
	"Vera", "Vitória", "Larissa", "Cláudia", "Beatriz", "Sebastião", "Raimundo", "Thaís", "Célia", "Iraci", "Moacir", "Ubiratã",
	"Conceição", "Otávio", "Inês", "Helena", "Davi", "Heitor", "Valentina", "Jucélia", "Edson", "Gilberto", "Wellington", "Nair"}

var surnames = []string{"Silva", "Santos", "Oliveira", "Souza", "Rodrigues", "Ferreira", "Alves", "Pereira", "Lima", "Gomes",
	"Ribeiro", "Carvalho", "Almeida", "Lopes", "Soares", "Fernandes", "Vieira", "Barbosa", "Rocha", "Dias", "Nascimento", "Andrade",
	"Moreira", "Nunes", "Marques", "Machado", "Mendes", "Freitas", "Cardoso", "Ramos", "Gonçalves", "Santana", "Teixeira", "Araújo",
	"Magalhães", "Conceição", "D'Ávila", "Sant'Anna", "Müller", "Schneider", "Tanaka", "Bianchi", "Zanella", "Guimarães", "Assunção"}

var brandWords = []string{"Sol", "Luz", "Energia", "Solar", "Raio", "Aurora", "Hélio", "Verde", "Ampère", "Volt", "Nordeste", "Cerrado",
	"Serra", "Pampa", "Ipê", "Araucária", "Mantiqueira", "Horizonte", "Alvorada", "Trópico"}

var brandTails = []string{"Energia Solar", "Engenharia", "Soluções Fotovoltaicas", "Instalações Elétricas", "Renováveis", "Sistemas",
	"Solar", "Energia & Automação"}

var trades = []string{"Mercado", "Padaria", "Pousada", "Clínica", "Oficina", "Academia", "Restaurante", "Laticínios", "Auto Posto",
	"Metalúrgica", "Fazenda", "Frigorífico", "Cerâmica", "Supermercado", "Colégio", "Condomínio"}

var streetTypes = []string{"Rua", "Rua", "Rua", "Avenida", "Avenida", "Travessa", "Alameda", "Praça", "Rodovia", "Estrada"}

var streetNames = []string{"das Flores", "Sete de Setembro", "XV de Novembro", "Tiradentes", "Dom Pedro II", "Getúlio Vargas", "Rui Barbosa",
	"Santos Dumont", "São José", "Marechal Deodoro", "Duque de Caxias", "José Bonifácio", "Castro Alves", "da Conceição", "Juscelino Kubitschek",
	"dos Ipês", "Barão do Rio Branco", "Presidente Vargas", "Padre Cícero", "Santo Antônio", "das Acácias", "Princesa Isabel", "Anita Garibaldi"}

var neighborhoods = []string{"Centro", "Jardim América", "Vila Nova", "São José", "Boa Vista", "Santa Luzia", "Jardim das Oliveiras", "Industrial",
	"Planalto", "Santo Antônio", "Cidade Nova", "Parque das Nações", "Bela Vista", "Nossa Senhora Aparecida", "Zona Rural"}

var mailHosts = []string{"gmail.com", "hotmail.com", "outlook.com", "yahoo.com.br", "uol.com.br", "terra.com.br", "bol.com.br"}

var plainLetters = strings.NewReplacer("á", "a", "à", "a", "â", "a", "ã", "a", "é", "e", "ê", "e", "í", "i", "ó", "o", "ô", "o", "õ", "o",
	"ú", "u", "ü", "u", "ç", "c", "'", "", " ", "", "&", "")

// plain spells a name the way mail addresses do: lower case, no accents, no spaces.
func plain(name string) string { return plainLetters.Replace(strings.ToLower(name)) }

func drawPerson(d *dice, ddd string) person {
	p := person{name: pick(d, firstNames), surname: pick(d, surnames)}
	if d.chance(0.45) {
		p.surname += " " + pick(d, surnames)
	}
	last := p.surname[strings.LastIndexByte(p.surname, ' ')+1:]
	p.email = plain(p.name) + "." + plain(last) + strconv.Itoa(d.below(1000)) + "@" + pick(d, mailHosts)
	p.cellphone = drawCellphone(d, ddd)
	return p
}

func drawAddress(d *dice, city municipality) address {
	a := address{
		cep: drawCEP(d, city.uf), state: city.uf.code, city: city.name, neighborhood: pick(d, neighborhoods),
		streetType: pick(d, streetTypes), streetWithoutType: pick(d, streetNames), number: strconv.Itoa(d.between(1, 3999)),
	}
	a.street = a.streetType + " " + a.streetWithoutType
	switch x := d.float(); {
	case x < 0.06:
		a.number = "S/N"
	case x < 0.2:
		a.complement = fmt.Sprintf("Apto %d", d.between(11, 1804))
	case x < 0.3:
		a.complement = fmt.Sprintf("Km %d, sítio %s", d.between(1, 90), pick(d, surnames))
	case x < 0.4:
		a.complement = "Próximo à \"" + pick(d, trades) + "\""
	}
	return a
}

// drawCompany returns the company of the given number. The number stands in its mail address, so no two share one.
func drawCompany(d *dice, number int, city municipality) company {
	c := company{contact: drawPerson(d, city.ddd), address: drawAddress(d, city)}
	if d.chance(0.12) {
		c.cpf = drawCPF(d, city.uf)
		c.fantasyName = c.contact.fullName()
		c.contact.email = fmt.Sprintf("%s.%d@%s", plain(c.contact.name), number, pick(d, mailHosts))
		return c
	}
	c.cnpj = drawCNPJ(d)
	word := pick(d, brandWords)
	if d.chance(0.5) {
		word += " " + pick(d, brandWords)
	}
	c.fantasyName = word + " " + pick(d, brandTails)
	c.legal = word + " " + pick(d, []string{"Comércio e Serviços Ltda", "Engenharia Ltda", "Instalações Elétricas Ltda ME", "Energia S/A", "Soluções EIRELI"})
	c.contact.email = fmt.Sprintf("%s@%s%d.com.br", plain(c.contact.name), plain(word), number)
	return c
}

func drawCustomer(d *dice, firm bool, city municipality) customer {
	c := customer{person: drawPerson(d, city.ddd)}
	if !firm {
		c.cpf = drawCPF(d, city.uf)
		b := d.digits(nil, 8)
		c.rg = string(b[:2]) + "." + string(b[2:5]) + "." + string(b[5:]) + "-" + strconv.Itoa(d.below(10))
		return c
	}
	c.cnpj = drawCNPJ(d)
	c.fantasyName = pick(d, trades) + " " + pick(d, surnames)
	c.legalName = c.fantasyName + pick(d, []string{" Ltda", " & Filhos Ltda", " EIRELI", " S/A", " - ME"})
	if d.chance(0.7) {
		c.stateInscription = string(d.digits(nil, 9))
	}
	return c
}
