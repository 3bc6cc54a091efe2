package platform

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"time"

	"golang.org/x/time/rate"
)

// Client asks the platform for pages. All calls on it, from whichever goroutine, share its limits.
type Client struct {
	cfg       Config
	transport *http.Transport
	tokens    *tokens
	slots     chan struct{} // one entry per request in flight
	limiter   *rate.Limiter
	hold      hold
}

// Page is one page of a listing, as the platform sent it.
type Page struct {
	Records    [][]byte  // raw JSON text of each element, in order; parts of one buffer that is not written again before Release
	Total      int       // how many records the listing has in all, by the platform's word
	HasTotal   bool      // whether Total is known
	Envelope   string    // which form the answer had: one of the Envelope constants but EnvelopeAuto
	TotalNote  string    // why a total that was sent cannot be used; "" otherwise
	Source     string    // path and query below the base URL, such as /api/v2/requests/order/1/50?removed=true
	FetchedAt  time.Time // by our clock, UTC, when the request that brought the page was sent
	ServerDate time.Time // the Date header, UTC; zero when it was absent or unreadable
	Attempts   int       // how many requests it took
	Bytes      int       // size of the body after decompression

	buffer *bytes.Buffer
}

// Release gives the memory of Records to pages to come. Whoever calls it is done with them; a page may as well be left to the garbage collector.
func (p *Page) Release() {
	if p.buffer != nil {
		bodies.Put(p.buffer)
		p.buffer, p.Records = nil, nil
	}
}

// New returns a client for the platform described by cfg, without connecting. Its errors are faults of cfg, worded for
// the person who wrote the configuration.
func New(cfg Config) (*Client, error) {
	cfg, err := cfg.normalised()
	if err != nil {
		return nil, err
	}
	return &Client{
		cfg:       cfg,
		transport: newTransport(cfg),
		tokens:    &tokens{source: cfg.Token},
		slots:     make(chan struct{}, cfg.MaxInFlight),
		limiter:   rate.NewLimiter(rate.Limit(cfg.RequestsPerSecond), burst(cfg.RequestsPerSecond)),
	}, nil
}

// burst is what the limiter lets through at once: ten milliseconds' worth. Timers are no finer than about one
// millisecond, so that a burst of one could not reach thousands of requests a second.
func burst(perSecond float64) int { return max(1, int(perSecond/100)) }

// newTransport returns the client's own transport. It is used without an http.Client, which would add only cookies and
// redirects: here a 3xx comes back like any other answer and the token goes nowhere else. The dialer and the handshake
// have the attempt's limit too, since they run on after the attempt that started them has ended.
func newTransport(cfg Config) *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: cfg.Timeout, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:      true,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    cfg.Timeout,
		MaxIdleConns:           cfg.MaxInFlight,
		MaxIdleConnsPerHost:    cfg.MaxInFlight,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 1 << 20,
	}
}

// BaseURL returns the platform's address in the one form it has for this client: lower-case host, no default port, no
// trailing slash, no /api/v2 suffix.
func (c *Client) BaseURL() string { return c.cfg.BaseURL }

// Close closes the idle connections. Calls still running are not disturbed.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// List returns one page of at most limit records of r, numbered as the platform numbers them: whether the first is 0
// or 1 is the caller's business. It repeats transient failures; what it returns in the end is one of this package's
// typed failures, or ctx's error, wrapped.
func (c *Client) List(ctx context.Context, r Resource, f Filter, page, limit int) (*Page, error) {
	source, err := listPath(r, f, page, limit)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", r.Name, err)
	}
	call := &call{client: c, list: r.Name, source: source, limit: limit, policy: c.cfg.Retry}
	return call.run(ctx)
}

// probeAttempts is how often a Probe is tried: often enough to tell a refusal from a passing fault.
const probeAttempts = 3

// Probe is List for finding out what the platform accepts: a refusal is an expected answer, so it is soon believed.
func (c *Client) Probe(ctx context.Context, r Resource, f Filter, page, limit int) (*Page, error) {
	source, err := listPath(r, f, page, limit)
	if err != nil {
		return nil, fmt.Errorf("probe %s: %w", r.Name, err)
	}
	call := &call{client: c, list: r.Name, source: source, limit: limit, policy: c.cfg.Retry}
	call.policy.Attempts = min(call.policy.Attempts, probeAttempts)
	return call.run(ctx)
}

// admit waits until a request may be sent: for a slot, for the end of a hold, and for the rate limiter. The caller
// must call release when the request is over.
func (c *Client) admit(ctx context.Context) (release func(), err error) {
	select {
	case c.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	release = func() { <-c.slots }
	if err := c.waitTurn(ctx); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// waitTurn passes the hold and the limiter, and the hold again if it was set while the limiter made us wait.
func (c *Client) waitTurn(ctx context.Context) error {
	for {
		if err := c.hold.wait(ctx); err != nil {
			return err
		}
		if err := c.limiter.Wait(ctx); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			// The limiter sees ahead that ctx's deadline will pass first.
			return context.DeadlineExceeded
		}
		if c.hold.remaining() <= 0 {
			return nil
		}
	}
}
