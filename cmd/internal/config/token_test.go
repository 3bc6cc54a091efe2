package config

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTokenFileIsReadAtEachUse(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "token")
	source := mustLoad(t, "", "SOLARMIRROR_PLATFORM_TOKEN_FILE="+path).TokenSource()
	for _, token := range []string{"first", "second"} {
		if err := os.WriteFile(path, []byte(token+"\r\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := source(t.Context()); got != token || err != nil {
			t.Errorf("token is %q, %v; want %q", got, err, token)
		}
	}
}

func TestTokenGivenDirectly(t *testing.T) {
	t.Parallel()
	got, err := mustLoad(t, "platform.token = \"s3cret\"").TokenSource()(t.Context())
	if got != "s3cret" || err != nil {
		t.Errorf("token is %q, %v", got, err)
	}
}

func TestTokenMissing(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, []byte(" \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, environ string
		says          []string
	}{
		{"none", "", []string{"SOLARMIRROR_PLATFORM_TOKEN,", "SOLARMIRROR_PLATFORM_TOKEN_FILE", "platform.token in config.toml"}},
		{"no such file", "SOLARMIRROR_PLATFORM_TOKEN_FILE=/nonexistent/token", []string{"/nonexistent/token", "readable"}},
		{"empty file", "SOLARMIRROR_PLATFORM_TOKEN_FILE=" + empty, []string{empty, "is empty"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := mustLoad(t, "", tc.environ).TokenSource()(t.Context())
			var fault *Error
			if !errors.As(err, &fault) {
				t.Fatalf("error is %T, want *Error", err)
			}
			for _, part := range tc.says {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("does not say %q: %v", part, err)
				}
			}
		})
	}
}

func TestTokenSourceHonoursItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := mustLoad(t, "", "SOLARMIRROR_PLATFORM_TOKEN=x").TokenSource()(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want context.Canceled", err)
	}
}

func TestBaseURL(t *testing.T) {
	t.Parallel()
	got, err := mustLoad(t, "", "SOLARMIRROR_PLATFORM_BASE_URL=https://a.example").BaseURL()
	if got != "https://a.example" || err != nil {
		t.Errorf("base URL is %q, %v", got, err)
	}
	_, err = mustLoad(t, "").BaseURL()
	if problems := problemsOf(t, err); !strings.Contains(problems[0], "SOLARMIRROR_PLATFORM_BASE_URL") {
		t.Errorf("does not name the variable: %v", err)
	}
}
