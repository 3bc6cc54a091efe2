package setup

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"solarmirror/cmd/internal/config"
	"solarmirror/store"
)

// TestTokenInClear: a client that would send a token over plain http to another machine is refused,
// but for a mirror that has read that platform before, whatever its schema version.
func TestTokenInClear(t *testing.T) {
	t.Parallel()
	bind := func(version string) func(*store.Mirror) error {
		return func(m *store.Mirror) error {
			return errors.Join(m.Bind(t.Context(), "http://sales.example.com"), m.Update(t.Context(), func(tx *store.Tx) error {
				_, err := tx.Exec("set the version", "UPDATE _meta SET schema_version = schema_version "+version)
				return err
			}))
		}
	}
	const token = "TOKEN=x"
	for _, tc := range []struct {
		name     string
		settings []string
		fill     func(*store.Mirror) error // nil: there is no mirror
		refused  bool
		warns    bool
	}{
		{"another machine", []string{"BASE_URL=http://sales.example.com", token}, nil, true, false},
		{"token in a file", []string{"BASE_URL=http://sales.example.com", "TOKEN_FILE=nowhere"}, nil, true, false},
		{"a name that may be this machine's", []string{"BASE_URL=http://localhost.localdomain", token}, nil, true, false},
		{"an address in decimal", []string{"BASE_URL=http://2130706433", token}, nil, true, false},
		{"without a token", []string{"BASE_URL=http://sales.example.com"}, nil, false, false},
		{"allowed", []string{"BASE_URL=http://sales.example.com", token, "ALLOW_PLAIN_HTTP=true"}, nil, false, false},
		{"https", []string{"BASE_URL=https://sales.example.com", token}, nil, false, false},
		{"localhost", []string{"BASE_URL=http://LocalHost:8900", token}, nil, false, false},
		{"loopback", []string{"BASE_URL=http://127.3.2.1:8900", token}, nil, false, false},
		{"loopback of IPv6", []string{"BASE_URL=http://[::1]/api/v2", token}, nil, false, false},
		{"bound", []string{"BASE_URL=http://Sales.example.com:80/api/v2", token}, bind(""), false, true},
		{"bound, of an older version", []string{"BASE_URL=http://sales.example.com", token}, bind("- 1"), false, true},
		{"bound to another", []string{"BASE_URL=http://other.example.com", token}, bind(""), true, false},
		{"bound to none", []string{"BASE_URL=http://sales.example.com", token}, func(*store.Mirror) error { return nil }, true, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "mirror.db")
			if tc.fill != nil {
				m, err := store.Open(context.Background(), path, store.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if err := errors.Join(tc.fill(m), m.Close()); err != nil {
					t.Fatal(err)
				}
			}
			environ := []string{"SOLARMIRROR_MIRROR_PATH=" + path}
			for _, s := range tc.settings {
				environ = append(environ, "SOLARMIRROR_PLATFORM_"+s)
			}
			c, err := config.Load(config.Source{Environ: environ})
			if err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			client, err := Client(c, zerolog.New(&log), nil)
			if err == nil {
				client.Close()
			}
			var fault *config.Error
			if errors.As(err, &fault) != tc.refused || tc.refused != strings.Contains(errorText(err), "allow_plain_http") {
				t.Errorf("%v, want it refused: %v", err, tc.refused)
			}
			if warned := strings.Contains(log.String(), "IN CLEAR"); warned != tc.warns {
				t.Errorf("log %q, want a warning: %v", log.String(), tc.warns)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
