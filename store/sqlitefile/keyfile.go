package sqlitefile

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// keySize is the length of a key, in bytes.
const keySize = 32

// ReadKey reads a private file that holds a key of 32 bytes, raw, in hexadecimal or in base64. Its
// errors name the file and never quote its content; [*ModeError] when other users may read it.
func ReadKey(ctx context.Context, path string) ([]byte, error) {
	if err := CheckPrivate(path); err != nil {
		return nil, fmt.Errorf("read the key file: %w", err)
	}
	content, err := ReadSecretFile(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("read the key file: %w; make one with `solarmirror outbox keygen`", err)
	}
	raw, ok := decodeKey(content)
	if !ok {
		return nil, fmt.Errorf("%s is no key: want 32 bytes, raw, in hexadecimal or in base64; make one with `solarmirror outbox keygen`", path)
	}
	return raw, nil
}

func decodeKey(content []byte) ([]byte, bool) {
	if len(content) == keySize {
		return content, true
	}
	text := strings.TrimSpace(string(content))
	for _, decode := range []func(string) ([]byte, error){
		hex.DecodeString, base64.StdEncoding.DecodeString, base64.URLEncoding.DecodeString, base64.RawStdEncoding.DecodeString, base64.RawURLEncoding.DecodeString,
	} {
		if raw, err := decode(text); err == nil && len(raw) == keySize {
			return raw, true
		}
	}
	return nil, false
}

// GenerateKey creates a private file at path with a new key in hexadecimal, and its directory when
// missing. An existing file is an error, [fs.ErrExist].
func GenerateKey(path string) error {
	if err := MakeDir(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make a key file: %w", err)
	}
	raw := make([]byte, keySize)
	_, _ = rand.Read(raw) // never fails
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("make a key file: %w", err)
	}
	_, err = fmt.Fprintln(f, hex.EncodeToString(raw))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("make a key file: %w", err)
	}
	return nil
}
