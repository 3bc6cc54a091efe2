package platform

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func TestBadTokenIsRefusedBeforeDialling(t *testing.T) {
	t.Parallel()
	fails := errors.New("no such file")
	for name, source := range map[string]func(context.Context) (string, error){
		"empty":   func(context.Context) (string, error) { return " \n", nil },
		"space":   func(context.Context) (string, error) { return "Bearer " + testToken, nil },
		"newline": func(context.Context) (string, error) { return testToken + "\nX-Evil: 1", nil },
		"unicode": func(context.Context) (string, error) { return testToken + "é", nil },
		"failing": func(context.Context) (string, error) { return "", fails },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := serve(t, body(twoRows))
			cfg := testConfig(server.URL)
			cfg.Token = source
			_, err := listOrders(t, newClient(t, cfg))
			var auth *AuthError
			if !errors.As(err, &auth) || auth.Status != 0 || auth.Attempts != 0 {
				t.Fatalf("got %#v, want an AuthError without status", err)
			}
			if name == "failing" && !errors.Is(err, fails) {
				t.Errorf("%v does not wrap the source's error", err)
			}
			if strings.Contains(err.Error(), testToken) {
				t.Errorf("the error shows the token: %v", err)
			}
			if n := len(server.seen()); n != 0 {
				t.Errorf("%d requests were sent", n)
			}
		})
	}
}

func TestTokenIsTrimmedAndAskedForOnce(t *testing.T) {
	t.Parallel()
	server := serve(t, body(twoRows))
	var asked atomic.Int32
	cfg := testConfig(server.URL)
	cfg.Token = func(context.Context) (string, error) { asked.Add(1); return "\t" + testToken + "\r\n", nil }
	c := newClient(t, cfg)
	for range 2 {
		if _, err := listOrders(t, c); err != nil {
			t.Fatal(err)
		}
	}
	if got := server.seen()[1].Header.Get("Authorization"); got != "Bearer "+testToken || asked.Load() != 1 {
		t.Errorf("Authorization %q after asking %d times", got, asked.Load())
	}
}

func TestTokenRenewal(t *testing.T) {
	t.Parallel()
	accepts := func(want string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer "+want {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			w.Write([]byte(twoRows))
		}
	}
	for _, test := range []struct {
		name         string
		step         http.HandlerFunc
		tokens       []string // what the source gives, the last for ever
		wantRequests int
		wantAsked    int
		wantStatus   int // 0 for success
	}{
		{"renewed", accepts("new"), []string{"old", "new"}, 2, 2, 0},
		{"same again", accepts("new"), []string{"old"}, 1, 2, 401},
		{"renewed but refused too", accepts("other"), []string{"old", "new", "newer"}, 2, 2, 401},
		{"became empty", accepts("new"), []string{"old", ""}, 1, 2, 401},
		{"forbidden", status(403), []string{"old", "new"}, 1, 1, 403},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := serve(t, test.step)
			asked := 0
			cfg := testConfig(server.URL)
			cfg.Token = func(context.Context) (string, error) {
				asked++
				return test.tokens[min(asked, len(test.tokens))-1], nil
			}
			_, err := listOrders(t, newClient(t, cfg))
			got := 0
			var auth *AuthError
			if errors.As(err, &auth) {
				got = auth.Status
			} else if err != nil {
				t.Fatal(err)
			}
			if got != test.wantStatus || len(server.seen()) != test.wantRequests || asked != test.wantAsked {
				t.Errorf("status %d, %d requests, asked %d times (%v); want %d, %d, %d",
					got, len(server.seen()), asked, err, test.wantStatus, test.wantRequests, test.wantAsked)
			}
		})
	}
}

func TestTokenIsRenewedOncePerCall(t *testing.T) {
	t.Parallel()
	server := serve(t, status(401), status(502), status(401), body(twoRows))
	asked := 0
	cfg := testConfig(server.URL)
	cfg.Token = func(context.Context) (string, error) { asked++; return []string{"old", "new", "newer"}[asked-1], nil }
	_, err := listOrders(t, newClient(t, cfg))
	var auth *AuthError
	if !errors.As(err, &auth) || auth.Attempts != 3 || asked != 2 {
		t.Errorf("got %v after asking %d times, want an AuthError after 3 attempts and 2", err, asked)
	}
}

func TestConcurrentCallsRenewTheTokenTogether(t *testing.T) {
	t.Parallel()
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer new" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Write([]byte(twoRows))
	})
	var asked atomic.Int32
	cfg := testConfig(server.URL)
	cfg.MaxInFlight = 8
	cfg.Token = func(context.Context) (string, error) {
		if asked.Add(1) == 1 {
			return "old", nil
		}
		return "new", nil
	}
	c := newClient(t, cfg)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if _, err := listOrders(t, c); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if asked.Load() != 2 {
		t.Errorf("the source was asked %d times, want 2", asked.Load())
	}
}

func TestNothingLeaksTheTokenOrABody(t *testing.T) {
	t.Parallel()
	const private = "111.444.777-35"
	echo := `{"error":"token ` + testToken + ` is over its limit"}`
	server := serve(t,
		func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500); w.Write([]byte(echo)) },
		body(echo),
		body(`[{"cpf":"`+private+`"`),
		body(`[{"cpf":"`+private+`"}]`),
		func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "https://user:pw@elsewhere.example/"+testToken+"?token="+testToken)
			w.WriteHeader(302)
		},
		func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(400); w.Write([]byte(echo)) },
	)
	log := newLogs()
	cfg := testConfig(server.URL)
	cfg.Log = log.logger()
	cfg.Retry.Attempts = 4
	c := newClient(t, cfg)
	if _, err := listOrders(t, c); err != nil {
		t.Fatal(err)
	}
	said := log.String()
	if strings.Contains(said, "run the command again") {
		t.Errorf("the log advises what is being done already:\n%s", said)
	}
	for range 2 {
		_, err := listOrders(t, c)
		if err == nil {
			t.Fatal("no failure")
		}
		said += err.Error()
	}
	for _, secret := range []string{testToken, private, "user:pw"} {
		if strings.Contains(said, secret) {
			t.Errorf("%q is in logs or errors:\n%s", secret, said)
		}
	}
	for _, want := range []string{`"path":"/api/v2/requests/order/1/50"`, `"status":500`, `"bytes":`, `"took_ms":`, `"attempt":4`, "[token] is over its limit", "trying again"} {
		if !strings.Contains(said, want) {
			t.Errorf("%s is missing in:\n%s", want, said)
		}
	}
}
