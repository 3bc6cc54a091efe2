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

// Password is a password that no formatting verb and no encoder prints.
type Password string

// String returns a mask; the runtime prints it in a panic.
func (p Password) String() string {
	if p == "" {
		return ""
	}
	return "***"
}

// Format prints the mask, for every verb.
func (p Password) Format(f fmt.State, _ rune) { fmt.Fprint(f, p.String()) }

// MarshalText gives the mask to encoders.
func (p Password) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// Reveal returns the password itself.
func (p Password) Reveal() string { return string(p) }

// ErrSealed: a password is sealed, and the configured key does not open it, or there is none.
var ErrSealed = errors.New("the password is sealed with another key")

// sealedForm opens every sealed password; a later form would begin with another byte.
const sealedForm = 1

// SealingKey seals passwords with AES-256-GCM. A sealed password is bound to its row's intent and
// opens in no other row.
type SealingKey struct{ aead cipher.AEAD }

// ReadSealingKey reads a key file: 32 bytes, raw or in hexadecimal or base64. Errors never quote
// the file: [*sqlitefile.ModeError], and others that name it.
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
	return k.aead.Seal(append([]byte{sealedForm}, nonce...), nonce, []byte(password), []byte(intent))
}

func (k *SealingKey) open(sealed []byte, intent string) (Password, error) {
	nonceEnd := 1 + k.aead.NonceSize()
	if len(sealed) < nonceEnd || sealed[0] != sealedForm {
		return "", ErrSealed
	}
	plain, err := k.aead.Open(nil, sealed[1:nonceEnd], sealed[nonceEnd:], []byte(intent))
	if err != nil {
		return "", ErrSealed // the cause says no more
	}
	return Password(plain), nil
}

// stored is the password as the column holds it: NULL, text, or sealed bytes.
func (o *Outbox) stored(password Password, intent string) any {
	switch {
	case password == "":
		return nil
	case o.key == nil:
		return string(password)
	}
	return o.key.seal(password, intent)
}

// Password returns the password of a row, opened; "" when the row holds none. [ErrSealed] when it
// cannot be opened.
func (o *Outbox) Password(ctx context.Context, id int64) (Password, error) {
	var row struct {
		Intent   string `db:"intent_id"`
		Password []byte `db:"password"`
		Kind     string `db:"kind"`
	}
	err := o.db.GetContext(ctx, &row, "SELECT intent_id, password, typeof(password) AS kind FROM company_outbox WHERE id = ?", id)
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

// sealPlain seals what programs inserted as it was. Without a key there is nothing to do.
func (o *Outbox) sealPlain(ctx context.Context) error {
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
			if _, err := tx.Exec("UPDATE company_outbox SET password = ? WHERE id = ?", o.stored(Password(r.Password), r.Intent), r.ID); err != nil {
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
