package outbox

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"solarmirror/store/sqlitefile"
)

// Password is a password. Formatting verbs and encoders print a mask instead of it.
type Password string

// String returns the mask; the runtime prints it in a panic.
func (p Password) String() string {
	if p == "" {
		return ""
	}
	return "***"
}

// Format prints the mask, for every verb.
func (p Password) Format(f fmt.State, _ rune) { fmt.Fprint(f, p.String()) }

// MarshalText returns the mask.
func (p Password) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// Reveal returns the password itself.
func (p Password) Reveal() string { return string(p) }

// ErrSealed: the password is sealed, and the configured key does not open it or is missing.
var ErrSealed = errors.New("the password is sealed with another key")

// sealedVersion is the first byte of every sealed password. Another format would have another byte.
const sealedVersion = 1

// SealingKey encrypts passwords with AES-256-GCM. The row's intent id is authenticated with the
// password, so a sealed password opens in no other row.
type SealingKey struct{ aead cipher.AEAD }

// ReadSealingKey reads a key file, see [sqlitefile.ReadKey].
func ReadSealingKey(ctx context.Context, path string) (*SealingKey, error) {
	raw, err := sqlitefile.ReadKey(ctx, path)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(raw)
	if err != nil {
		return nil, fmt.Errorf("use the key of %s: %w", path, err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("use the key of %s: %w", path, err)
	}
	return &SealingKey{aead}, nil
}

func (k *SealingKey) seal(password Password, intent string) []byte {
	nonce := make([]byte, k.aead.NonceSize())
	_, _ = rand.Read(nonce) // never fails
	return k.aead.Seal(append([]byte{sealedVersion}, nonce...), nonce, []byte(password), []byte(intent))
}

func (k *SealingKey) open(sealed []byte, intent string) (Password, error) {
	nonceEnd := 1 + k.aead.NonceSize()
	if len(sealed) < nonceEnd || sealed[0] != sealedVersion {
		return "", ErrSealed
	}
	plain, err := k.aead.Open(nil, sealed[1:nonceEnd], sealed[nonceEnd:], []byte(intent))
	if err != nil {
		return "", ErrSealed // the error of Open has no more detail
	}
	return Password(plain), nil
}

// storedPassword returns the value of the password column: NULL, text, or sealed bytes.
func (o *Outbox) storedPassword(password Password, intent string) any {
	switch {
	case password == "":
		return nil
	case o.key == nil:
		return string(password)
	}
	return o.key.seal(password, intent)
}

// Password returns the password of a row in plain text; "" when the row has none. [ErrSealed] when
// it cannot be decrypted.
func (o *Outbox) Password(ctx context.Context, id int64) (Password, error) {
	return o.password(ctx, o.db, id)
}

func (o *Outbox) password(ctx context.Context, q sqlitefile.Querier, id int64) (Password, error) {
	var row struct {
		Intent   string `db:"intent_id"`
		Password []byte `db:"password"`
		Kind     string `db:"kind"`
	}
	err := q.GetContext(ctx, &row, "SELECT intent_id, password, typeof(password) AS kind FROM company_outbox WHERE id = ?", id)
	switch {
	case err != nil:
		return "", fmt.Errorf("read the password of row %d: %w", id, Explain(o.path, err))
	case row.Kind != "blob":
		return Password(row.Password), nil
	case o.key == nil:
		return "", fmt.Errorf("row %d: %w: set [outbox] key_file", id, ErrSealed)
	}
	password, err := o.key.open(bytes.Clone(row.Password), row.Intent)
	if err != nil {
		return "", fmt.Errorf("row %d: %w: set [outbox] key_file to the key it was queued with", id, err)
	}
	return password, nil
}

// sealPlaintext seals the plain passwords that other programs inserted. Without a key it does
// nothing.
func (o *Outbox) sealPlaintext(ctx context.Context) error {
	if o.key == nil {
		return nil
	}
	const plain = "password IS NOT NULL AND typeof(password) <> 'blob'"
	found := false
	if err := o.db.GetContext(ctx, &found, "SELECT EXISTS (SELECT 1 FROM company_outbox WHERE "+plain+")"); err != nil || !found {
		return Explain(o.path, err)
	}
	err := o.update(ctx, func(tx *sqlx.Tx) error {
		var rows []struct {
			ID       int64  `db:"id"`
			Intent   string `db:"intent_id"`
			Password string `db:"password"`
		}
		if err := tx.Select(&rows, "SELECT id, intent_id, password FROM company_outbox WHERE "+plain); err != nil {
			return err
		}
		for _, r := range rows {
			if _, err := tx.Exec("UPDATE company_outbox SET password = ? WHERE id = ?", o.storedPassword(Password(r.Password), r.Intent), r.ID); err != nil {
				return err
			}
		}
		o.log.Info().Int("rows", len(rows)).Msg("plain passwords in the outbox were sealed")
		return nil
	})
	if err != nil {
		return fmt.Errorf("seal plain passwords: %w", err)
	}
	return nil
}
