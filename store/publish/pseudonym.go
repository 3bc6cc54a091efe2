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

// PseudonymKey is the secret pseudonyms are made with: who has it can find out whose pseudonym is
// whose by trying all tax numbers, so it prints as a mask. Another key gives other pseudonyms.
type PseudonymKey struct{ raw []byte }

// Format prints a mask, for every verb.
func (k PseudonymKey) Format(f fmt.State, _ rune) { fmt.Fprint(f, "***") }

// ReadPseudonymKey reads a key file: 32 bytes, raw or in hexadecimal or base64. Errors never quote
// the file.
func ReadPseudonymKey(ctx context.Context, path string) (PseudonymKey, error) {
	raw, err := sqlitefile.ReadKey(ctx, path)
	return PseudonymKey{raw}, err
}

// EnsurePseudonymKey reads a key file, and makes it where there is none.
func EnsurePseudonymKey(ctx context.Context, path string) (PseudonymKey, error) {
	if err := sqlitefile.GenerateKey(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return PseudonymKey{}, err
	}
	return ReadPseudonymKey(ctx, path)
}

// pseudonymBytes of the code are shown, 16 letters and digits: among a million people two share a
// pseudonym once in 2,000,000,000,000 copies.
const pseudonymBytes = 10

// readable is base32 in small letters, without those that look like digits.
var readable = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// pseudonym is what stands in place of whatever tells a person or company apart: the same for
// however it is written, in every table and every copy. What is empty stays so.
func (k PseudonymKey) pseudonym(value string) string {
	if value == "" {
		return ""
	}
	code := hmac.New(sha256.New, k.raw)
	code.Write([]byte(identity.Plain(value)))
	return "p_" + readable.EncodeToString(code.Sum(nil)[:pseudonymBytes])
}
