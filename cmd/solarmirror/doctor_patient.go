package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/rs/zerolog"

	"solarmirror/cmd/internal/config"
	"solarmirror/store"
	"solarmirror/sync/platform"
	"solarmirror/sync/pull"
)

// networkDeadline bounds each thing that is asked of the platform.
const networkDeadline = 10 * time.Second

// patient is what the checks look at. What several of them need is gathered once, before the first; whatever could not be had
// is left as an error, and the checks that need it are skipped.
type patient struct {
	configPath string // as given; "" is the default
	config     config.Config
	configErr  error
	log        zerolog.Logger

	now        func() time.Time
	roots      *x509.CertPool // trusted authorities; nil is the system's
	fileSystem func(dir string) (fileSystem, error)
	access     func(path string, write bool) error // nil when this user may read, or write, path

	client       *platform.Client // nil without a base URL
	contact      contact
	contactErr   error
	footprint    store.Footprint
	footprintErr error
	mirror       *store.Mirror // nil when it could not be opened
	mirrorErr    error
	meta         store.Meta
}

// gather asks for all that more than one check needs.
func (p *patient) gather(ctx context.Context) {
	if p.configErr != nil {
		return
	}
	p.footprint, p.footprintErr = store.MeasureFootprint(p.config.Mirror.Path) // before SQLite makes files of its own beside it
	p.openMirror(ctx)
	p.reach(ctx)
}

func (p *patient) openMirror(ctx context.Context) {
	mirror, err := store.OpenReadOnly(ctx, p.config.Mirror.Path)
	if err != nil {
		p.mirrorErr = err
		return
	}
	meta, err := mirror.Meta(ctx)
	if err != nil {
		p.mirrorErr = errors.Join(err, mirror.Close())
		return
	}
	p.mirror, p.meta = mirror, meta
}

// reach makes the client, and the first contact with the platform.
func (p *patient) reach(ctx context.Context) {
	if p.config.Platform.BaseURL == "" {
		return
	}
	c := p.config
	c.Platform.Timeout = min(c.Platform.Timeout, networkDeadline)
	c.Platform.MaxRetryWait = min(c.Platform.MaxRetryWait, networkDeadline/2)
	client, err := newClient(c, p.log, nil)
	if err != nil {
		p.configErr = err
		return
	}
	p.client = client
	p.contact, p.contactErr = p.makeContact(ctx)
}

func (p *patient) close() {
	if p.mirror != nil {
		_ = p.mirror.Close() // it was only read
	}
	if p.client != nil {
		p.client.Close()
	}
}

// contact is what one request without a token shows of the platform.
type contact struct {
	status      int
	date        time.Time         // the Date header; zero when absent or unreadable
	ours        time.Time         // our clock, halfway through the request
	certificate *x509.Certificate // the server's own; nil over plain http
}

func (p *patient) makeContact(ctx context.Context) (contact, error) {
	ctx, cancel := context.WithTimeout(ctx, networkDeadline)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.client.BaseURL()+"/", nil)
	if err != nil {
		return contact{}, err
	}
	request.Header.Set("User-Agent", "solarmirror/"+buildVersion().Version)
	// Not an http.Client: a redirect is an answer like any other.
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, ForceAttemptHTTP2: true,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: p.roots, Time: p.now},
	}
	sent := p.now()
	response, err := transport.RoundTrip(request)
	if err != nil {
		return contact{}, err
	}
	defer response.Body.Close()
	c := contact{status: response.StatusCode, ours: sent.Add(p.now().Sub(sent) / 2)}
	if date, err := http.ParseTime(response.Header.Get("Date")); err == nil {
		c.date = date
	}
	if response.TLS != nil {
		c.certificate = response.TLS.PeerCertificates[0]
	}
	return c, nil
}

// tokenFault says why there is no token, if there is none.
func (p *patient) tokenFault(ctx context.Context) error {
	_, err := p.config.TokenSource()(ctx)
	return err
}

// probe asks for one page of a list, with the token; any list shows what the checks ask.
func (p *patient) probe(ctx context.Context, page, limit int) (*platform.Page, error) {
	ctx, cancel := context.WithTimeout(ctx, networkDeadline)
	defer cancel()
	return p.client.Probe(ctx, pull.Streams()[0].Resource, platform.Filter{}, page, limit)
}

// firstPage is its number as it is pinned or remembered; 1, where most platforms begin, otherwise.
func (p *patient) firstPage() int {
	if pinned := p.config.Platform.FirstPage; pinned != config.FirstPageAuto {
		return pinned
	}
	if d := pull.ParseDialect(p.meta.Dialect); d.Known {
		return d.First
	}
	return 1
}

// The lacks… say why a check cannot be made; "" when it can.

func (p *patient) lacksConfig() string {
	if p.configErr != nil {
		return "the configuration does not load"
	}
	return ""
}

func (p *patient) lacksPlatform() string {
	if p.configErr == nil && p.client == nil {
		return "no [platform] base_url is set"
	}
	return p.lacksConfig()
}

func (p *patient) lacksContact() string {
	if why := p.lacksPlatform(); why != "" {
		return why
	}
	if p.contactErr != nil {
		return "the platform was not reached"
	}
	return ""
}

func (p *patient) lacksFootprint() string {
	if why := p.lacksConfig(); why != "" {
		return why
	}
	if p.footprintErr != nil {
		return fmt.Sprintf("the place of the mirror cannot be looked at: %v", p.footprintErr)
	}
	return ""
}

func (p *patient) lacksFile() string {
	if why := p.lacksFootprint(); why != "" {
		return why
	}
	if !p.footprint.Exists || errors.Is(p.mirrorErr, store.ErrNoDatabase) {
		return fmt.Sprintf("there is no database yet at %s", p.config.Mirror.Path)
	}
	return ""
}

// lacksDatabase is for checks that any solarmirror database will do for, of whichever schema.
func (p *patient) lacksDatabase() string {
	var older *store.OlderError
	var newer *store.NewerError
	if errors.As(p.mirrorErr, &older) || errors.As(p.mirrorErr, &newer) {
		return ""
	}
	return p.lacksMirror()
}

func (p *patient) lacksMirror() string {
	if why := p.lacksFile(); why != "" {
		return why
	}
	if p.mirrorErr != nil {
		return "the database cannot be read; see schema version"
	}
	return ""
}

func (p *patient) lacksDialect() string {
	if why := p.lacksContact(); why != "" {
		return why
	}
	if why := p.lacksMirror(); why != "" {
		return why
	}
	if dialectOf(p.meta) == nil {
		return "nothing is remembered yet; the first sync finds it"
	}
	return ""
}
