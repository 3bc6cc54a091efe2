package platform

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/rs/zerolog"
)

// Config says where the platform is and how hard it may be asked. BaseURL and Token are required; every other field
// has a default that its zero value stands for.
type Config struct {
	BaseURL string // http or https, with or without the /api/v2 suffix

	// Token returns the bearer token. It is asked before the first request and once per call after a 401; the
	// result is trimmed.
	Token func(ctx context.Context) (string, error)

	RequestsPerSecond float64       // over all calls; default 5, at most 10,000
	MaxInFlight       int           // requests at the same time, over all calls; default 4
	Timeout           time.Duration // of one attempt, from connecting to the last byte of the body; default 60s
	MaxRetryWait      time.Duration // the longest Retry-After that is obeyed; default 5m
	MaxBody           int64         // bytes of a body after decompression; default 64 MiB
	Envelope          string        // one of the Envelope constants; default EnvelopeAuto
	UserAgent         string        // default "solarmirror"
	Log               zerolog.Logger
	Now               func() time.Time // the clock of Page.FetchedAt; default time.Now
	Retry             RetryPolicy

	// Observe is told of every request that was sent, when it is over, by the goroutine that sent it; nil tells nobody.
	Observe func(Exchange)
}

// Exchange is one request and what came of it.
type Exchange struct {
	Method  string        // GET or POST
	List    string        // name of the Resource; "" for a POST
	Status  int           // of the answer; 0 without one
	Took    time.Duration // from connecting to the last byte of the body
	Attempt int           // 1 for the first, more for one that is repeated
	Failure string        // the Cause of a transient failure; "" for a success or a refusal
}

// RetryPolicy is how a transient failure is repeated: the waits start at Initial, double up to Max, and vary by half
// to both sides. A zero field has its default.
type RetryPolicy struct {
	Initial  time.Duration // default 500ms
	Max      time.Duration // default 30s
	Attempts int           // in all, the first one included; default 8
}

const maxRequestsPerSecond = 10_000

// normalised returns cfg with its defaults filled in and its base URL in the form the mirror remembers.
func (cfg Config) normalised() (Config, error) {
	base, err := normaliseBaseURL(cfg.BaseURL)
	if err != nil {
		return cfg, err
	}
	cfg.BaseURL = base
	setDefault(&cfg.RequestsPerSecond, 5)
	setDefault(&cfg.MaxInFlight, 4)
	setDefault(&cfg.Timeout, time.Minute)
	setDefault(&cfg.MaxRetryWait, 5*time.Minute)
	setDefault(&cfg.MaxBody, 64<<20)
	setDefault(&cfg.Envelope, EnvelopeAuto)
	setDefault(&cfg.UserAgent, "solarmirror")
	setDefault(&cfg.Retry.Initial, 500*time.Millisecond)
	setDefault(&cfg.Retry.Max, 30*time.Second)
	setDefault(&cfg.Retry.Attempts, 8)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Observe == nil {
		cfg.Observe = func(Exchange) {}
	}
	return cfg, cfg.check()
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func (cfg Config) check() error {
	if cfg.Token == nil {
		return errors.New("platform: no token source; set platform.token_file or SOLARMIRROR_PLATFORM_TOKEN")
	}
	// Written so that NaN fails.
	if rate := cfg.RequestsPerSecond; !(rate > 0 && rate <= maxRequestsPerSecond) {
		return fmt.Errorf("platform.requests_per_second is %v; it must be more than 0 and at most %d", rate, maxRequestsPerSecond)
	}
	switch cfg.Envelope {
	case EnvelopeAuto, EnvelopeArray, EnvelopeData, EnvelopeItems:
	default:
		return fmt.Errorf("platform.envelope is %q; it must be auto, array, data or items", cfg.Envelope)
	}
	for _, field := range []struct {
		name     string
		positive bool
	}{
		{"max_in_flight", cfg.MaxInFlight > 0},
		{"timeout", cfg.Timeout > 0},
		{"max_retry_wait", cfg.MaxRetryWait > 0},
		{"max_body", cfg.MaxBody > 0},
		{"retry", cfg.Retry.Initial > 0 && cfg.Retry.Max > 0 && cfg.Retry.Attempts > 0},
	} {
		if !field.positive {
			return fmt.Errorf("platform.%s must be more than 0", field.name)
		}
	}
	return nil
}

// normaliseBaseURL brings every way to write the same address to one form. Its errors do not repeat the address where
// that could hold a password.
func normaliseBaseURL(raw string) (string, error) {
	const example = `such as "https://platform.example.com"`
	raw = strings.TrimSpace(raw)
	if raw == "" {
		return "", fmt.Errorf("platform.base_url is empty; set it to the platform's address, %s", example)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return "", fmt.Errorf("platform.base_url is not an address; write it %s", example)
	}
	if u.User != nil {
		return "", errors.New("platform.base_url holds a user name or password; leave them out, the token is what is sent")
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return "", fmt.Errorf("platform.base_url %q must begin with https:// or http:// and a host, %s", raw, example)
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return "", errors.New("platform.base_url must not hold a query or a fragment; leave out what follows ? or #")
	}
	path := strings.TrimRight(u.EscapedPath(), "/")
	path = strings.TrimRight(strings.TrimSuffix(path, apiPrefix), "/")
	return u.Scheme + "://" + canonicalHost(u) + path, nil
}

// canonicalHost returns the host in lower case, with its port unless that is the scheme's own.
func canonicalHost(u *url.URL) string {
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80" {
		port = ""
	}
	switch {
	case port != "":
		return net.JoinHostPort(host, port)
	case strings.Contains(host, ":"):
		return "[" + host + "]"
	}
	return host
}
