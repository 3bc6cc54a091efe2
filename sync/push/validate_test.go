package push

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"solarmirror/store/outbox"
)

func TestNormalise(t *testing.T) {
	t.Parallel()
	got := Normalise(outbox.Company{Name: " Ana ", CPF: "52998224725", CNPJ: "12abc34501de35", CEP: "01310100", Cellphone: "11912345678", State: "sp"})
	want := outbox.Company{Name: "Ana", CPF: "529.982.247-25", CNPJ: "12.ABC.345/01DE-35", CEP: "01310-100", Cellphone: "(11) 91234-5678", State: "SP"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(want, Normalise(got)); d != "" {
		t.Errorf("twice: %s", d)
	}
	odd := outbox.Company{CPF: "5299822472é", CNPJ: "1122233300018!", CEP: "0131010", Cellphone: "+55 11 91234-5678"}
	if d := cmp.Diff(odd, func() outbox.Company { c := Normalise(odd); c.CNPJ = odd.CNPJ; return c }()); d != "" {
		t.Errorf("what fits no form is left: %s", d)
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*outbox.Company)
		want   string // faults; "" is valid
	}{
		"as it is": {func(*outbox.Company) {}, ""},
		"as little as possible": {func(c *outbox.Company) {
			*c = outbox.Company{Name: "A", Email: "a@b.co", Password: "x", CPF: "529.982.247-25"}
		}, ""},
		"CPF beside a CNPJ":        {func(c *outbox.Company) { c.CPF = "whatever" }, ""},
		"nothing":                  {func(c *outbox.Company) { *c = outbox.Company{} }, "name is missing; password is missing; email is missing; CPF is missing, and so is CNPJ; one of them is required"},
		"CPF alone, wrong":         {func(c *outbox.Company) { c.CNPJ, c.CPF = "", "529.982.247-24" }, "CPF has wrong check digits"},
		"CPF alone, another form":  {func(c *outbox.Company) { c.CNPJ, c.CPF = "", "529982247-25" }, "CPF has another form than 000.000.000-00"},
		"CNPJ in small letters":    {func(c *outbox.Company) { c.CNPJ = "12.abc.345/01DE-35" }, "CNPJ has another form than 00.000.000/0000-00"},
		"CEP":                      {func(c *outbox.Company) { c.CEP = "1310-100" }, "address.CEP is no postal code; write it 00000-000"},
		"CEP of zeros":             {func(c *outbox.Company) { c.CEP = "00000-000" }, "address.CEP is no postal code; write it 00000-000"},
		"state":                    {func(c *outbox.Company) { c.State = "XX" }, "address.state is no federative unit; write two letters such as SP"},
		"cellphone, landline":      {func(c *outbox.Company) { c.Cellphone = "(11) 1234-5678" }, "cellphone is no mobile number; write it (00) 00000-0000"},
		"cellphone, area of zero":  {func(c *outbox.Company) { c.Cellphone = "(01) 91234-5678" }, "cellphone is no mobile number; write it (00) 00000-0000"},
		"e-mail with a name":       {func(c *outbox.Company) { c.Email = "Ana <ana@example.com>" }, "email is no e-mail address; write it name@example.com"},
		"e-mail without a dot":     {func(c *outbox.Company) { c.Email = "ana@localhost" }, "email is no e-mail address; write it name@example.com"},
		"responsible":              {func(c *outbox.Company) { c.Responsible = "João" }, "responsible is no e-mail address; write it name@example.com"},
		"state registration":       {func(c *outbox.Company) { c.HasStateInscription, c.StateInscription = "sim", "123" }, ""},
		"registration missing":     {func(c *outbox.Company) { c.HasStateInscription = "sim" }, "stateInscription is missing, and required when hasStateInscription is sim"},
		"registration, not needed": {func(c *outbox.Company) { c.HasStateInscription = "não" }, ""},
		"Sim":                      {func(c *outbox.Company) { c.HasStateInscription = "Sim" }, "hasStateInscription must be written sim, in small letters"},
		"control character":        {func(c *outbox.Company) { c.City = "São\nPaulo" }, "address.city holds a control character"},
		"invalid UTF-8":            {func(c *outbox.Company) { c.Patio = "\xff" }, "address.patio is not valid UTF-8"},
		"password, invalid UTF-8":  {func(c *outbox.Company) { c.Password = "\xff" }, "password is not valid UTF-8"},
		"very long":                {func(c *outbox.Company) { c.Complement = strings.Repeat("x", maxField+1) }, "address.complement is longer than 1000 bytes"},
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
		c := outbox.Company{Password: "canary\x00"}
		for _, f := range fields(&c) {
			*f.value = rapid.SampledFrom([]string{"canary", "CANARY\n", "canary\xff", strings.Repeat("canary", 300)}).Draw(t, f.name)
		}
		if err := Validate(Normalise(c)); err == nil || strings.Contains(strings.ToLower(err.Error()), "canary") {
			t.Fatalf("%v", err)
		}
	})
}
