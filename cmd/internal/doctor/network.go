package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"solarmirror/cmd/internal/buildinfo"
	"solarmirror/sync/platform"
	"solarmirror/sync/pull"
)

// networkDeadline bounds each request to the platform.
const networkDeadline = 10 * time.Second

// contact is what one request without a token shows of the platform.
type contact struct {
	status      int
	date        time.Time         // the Date header; zero when absent or unreadable
	ours        time.Time         // our clock, halfway through the request
	certificate *x509.Certificate // the server's own; nil over plain http
}

// makeContact sends that request.
func (f *facts) makeContact(ctx context.Context) (contact, error) {
	ctx, cancel := context.WithTimeout(ctx, networkDeadline)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, f.client.BaseURL()+"/", nil)
	if err != nil {
		return contact{}, err
	}
	request.Header.Set("User-Agent", buildinfo.UserAgent())
	// Not an http.Client: a redirect is an answer like any other.
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, ForceAttemptHTTP2: true,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: f.roots, Time: f.now},
	}
	sent := f.now()
	response, err := transport.RoundTrip(request)
	if err != nil {
		return contact{}, err
	}
	defer response.Body.Close()
	c := contact{status: response.StatusCode, ours: sent.Add(f.now().Sub(sent) / 2)}
	if date, err := http.ParseTime(response.Header.Get("Date")); err == nil {
		c.date = date
	}
	if response.TLS != nil {
		c.certificate = response.TLS.PeerCertificates[0]
	}
	return c, nil
}

// probe asks for one page of a list, with the token; any list shows what the checks ask.
func (f *facts) probe(ctx context.Context, page, limit int) (*platform.Page, error) {
	ctx, cancel := context.WithTimeout(ctx, networkDeadline)
	defer cancel()
	return f.client.Probe(ctx, pull.Streams()[0].Resource, platform.Filter{}, page, limit)
}

func checkReachability(ctx context.Context, f *facts) Finding {
	if f.contactErr != nil {
		return explainContact(f.client.BaseURL(), f.contactErr)
	}
	if f.tokenFault(ctx) != nil {
		return pass("%s answers with status %d; no record was asked for, since there is no token", f.client.BaseURL(), f.contact.status)
	}
	page, err := f.probe(ctx, f.firstPage(), 1)
	if err != nil {
		return explainProbe(err)
	}
	return pass("%s lists records (envelope %s)", f.client.BaseURL(), page.Envelope)
}

