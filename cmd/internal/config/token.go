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
			return readToken(ctx, path)
		}
		return "", &Error{Problems: []string{
			"no platform token: set SOLARMIRROR_PLATFORM_TOKEN, or name a file that holds it in " +
				"SOLARMIRROR_PLATFORM_TOKEN_FILE (platform.token_file), or write platform.token in config.toml"}}
	}
}

func readToken(ctx context.Context, path string) (string, error) {
	content, err := sqlitefile.ReadSecretFile(ctx, path)
	if ctx.Err() != nil {
		return "", err
	}
	if err != nil {
		return "", &Error{Problems: []string{fmt.Sprintf("platform.token_file: %v; check that the file is there and readable", err)}}
	}
	token := strings.TrimSpace(string(content))
	if token == "" {
		return "", &Error{Problems: []string{fmt.Sprintf("platform.token_file: %s is empty; write the token into it", path)}}
	}
	return token, nil
}
