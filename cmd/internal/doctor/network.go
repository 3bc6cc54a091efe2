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
	"solarmirror/cmd/internal/config"
	"solarmirror/sync/platform"
	"solarmirror/sync/pull"
)

// requestTimeout limits each request to the platform.
const requestTimeout = 10 * time.Second

// response is the platform's answer to one request without a token.
type response struct {
	status      int
	date        time.Time         // of the Date header; zero when absent or unreadable
	localTime   time.Time         // of this machine, halfway through the request
	certificate *x509.Certificate // of the server, not of an authority; nil over plain http
}

// requestRoot sends a GET request for the base URL, without a token.
func (f *facts) requestRoot(ctx context.Context) (response, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, f.client.BaseURL()+"/", nil)
	if err != nil {
		return response{}, err
	}
	request.Header.Set("User-Agent", buildinfo.UserAgent())
	// An http.Client would follow redirects; here a redirect is an answer.
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, ForceAttemptHTTP2: true,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: f.roots, Time: f.now},
	}
	sent := f.now()
	got, err := transport.RoundTrip(request)
	if err != nil {
		return response{}, err
	}
	defer got.Body.Close()
	r := response{status: got.StatusCode, localTime: sent.Add(f.now().Sub(sent) / 2)}
	if date, err := http.ParseTime(got.Header.Get("Date")); err == nil {
		r.date = date
	}
	if got.TLS != nil {
		r.certificate = got.TLS.PeerCertificates[0]
	}
	return r, nil
}

// probe requests one page of the first stream, with the token. The checks need no particular list.
func (f *facts) probe(ctx context.Context, page, limit int) (*platform.Page, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return f.client.Probe(ctx, pull.Streams()[0].Resource, platform.Filter{}, page, limit)
}

func checkReachability(ctx context.Context, f *facts) Finding {
	if f.responseErr != nil {
		return explainRequestError(f.client.BaseURL(), f.responseErr)
	}
	if f.tokenError(ctx) != nil {
		return pass("%s answers with status %d; no record was asked for, since there is no token", f.client.BaseURL(), f.response.status)
	}
	page, err := f.probe(ctx, f.firstPage(), 1)
	if err != nil {
		f.probeErr = err
		return explainProbeError(err)
	}
	return pass("%s lists records (envelope %s)", f.client.BaseURL(), page.Envelope)
}

// explainRequestError names the failed step: name lookup, connection, TLS handshake or response.
func explainRequestError(base string, err error) Finding {
	var lookup *net.DNSError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	curl := "curl -sv -o /dev/null " + base
	switch {
	case errors.As(err, &lookup):
		return fail("check [platform] base_url, then: nslookup "+lookup.Name, "the name %s has no address: %s", lookup.Name, lookup.Err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fail("check host and port of [platform] base_url, then: "+curl, "nothing listens there: %v", err)
	case errors.As(err, &certificate):
		return fail("see the remedy of tls", "the platform's certificate is not trusted")
	case errors.As(err, &record):
		return fail("check scheme and port of [platform] base_url, then: "+curl, "%s does not speak TLS", base)
	case errors.Is(err, context.DeadlineExceeded):
		return fail("check the network, firewall and HTTPS_PROXY, then: "+curl, "no answer from %s within %s", base, requestTimeout)
	}
	return fail(curl, "no answer from %s: %v", base, err)
}

// explainProbeError explains why a platform that answers returned no record.
func explainProbeError(err error) Finding {
	const retryLater = "run \"solarmirror doctor\" again later; if it lasts, ask the platform's operators"
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
		return fail(retryLater, "asked for one record, the platform answers %s", statusOf(status.Status))
	case errors.As(err, &refused):
		return fail(retryLater, "asked for one record, the platform answers the error %q", refused.Message)
	case errors.As(err, &envelope):
		return fail("check [platform] base_url and envelope", "the answer has no known form: %v", err)
	case errors.As(err, &wait):
		return fail(fmt.Sprintf("wait %s, then lower [platform] requests_per_second", wait.Wait.Round(time.Second)), "the platform asks to be left alone for %s", wait.Wait.Round(time.Second))
	case errors.As(err, &body):
		return fail("check [platform] base_url", "the answer to a list is none: %s", body.Reason)
	case errors.Is(err, context.DeadlineExceeded):
		return fail(retryLater, "no record within %s", requestTimeout)
	}
	return fail(retryLater, "no record: %v", err)
}

func statusOf(code int) string { return fmt.Sprintf("%d %s", code, http.StatusText(code)) }

// warnBeforeExpiry is the remaining validity of a certificate below which the check warns; most
// certificates are renewed a month before they expire.
const warnBeforeExpiry = 14 * 24 * time.Hour

func checkTLS(_ context.Context, f *facts) Finding {
	base, err := url.Parse(f.client.BaseURL())
	if err != nil {
		return fail("check [platform] base_url", "%v", err)
	}
	if base.Scheme == "http" {
		return checkPlainHTTP(f.Config, base)
	}
	var untrusted *tls.CertificateVerificationError
	switch {
	case errors.As(f.responseErr, &untrusted):
		return fail(fmt.Sprintf("have it renewed, set this machine's clock, or install its authority; to look at it: openssl s_client -connect %s", hostPort(base)),
			"the certificate is not valid here: %v", untrusted.Err)
	case f.responseErr != nil:
		return skip("the platform was not reached")
	case f.response.certificate == nil:
		return skip("the connection shows no certificate")
	}
	ends := f.response.certificate.NotAfter
	left := ends.Sub(f.response.localTime)
	text := fmt.Sprintf("the certificate is valid for %d more days, until %s", int(left.Hours()/24), ends.UTC().Format(time.DateOnly))
	if left < warnBeforeExpiry {
		return warn("tell the platform's operators to renew it", "%s", text)
	}
	return pass("%s", text)
}

// checkPlainHTTP accepts http on this machine. [setup.Client] refuses it elsewhere, but for a mirror
// that is bound to that platform already.
func checkPlainHTTP(c config.Config, base *url.URL) Finding {
	remedy := fmt.Sprintf("set [platform] base_url to https://%s", base.Host)
	switch {
	case !c.PlainHTTP():
		return pass("plain http, which does not leave this machine")
	case c.TokenInClear():
		return fail(remedy+", or allow_plain_http = true", "plain http: the token and all data travel in clear; the next version refuses this")
	}
	return warn(remedy, "plain http: the token and all data travel in clear")
}

func hostPort(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	return net.JoinHostPort(u.Hostname(), "443")
}

// Limits of the difference between the platform's clock and this machine's. Watermarks use the
// earlier of both, so a small difference costs nothing; a day would change the date.
const (
	ignoredSkew = 2 * time.Second // a Date header has whole seconds, and the answer took time
	warnSkew    = time.Minute
	failSkew    = time.Hour
)

func checkClock(_ context.Context, f *facts) Finding {
	if f.response.date.IsZero() {
		return skip("the platform's answer has no Date")
	}
	skew := f.response.date.Sub(f.response.localTime)
	if skew.Abs() < ignoredSkew {
		return pass("both clocks agree")
	}
	text := fmt.Sprintf("the platform's clock is %s ahead of ours", skew.Round(time.Second))
	if skew < 0 {
		text = fmt.Sprintf("the platform's clock is %s behind ours", -skew.Round(time.Second))
	}
	const remedy = "set this machine's clock by NTP (timedatectl status); if it is right, tell the platform's operators"
	switch {
	case skew.Abs() > failSkew:
		return fail(remedy, "%s", text)
	case skew.Abs() > warnSkew:
		return warn(remedy, "%s", text)
	}
	return pass("%s", text)
}
