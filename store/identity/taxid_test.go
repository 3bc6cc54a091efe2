package identity

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestTaxIDs(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{
		// Numbers that the revenue service and banks publish as examples.
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

// TestOneWrongCharacter: check digits detect one mistyped digit.
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
		// The remainders 10 and 0 both give the check digit 0, so it may miss a wrong digit.
		if validCPF(string(wrong)) && !strings.Contains(digits[9:], "0") {
			t.Fatalf("%s and %s are both valid", digits, wrong)
		}
	})
}
