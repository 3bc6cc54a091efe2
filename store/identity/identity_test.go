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
