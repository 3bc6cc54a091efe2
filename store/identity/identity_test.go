package identity

import "testing"

func TestMasks(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"": "", "529.982.247-25": "***.982.***-**", "12.ABC.345/01DE-35": "**.ABC.***/****-**", "12abc34501de35": "**.ABC.***/****-**", "7": "***"} {
		if got := MaskTaxID(in); got != want {
			t.Errorf("%q is shown as %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{"": "", "ana@example.com": "a***@example.com", "é@x.y": "é***@x.y", "@x": "", "nobody": ""} {
		if got := MaskEmail(in); got != want {
			t.Errorf("%q is shown as %q, want %q", in, got, want)
		}
	}
}

func TestTaxForms(t *testing.T) {
	t.Parallel()
	for plain, want := range map[string]string{
		"52998224725": "529.982.247-25", "11222333000181": "11.222.333/0001-81",
		"joao@ab.com.br": "joao@ab.com.br", "ana@uol.com": "ana@uol.com", "": "", "1234": "1234",
	} {
		if forms := TaxForms(plain); forms[len(forms)-1] != want {
			t.Errorf("%q is written %q, want %q", plain, forms, want)
		}
	}
}
