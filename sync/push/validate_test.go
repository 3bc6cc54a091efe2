package push

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"solarmirror/store"
)

func TestTaxIDs(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{
		// Numbers that revenue service and banks publish as examples.
		"529.982.247-25": true, "52998224725": true, "111.444.777-35": true, "529.982.247-24": false, "529.982.247-35": false,
		"111.111.111-11": false, "000.000.000-00": false, "1234567890": false,
		"11.222.333/0001-81": true, "11222333000181": true, "00.000.000/0001-91": true, "11.222.333/0001-82": false, "11.222.333/0001-91": false,
		"00.000.000/0000-00": false,
		"12.ABC.345/01DE-35": true, "12abc34501de35": true, "12.ABC.345/01DE-36": false, "12.ABC.345/01DE-3A": false, "12.ÀBC.345/01DE-35": false,
		"": false, "abc": false,
	} {
		if got := ValidTaxID(id); got != want {
			t.Errorf("%q is valid: %v, want %v", id, got, want)
		}
	}
}

// TestOneWrongCharacter: check digits exist to find a mistyped one.
func TestOneWrongCharacter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		digits := rapid.StringMatching(`[0-9]{9}`).Filter(func(s string) bool { return !repeated(s) }).Draw(t, "digits")
		digits += string(cpfCheckDigit(digits))
		digits += string(cpfCheckDigit(digits))
		if !validCPF(digits) {
			t.Fatalf("%s is refused", digits)
		}
		at, by := rapid.IntRange(0, 10).Draw(t, "at"), byte(rapid.IntRange(1, 9).Draw(t, "by"))
		wrong := []byte(digits)
		wrong[at] = '0' + (wrong[at]-'0'+by)%10
		// Ten and eleven both count as 0, so that a check digit of 0 may hide a wrong digit before it.
		if validCPF(string(wrong)) && !strings.Contains(digits[9:], "0") {
			t.Fatalf("%s and %s are both valid", digits, wrong)
		}
	})
}

func TestNormalise(t *testing.T) {
	t.Parallel()
	got := Normalise(store.Company{Name: " Ana ", CPF: "52998224725", CNPJ: "12abc34501de35", CEP: "01310100", Cellphone: "11912345678", State: "sp"})
	want := store.Company{Name: "Ana", CPF: "529.982.247-25", CNPJ: "12.ABC.345/01DE-35", CEP: "01310-100", Cellphone: "(11) 91234-5678", State: "SP"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(want, Normalise(got)); d != "" {
		t.Errorf("twice: %s", d)
	}
	odd := store.Company{CPF: "5299822472é", CNPJ: "1122233300018!", CEP: "0131010", Cellphone: "+55 11 91234-5678"}
	if d := cmp.Diff(odd, func() store.Company { c := Normalise(odd); c.CNPJ = odd.CNPJ; return c }()); d != "" {
		t.Errorf("what fits no form is left: %s", d)
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*store.Company)
		want   string // faults; "" is valid
	}{
		"as it is": {func(*store.Company) {}, ""},
		"as little as possible": {func(c *store.Company) {
			*c = store.Company{Name: "A", Email: "a@b.co", Password: "x", CPF: "529.982.247-25"}
		}, ""},
		"CPF beside a CNPJ":        {func(c *store.Company) { c.CPF = "whatever" }, ""},
		"nothing":                  {func(c *store.Company) { *c = store.Company{} }, "name is missing; password is missing; email is missing; CPF is missing, and so is CNPJ; one of them is required"},
		"CPF alone, wrong":         {func(c *store.Company) { c.CNPJ, c.CPF = "", "529.982.247-24" }, "CPF has wrong check digits"},
		"CPF alone, another form":  {func(c *store.Company) { c.CNPJ, c.CPF = "", "529982247-25" }, "CPF has another form than 000.000.000-00"},
		"CNPJ in small letters":    {func(c *store.Company) { c.CNPJ = "12.abc.345/01DE-35" }, "CNPJ has another form than 00.000.000/0000-00"},
		"CEP":                      {func(c *store.Company) { c.CEP = "1310-100" }, "address.CEP is no postal code; write it 00000-000"},
		"CEP of zeros":             {func(c *store.Company) { c.CEP = "00000-000" }, "address.CEP is no postal code; write it 00000-000"},
		"state":                    {func(c *store.Company) { c.State = "XX" }, "address.state is no federative unit; write two letters such as SP"},
		"cellphone, landline":      {func(c *store.Company) { c.Cellphone = "(11) 1234-5678" }, "cellphone is no mobile number; write it (00) 00000-0000"},
		"cellphone, area of zero":  {func(c *store.Company) { c.Cellphone = "(01) 91234-5678" }, "cellphone is no mobile number; write it (00) 00000-0000"},
		"e-mail with a name":       {func(c *store.Company) { c.Email = "Ana <ana@example.com>" }, "email is no e-mail address; write it name@example.com"},
		"e-mail without a dot":     {func(c *store.Company) { c.Email = "ana@localhost" }, "email is no e-mail address; write it name@example.com"},
		"responsible":              {func(c *store.Company) { c.Responsible = "João" }, "responsible is no e-mail address; write it name@example.com"},
		"state registration":       {func(c *store.Company) { c.HasStateInscription, c.StateInscription = "sim", "123" }, ""},
		"registration missing":     {func(c *store.Company) { c.HasStateInscription = "sim" }, "stateInscription is missing, and required when hasStateInscription is sim"},
		"registration, not needed": {func(c *store.Company) { c.HasStateInscription = "não" }, ""},
		"Sim":                      {func(c *store.Company) { c.HasStateInscription = "Sim" }, "hasStateInscription must be written sim, in small letters"},
		"control character":        {func(c *store.Company) { c.City = "São\nPaulo" }, "address.city holds a control character"},
		"invalid UTF-8":            {func(c *store.Company) { c.Patio = "\xff" }, "address.patio is not valid UTF-8"},
		"password, invalid UTF-8":  {func(c *store.Company) { c.Password = "\xff" }, "password is not valid UTF-8"},
		"very long":                {func(c *store.Company) { c.Complement = strings.Repeat("x", maxField+1) }, "address.complement is longer than 1000 bytes"},
	} {
		sample := company(1)
		c.change(&sample)
		err := Validate(sample)
		var invalid *InvalidError
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want != "" && (!errors.As(err, &invalid) || err.Error() != c.want):
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	for _, unit := range federativeUnits {
		sample := company(1)
		sample.State = unit
		if err := Validate(sample); err != nil {
			t.Errorf("%s: %v", unit, err)
		}
	}
	if len(federativeUnits) != 27 {
		t.Errorf("%d federative units", len(federativeUnits))
	}
}

// TestFaultsHoldNoValues: they are logged and stored.
func TestFaultsHoldNoValues(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := store.Company{Password: "canary\x00"}
		for _, f := range fields(&c) {
			*f.value = rapid.SampledFrom([]string{"canary", "CANARY\n", "canary\xff", strings.Repeat("canary", 300)}).Draw(t, f.name)
		}
		if err := Validate(Normalise(c)); err == nil || strings.Contains(strings.ToLower(err.Error()), "canary") {
			t.Fatalf("%v", err)
		}
	})
}
