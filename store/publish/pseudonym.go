package publish

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"io/fs"

	"solarmirror/store/identity"
	"solarmirror/store/sqlitefile"
)

// PseudonymKey is the HMAC key of the pseudonyms. With the key, trying all tax numbers tells whose
// pseudonym is whose, so the key prints as a mask. Another key gives other pseudonyms.
type PseudonymKey struct{ raw []byte }

// Format prints a mask, for every verb.
func (k PseudonymKey) Format(f fmt.State, _ rune) { fmt.Fprint(f, "***") }

// ReadPseudonymKey reads a key file, see [sqlitefile.ReadKey].
func ReadPseudonymKey(ctx context.Context, path string) (PseudonymKey, error) {
	raw, err := sqlitefile.ReadKey(ctx, path)
	return PseudonymKey{raw}, err
}

// EnsurePseudonymKey reads a key file, and creates it when missing.
func EnsurePseudonymKey(ctx context.Context, path string) (PseudonymKey, error) {
	if err := sqlitefile.GenerateKey(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return PseudonymKey{}, err
	}
	return ReadPseudonymKey(ctx, path)
}

// pseudonymBytes is the length of a pseudonym before encoding; encoded, it has 16 characters. Among
// a million people two share a pseudonym once in 2,000,000,000,000 copies.
const pseudonymBytes = 10

// crockford is Crockford's base32 in lower case: it leaves out letters that look like digits.
var crockford = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// pseudonym returns the pseudonym of an identity. It is the same for every spelling, in every table
// and in every copy. An empty value stays empty.
func (k PseudonymKey) pseudonym(value string) string {
	if value == "" {
		return ""
	}
	mac := hmac.New(sha256.New, k.raw)
	mac.Write([]byte(identity.Plain(value)))
	return "p_" + crockford.EncodeToString(mac.Sum(nil)[:pseudonymBytes])
}
