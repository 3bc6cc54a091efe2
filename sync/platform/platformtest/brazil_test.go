package platformtest

import (
	"strconv"
	"strings"
	"testing"
)

func TestTaxNumbers(t *testing.T) {
	t.Parallel()
	for digits, want := range map[string]bool{
		"52998224725": true, "11144477735": true, "52998224726": false, "11111111111": false, "5299822472": false, "": false,
	} {
		if got := len(digits) > 0 && validCPF(digits); got != want {
			t.Errorf("validCPF(%q) = %v", digits, got)
		}
	}
	for chars, want := range map[string]bool{
		"11222333000181": true, "00000000000191": true, "12ABC34501DE35": true,
		"11222333000180": false, "12ABC34501DE53": false, "00000000000000": false, "1122233300018": false,
	} {
		if got := validCNPJ(chars); got != want {
			t.Errorf("validCNPJ(%q) = %v", chars, got)
		}
	}
}

func TestDrawnNumbersAreRight(t *testing.T) {
	t.Parallel()
	d := throw(7)
	for range 500 {
		uf := &federativeUnits[d.below(len(federativeUnits))]
		cpf, cnpj, cep := drawCPF(&d, uf), drawCNPJ(&d), drawCEP(&d, uf)
		if !cpfFormat.MatchString(cpf) || !validCPF(taxPunctuation.Replace(cpf)) {
			t.Errorf("CPF %s", cpf)
		}
		if int(cpf[10]-'0') != uf.taxRegion {
			t.Errorf("CPF %s is not of %s", cpf, uf.code)
		}
		if !cnpjFormat.MatchString(cnpj) || !validCNPJ(taxPunctuation.Replace(cnpj)) {
			t.Errorf("CNPJ %s", cnpj)
		}
		number, err := strconv.Atoi(strings.ReplaceAll(cep, "-", ""))
		if err != nil || !cepFormat.MatchString(cep) || number < uf.cepFrom || number > uf.cepTo {
			t.Errorf("CEP %s of %s: %v", cep, uf.code, err)
		}
		if phone := drawCellphone(&d, "11"); !cellphoneFormat.MatchString(phone) {
			t.Errorf("cellphone %s", phone)
		}
	}
}

func TestAtlasIsWhole(t *testing.T) {
	t.Parallel()
	a := loadAtlas()
	total := 0
	for i, uf := range federativeUnits {
		total += len(a.byUnit[i])
		if a.capital[i].name != uf.capital {
			t.Errorf("%s has no capital %s", uf.code, uf.capital)
		}
		for _, m := range a.byUnit[i] {
			if m.name == "" || len(m.ddd) != 2 {
				t.Errorf("municipality %+v", m)
			}
		}
	}
	if total != 5571 {
		t.Errorf("%d municipalities", total)
	}
}
