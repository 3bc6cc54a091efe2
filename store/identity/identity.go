package identity

import (
	"regexp"
	"strings"
)

// PlainTaxSQL returns SQL that computes [PlainTaxID] of expression. It removes only dots, hyphens,
// slashes and spaces.
func PlainTaxSQL(expression string) string {
	return "upper(replace(replace(replace(replace(" + expression + ", '.', ''), '-', ''), '/', ''), ' ', ''))"
}

// PlainTaxID returns a CPF or CNPJ without punctuation, with letters in upper case.
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

// MaskTaxID shows three characters of a CPF or CNPJ. They help to tell rows apart, and the check
// digits alone do not complete them.
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

// MaskEmail shows the first letter and the host of an address; "" without either.
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

// taxIDForm matches a CPF or a CNPJ, which may contain letters, with or without punctuation.
var taxIDForm = regexp.MustCompile(`^(\d{3}\.?\d{3}\.?\d{3}-?\d{2}|[0-9A-Za-z]{2}\.?[0-9A-Za-z]{3}\.?[0-9A-Za-z]{3}/?[0-9A-Za-z]{4}-?\d{2})$`)

// Plain returns the normal form of an identity, without surrounding white space: an e-mail address
// in lower case, a tax number as [PlainTaxID], any other value unchanged.
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

// TaxForms returns the forms in which texts contain a plain tax number: plain and punctuated. Another
// value, such as an address of 14 characters, has one form.
func TaxForms(plain string) []string {
	switch {
	case !taxIDForm.MatchString(plain):
	case len(plain) == 11:
		return []string{plain, plain[:3] + "." + plain[3:6] + "." + plain[6:9] + "-" + plain[9:]}
	case len(plain) == 14:
		return []string{plain, plain[:2] + "." + plain[2:5] + "." + plain[5:8] + "/" + plain[8:12] + "-" + plain[12:]}
	}
	return []string{plain}
}
