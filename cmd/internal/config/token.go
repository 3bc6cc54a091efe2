package config

import (
	"context"
	"fmt"
	"strings"

	"solarmirror/store/sqlitefile"
)

// TokenSource returns the function the client asks for the access token. A token
// file is read anew at each call and never kept, so that a renewed one is found.
// A token that is missing or cannot be read is an *Error naming the remedy.
func (c Config) TokenSource() func(context.Context) (string, error) {
	token, path := c.Platform.Token, c.Platform.TokenFile
	return func(ctx context.Context) (string, error) {
		if err := ctx.Err(); err != nil {
			return "", fmt.Errorf("read the platform token: %w", err)
		}
		switch {
		case token != "":
			return token.Reveal(), nil
		case path != "":
			return readSecret(ctx, "platform.token_file", path, "the token")
		}
		return "", &Error{Problems: []string{
			"no platform token: set SOLARMIRROR_PLATFORM_TOKEN, or name a file that holds it in " +
				"SOLARMIRROR_PLATFORM_TOKEN_FILE (platform.token_file), or write platform.token in config.toml"}}
	}
}

// readSecret reads the file that a key names. It is an *Error when nothing is in it.
func readSecret(ctx context.Context, key, path, what string) (string, error) {
	content, err := sqlitefile.ReadSecretFile(ctx, path)
	if ctx.Err() != nil {
		return "", err
	}
	if err != nil {
		return "", &Error{Problems: []string{fmt.Sprintf("%s: %v; check that the file is there and readable", key, err)}}
	}
	secret := strings.TrimSpace(string(content))
	if secret == "" {
		return "", &Error{Problems: []string{fmt.Sprintf("%s: %s is empty; write %s into it", key, path, what)}}
	}
	return secret, nil
}
