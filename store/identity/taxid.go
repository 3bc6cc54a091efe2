package identity

import "strings"

// validCPF reports whether digits are a CPF: eleven digits, of which the last two are check digits.
// A number of one repeated digit is never issued.
func validCPF(digits string) bool {
	return len(digits) == 11 && onlyDigits(digits) && !repeated(digits) &&
		digits[9] == cpfCheckDigit(digits[:9]) && digits[10] == cpfCheckDigit(digits[:10])
}

// cpfCheckDigit weights the digits by 2, 3, 4, … from the right.
func cpfCheckDigit(digits string) byte {
	sum := 0
	for i := range len(digits) {
		sum += int(digits[i]-'0') * (len(digits) + 1 - i)
	}
	return byte('0' + sum*10%11%10)
}

// validCNPJ reports whether chars are a CNPJ: twelve digits or, since July 2026, capital letters,
// and two check digits.
func validCNPJ(chars string) bool {
	if len(chars) != 14 || repeated(chars) || !onlyDigits(chars[12:]) {
		return false
	}
	for i := range 12 {
		if c := chars[i]; !isDigit(c) && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return chars[12] == cnpjCheckDigit(chars[:12]) && chars[13] == cnpjCheckDigit(chars[:13])
}

// cnpjCheckDigit weights the characters by 2 to 9, repeated, from the right. A letter has the value
// of its distance from '0' in ASCII.
func cnpjCheckDigit(chars string) byte {
	sum := 0
	for i := range len(chars) {
		sum += int(chars[i]-'0') * (2 + (len(chars)-1-i)%8)
	}
	if rest := sum % 11; rest >= 2 {
		return byte('0' + 11 - rest)
	}
	return '0'
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func onlyDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func repeated(s string) bool { return strings.Count(s, s[:1]) == len(s) }

// ValidTaxID reports whether id is a CPF or CNPJ, with or without punctuation. It is false when id
// contains any other character, which [PlainTaxID] would drop.
func ValidTaxID(id string) bool {
	bare := taxPunctuation.Replace(strings.ToUpper(strings.TrimSpace(id)))
	return validCPF(bare) || validCNPJ(bare)
}

var taxPunctuation = strings.NewReplacer(".", "", "-", "", "/", "")