// explainContact says how far the first contact came: to the name, the port, the handshake or the
// answer.
func explainContact(base string, err error) Finding {
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	look := "curl -sv -o /dev/null " + base
	switch {
	case errors.As(err, &name):
		return fail("check [platform] base_url, then: nslookup "+name.Name, "the name %s has no address: %s", name.Name, name.Err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fail("check host and port of [platform] base_url, then: "+look, "nothing listens there: %v", err)
	case errors.As(err, &certificate):
		return fail("see the remedy of tls", "the platform's certificate is not trusted")
	case errors.As(err, &record):
		return fail("check scheme and port of [platform] base_url, then: "+look, "%s does not speak TLS", base)
	case errors.Is(err, context.DeadlineExceeded):
		return fail("check the network, firewall and HTTPS_PROXY, then: "+look, "no answer from %s within %s", base, networkDeadline)
	}
	return fail(look, "no answer from %s: %v", base, err)
}

// explainProbe says why no record came from a platform that can be reached.
func explainProbe(err error) Finding {
	const unwilling = "run \"solarmirror doctor\" again later; if it lasts, ask the platform's operators"
	var auth *platform.AuthError
	var status *platform.StatusError
	var refused *platform.RefusedError
	var envelope *platform.EnvelopeError
	var wait *platform.RetryAfterError
	var body *platform.BodyError
	switch {
	case errors.As(err, &auth) && auth.Status == 0:
		return fail("set SOLARMIRROR_PLATFORM_TOKEN, or what is in the token file, to the bare token on one line", "the token cannot be sent: %v", auth.Err)
	case errors.As(err, &auth):
		return fail("set SOLARMIRROR_PLATFORM_TOKEN, or what is in the token file, to a valid token, or have the platform's administrator give this one access",
			"the platform refuses the token with %s", statusOf(auth.Status))
	case errors.As(err, &status) && status.Location != "":
		return fail("if that is the platform, set [platform] base_url to it", "the platform points to %s, and redirects are not followed", status.Location)
	case errors.As(err, &status) && status.Status == http.StatusNotFound:
		return fail("check [platform] base_url, which ends before /api/v2", "there is no %s", status.Path)
	case errors.As(err, &status):
		return fail(unwilling, "asked for one record, the platform answers %s", statusOf(status.Status))
	case errors.As(err, &refused):
		return fail(unwilling, "asked for one record, the platform answers the error %q", refused.Message)
	case errors.As(err, &envelope):
		return fail("check [platform] base_url and envelope", "the answer has no known form: %v", err)
	case errors.As(err, &wait):
		return fail(fmt.Sprintf("wait %s, then lower [platform] requests_per_second", wait.Wait.Round(time.Second)), "the platform asks to be left alone for %s", wait.Wait.Round(time.Second))
	case errors.As(err, &body):
		return fail("check [platform] base_url", "the answer to a list is none: %s", body.Reason)
	case errors.Is(err, context.DeadlineExceeded):
		return fail(unwilling, "no record within %s", networkDeadline)
	}
	return fail(unwilling, "no record: %v", err)
}

func statusOf(code int) string { return fmt.Sprintf("%d %s", code, http.StatusText(code)) }

// shortLife is how long before its end a certificate is worth a warning; most are renewed a month
// ahead.
const shortLife = 14 * 24 * time.Hour

func checkTLS(_ context.Context, f *facts) Finding {
	base, err := url.Parse(f.client.BaseURL())
	if err != nil {
		return fail("check [platform] base_url", "%v", err)
	}
	if base.Scheme == "http" {
		return checkPlain(base)
	}
	var untrusted *tls.CertificateVerificationError
	switch {
	case errors.As(f.contactErr, &untrusted):
		return fail(fmt.Sprintf("have it renewed, set this machine's clock, or install its authority; to look at it: openssl s_client -connect %s", hostPort(base)),
			"the certificate is not valid here: %v", untrusted.Err)
	case f.contactErr != nil:
		return skip("the platform was not reached")
	case f.contact.certificate == nil:
		return skip("the connection shows no certificate")
	}
	ends := f.contact.certificate.NotAfter
	left := ends.Sub(f.contact.ours)
	text := fmt.Sprintf("the certificate is valid for %d more days, until %s", int(left.Hours()/24), ends.UTC().Format(time.DateOnly))
	if left < shortLife {
		return warn("tell the platform's operators to renew it", "%s", text)
	}
	return pass("%s", text)
}

// checkPlain judges a platform without TLS.
func checkPlain(base *url.URL) Finding {
	ip := net.ParseIP(base.Hostname())
	if base.Hostname() == "localhost" || ip != nil && ip.IsLoopback() {
		return pass("plain http, which does not leave this machine")
	}
	return warn(fmt.Sprintf("set [platform] base_url to https://%s", base.Host), "plain http: the token and all data travel in clear")
}

func hostPort(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	return net.JoinHostPort(u.Hostname(), "443")
}

// How far the platform's clock and ours may be apart. Watermarks take the earlier of both, so a
// little costs nothing; a day would be another date.
const (
	skewUnseen = 2 * time.Second // a Date has whole seconds, and the answer took its time
	skewWarned = time.Minute
	skewFailed = time.Hour
)

func checkClock(_ context.Context, f *facts) Finding {
	if f.contact.date.IsZero() {
		return skip("the platform's answer has no Date")
	}
	skew := f.contact.date.Sub(f.contact.ours)
	if skew.Abs() < skewUnseen {
		return pass("both clocks agree")
	}
	text := fmt.Sprintf("the platform's clock is %s ahead of ours", skew.Round(time.Second))
	if skew < 0 {
		text = fmt.Sprintf("the platform's clock is %s behind ours", -skew.Round(time.Second))
	}
	const remedy = "set this machine's clock by NTP (timedatectl status); if it is right, tell the platform's operators"
	switch {
	case skew.Abs() > skewFailed:
		return fail(remedy, "%s", text)
	case skew.Abs() > skewWarned:
		return warn(remedy, "%s", text)
	}
	return pass("%s", text)
}
