package platform

import (
	"context"
	"errors"
	"strings"
	"sync"
)

// tokens keeps the token between calls and asks its source again only when the platform refuses it.
type tokens struct {
	source func(context.Context) (string, error)

	mu    sync.Mutex
	token string // "" until first asked for
}

// current returns the token in use.
func (t *tokens) current(ctx context.Context) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token != "" {
		return t.token, nil
	}
	return t.ask(ctx)
}

// renew is for a token the platform refused: it reports whether there is a different one now, asking the source unless
// another call has renewed it meanwhile.
func (t *tokens) renew(ctx context.Context, refused string) (bool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token != refused {
		return true, nil
	}
	token, err := t.ask(ctx)
	return err == nil && token != refused, err
}

func (t *tokens) ask(ctx context.Context) (string, error) {
	token, err := t.source(ctx)
	if err != nil {
		return "", err
	}
	token = strings.TrimSpace(token)
	if err := checkToken(token); err != nil {
		return "", err
	}
	t.token = token
	return token, nil
}

// checkToken refuses what cannot be a bearer token. Its errors never show the token.
func checkToken(token string) error {
	if token == "" {
		return errors.New("the token is empty")
	}
	for _, c := range []byte(token) {
		if c <= ' ' || c > '~' {
			return errors.New(`the token holds a space, a control character or a character outside ASCII; give the token alone, on one line, without "Bearer"`)
		}
	}
	return nil
}
