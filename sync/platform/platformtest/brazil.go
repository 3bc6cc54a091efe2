package platformtest

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
)

//go:embed municipalities.csv
var municipalitiesCSV string

// A federative unit with what ties its people and places to it: its range of postal codes, the digit of its
// tax region (the ninth of a CPF), its capital and its weight in the solar market.
type federativeUnit struct {
	code           string
	cepFrom, cepTo int
	taxRegion      int
	capital        string
	weight         int
}

var federativeUnits = []federativeUnit{
	{"AC", 69900000, 69999999, 2, "Rio Branco", 3},
	{"AL", 57000000, 57999999, 4, "Maceió", 10},
	{"AM", 69000000, 69299999, 2, "Manaus", 8},
	{"AP", 68900000, 68999999, 2, "Macapá", 3},
	{"BA", 40000000, 48999999, 5, "Salvador", 48},
	{"CE", 60000000, 63999999, 3, "Fortaleza", 38},
	{"DF", 70000000, 72799999, 1, "Brasília", 15},
	{"ES", 29000000, 29999999, 7, "Vitória", 22},
	{"GO", 73700000, 76799999, 1, "Goiânia", 55},
	{"MA", 65000000, 65999999, 3, "São Luís", 24},
	{"MG", 30000000, 39999999, 6, "Belo Horizonte", 130},
	{"MS", 79000000, 79999999, 1, "Campo Grande", 30},
	{"MT", 78000000, 78899999, 1, "Cuiabá", 58},
	{"PA", 66000000, 68899999, 2, "Belém", 30},
	{"PB", 58000000, 58999999, 4, "João Pessoa", 18},
	{"PE", 50000000, 56999999, 4, "Recife", 32},
	{"PI", 64000000, 64999999, 3, "Teresina", 22},
	{"PR", 80000000, 87999999, 9, "Curitiba", 82},
	{"RJ", 20000000, 28999999, 7, "Rio de Janeiro", 42},
	{"RN", 59000000, 59999999, 4, "Natal", 22},
	{"RO", 76800000, 76999999, 2, "Porto Velho", 14},
	{"RR", 69300000, 69399999, 2, "Boa Vista", 3},
	{"RS", 90000000, 99999999, 0, "Porto Alegre", 92},
	{"SC", 88000000, 89999999, 9, "Florianópolis", 58},
	{"SE", 49000000, 49999999, 5, "Aracaju", 9},
	{"SP", 1000000, 19999999, 8, "São Paulo", 140},
	{"TO", 77000000, 77999999, 1, "Palmas", 16},
}

type municipality struct {
	name string
	uf   *federativeUnit
	ddd  string // telephone area code
}

// atlas holds the municipalities by federative unit, in the order of federativeUnits.
type atlas struct {
	byUnit  [][]municipality
	capital []municipality
	weights []int
}

// theAtlas is read once: it is the same for every world.
var theAtlas = sync.OnceValue(loadAtlas)

func loadAtlas() *atlas {
	a := &atlas{
		byUnit:  make([][]municipality, len(federativeUnits)),
		capital: make([]municipality, len(federativeUnits)),
	}
	index := map[string]int{}
	for i, uf := range federativeUnits {
		index[uf.code] = i
		a.weights = append(a.weights, uf.weight)
	}
	for line := range strings.Lines(municipalitiesCSV) {
		field := strings.Split(strings.TrimSuffix(line, "\n"), ",")
		i := index[field[1]]
		m := municipality{name: field[0], uf: &federativeUnits[i], ddd: field[2]}
		a.byUnit[i] = append(a.byUnit[i], m)
		if m.name == m.uf.capital {
			a.capital[i] = m
		}
	}
	return a
}

// unit draws the index of a federative unit.
func (a *atlas) unit(d *dice) int { return d.weighted(a.weights) }

// city draws a municipality of a unit, its capital more often than the others.
func (a *atlas) city(d *dice, unit int) municipality {
	if d.chance(0.3) {
		return a.capital[unit]
	}
	return pick(d, a.byUnit[unit])
}

func drawCEP(d *dice, uf *federativeUnit) string {
	cep := d.between(uf.cepFrom, uf.cepTo)
	return fmt.Sprintf("%05d-%03d", cep/1000, cep%1000)
}

func drawCellphone(d *dice, ddd string) string {
	b := append([]byte("("+ddd+") 9"), byte('6'+d.below(4)))
	b = append(d.digits(b, 3), '-')
	return string(d.digits(b, 4))
}

// drawCPF returns a formatted CPF with right check digits, of the unit's tax region.
func drawCPF(d *dice, uf *federativeUnit) string {
	b := append(d.digits(make([]byte, 0, 11), 8), byte('0'+uf.taxRegion))
	b = append(b, cpfCheckDigit(b))
	b = append(b, cpfCheckDigit(b))
	return string(b[:3]) + "." + string(b[3:6]) + "." + string(b[6:9]) + "-" + string(b[9:])
}

// drawCNPJ returns the formatted CNPJ of a company's head office with right check digits.
func drawCNPJ(d *dice) string {
	b := append(d.digits(make([]byte, 0, 14), 8), "0001"...)
	b = append(b, cnpjCheckDigit(b))
	b = append(b, cnpjCheckDigit(b))
	return string(b[:2]) + "." + string(b[2:5]) + "." + string(b[5:8]) + "/" + string(b[8:12]) + "-" + string(b[12:])
}

// cpfCheckDigit weighs the digits 2, 3, 4 … from the right.
func cpfCheckDigit(digits []byte) byte {
	sum := 0
	for i, c := range digits {
		sum += int(c-'0') * (len(digits) + 1 - i)
	}
	return byte('0' + sum*10%11%10)
}

// cnpjCheckDigit weighs the characters 2 … 9, 2 … from the right. A letter of the alphanumeric form counts as its
// distance from '0', as the revenue service defines it.
func cnpjCheckDigit(chars []byte) byte {
	sum := 0
	for i, c := range chars {
		sum += int(c-'0') * (2 + (len(chars)-1-i)%8)
	}
	if rest := sum % 11; rest >= 2 {
		return byte('0' + 11 - rest)
	}
	return '0'
}

// validCPF reports whether digits are the eleven digits of a CPF. Numbers of one repeated digit are never issued.
func validCPF(digits string) bool {
	b := []byte(digits)
	return len(b) == 11 && strings.Count(digits, digits[:1]) != 11 &&
		cpfCheckDigit(b[:9]) == b[9] && cpfCheckDigit(b[:10]) == b[10]
}

// validCNPJ reports whether chars are the fourteen characters of a CNPJ.
func validCNPJ(chars string) bool {
	b := []byte(chars)
	return len(b) == 14 && strings.Count(chars, chars[:1]) != 14 &&
		cnpjCheckDigit(b[:12]) == b[12] && cnpjCheckDigit(b[:13]) == b[13]
}
