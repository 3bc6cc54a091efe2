package identity

import (
	"regexp"
	"strings"
)

// PlainTaxSQL is PlainTaxID in SQL, for the punctuation that tax numbers are written with.
func PlainTaxSQL(expression string) string {
	return "upper(replace(replace(replace(replace(" + expression + ", '.', ''), '-', ''), '/', ''), ' ', ''))"
}

// PlainTaxID is a CPF or CNPJ without its punctuation, letters in upper case.
func PlainTaxID(id string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= '0' && r <= '9', r >= 'A' && r <= 'Z':
			return r
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		}
		return -1
	}, id)
}

// MaskTaxID hides most digits of a CPF or CNPJ: those shown tell rows apart and cannot be completed
// by check digits alone.
func MaskTaxID(id string) string {
	plain := PlainTaxID(id)
	switch len(plain) {
	case 0:
		return ""
	case 11:
		return "***." + plain[3:6] + ".***-**"
	case 14:
		return "**." + plain[2:5] + ".***/****-**"
	}
	return "***"
}

// MaskEmail shows the first letter of an address and its host.
func MaskEmail(address string) string {
	name, host, ok := strings.Cut(address, "@")
	if !ok || name == "" {
		return ""
	}
	for _, first := range name {
		return string(first) + "***@" + host
	}
	return ""
}

// taxIDForm is a CPF or a CNPJ, also one of letters, bare or punctuated.
var taxIDForm = regexp.MustCompile(`^(\d{3}\.?\d{3}\.?\d{3}-?\d{2}|[0-9A-Za-z]{2}\.?[0-9A-Za-z]{3}\.?[0-9A-Za-z]{3}/?[0-9A-Za-z]{4}-?\d{2})$`)

// plainIdentity is the one way to write an identity: an e-mail address in small letters, a tax
// number bare, anything else as it is.
func Plain(value string) string {
	value = strings.TrimSpace(value)
	switch {
	case strings.Contains(value, "@"):
		return strings.ToLower(value)
	case taxIDForm.MatchString(value):
		return PlainTaxID(value)
	}
	return value
}

// TaxForms are a tax number bare and as it is formatted.
func TaxForms(bare string) []string {
	switch len(bare) {
	case 11:
		return []string{bare, bare[:3] + "." + bare[3:6] + "." + bare[6:9] + "-" + bare[9:]}
	case 14:
		return []string{bare, bare[:2] + "." + bare[2:5] + "." + bare[5:8] + "/" + bare[8:12] + "-" + bare[12:]}
	}
	return []string{bare}
}
