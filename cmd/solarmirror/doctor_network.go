package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"solarmirror/cmd/internal/status"
	"solarmirror/store"
	"solarmirror/sync/platform"
	"solarmirror/sync/pull"
)

func checkReachability(ctx context.Context, p *patient) finding {
	if p.contactErr != nil {
		return explainContact(p.client.BaseURL(), p.contactErr)
	}
	if p.tokenFault(ctx) != nil {
		return found("%s answers with status %d; no record was asked for, since there is no token", p.client.BaseURL(), p.contact.status)
	}
	page, err := p.probe(ctx, p.firstPage(), 1)
	if err != nil {
		return explainProbe(err)
	}
	return found("%s lists records (envelope %s)", p.client.BaseURL(), page.Envelope)
}

// explainContact says how far the first contact came: to the name, the port, the handshake or the answer.
func explainContact(base string, err error) finding {
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	look := "curl -sv -o /dev/null " + base
	switch {
	case errors.As(err, &name):
		return failure("check [platform] base_url, then: nslookup "+name.Name, "the name %s has no address: %s", name.Name, name.Err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return failure("check host and port of [platform] base_url, then: "+look, "nothing listens there: %v", err)
	case errors.As(err, &certificate):
		return failure("see the remedy of tls", "the platform's certificate is not trusted")
	case errors.As(err, &record):
		return failure("check scheme and port of [platform] base_url, then: "+look, "%s does not speak TLS", base)
	case errors.Is(err, context.DeadlineExceeded):
		return failure("check the network, firewall and HTTPS_PROXY, then: "+look, "no answer from %s within %s", base, networkDeadline)
	}
	return failure(look, "no answer from %s: %v", base, err)
}

// explainProbe says why no record came from a platform that can be reached.
func explainProbe(err error) finding {
	const unwilling = "run \"solarmirror doctor\" again later; if it lasts, ask the platform's operators"
	var auth *platform.AuthError
	var status *platform.StatusError
	var refused *platform.RefusedError
	var envelope *platform.EnvelopeError
	var wait *platform.RetryAfterError
	var body *platform.BodyError
	switch {
	case errors.As(err, &auth) && auth.Status == 0:
		return failure("set SOLARMIRROR_PLATFORM_TOKEN, or what is in the token file, to the bare token on one line", "the token cannot be sent: %v", auth.Err)
	case errors.As(err, &auth):
		return failure("set SOLARMIRROR_PLATFORM_TOKEN, or what is in the token file, to a valid token, or have the platform's administrator give this one access",
			"the platform refuses the token with %s", statusOf(auth.Status))
	case errors.As(err, &status) && status.Location != "":
		return failure("if that is the platform, set [platform] base_url to it", "the platform points to %s, and redirects are not followed", status.Location)
	case errors.As(err, &status) && status.Status == http.StatusNotFound:
		return failure("check [platform] base_url, which ends before /api/v2", "there is no %s", status.Path)
	case errors.As(err, &status):
		return failure(unwilling, "asked for one record, the platform answers %s", statusOf(status.Status))
	case errors.As(err, &refused):
		return failure(unwilling, "asked for one record, the platform answers the error %q", refused.Message)
	case errors.As(err, &envelope):
		return failure("check [platform] base_url and envelope", "the answer has no known form: %v", err)
	case errors.As(err, &wait):
		return failure(fmt.Sprintf("wait %s, then lower [platform] requests_per_second", wait.Wait.Round(time.Second)), "the platform asks to be left alone for %s", wait.Wait.Round(time.Second))
	case errors.As(err, &body):
		return failure("check [platform] base_url", "the answer to a list is none: %s", body.Reason)
	case errors.Is(err, context.DeadlineExceeded):
		return failure(unwilling, "no record within %s", networkDeadline)
	}
	return failure(unwilling, "no record: %v", err)
}

func statusOf(code int) string { return fmt.Sprintf("%d %s", code, http.StatusText(code)) }

// shortLife is how long before its end a certificate is worth a warning; most are renewed a month ahead.
const shortLife = 14 * 24 * time.Hour

func checkTLS(_ context.Context, p *patient) finding {
	base, err := url.Parse(p.client.BaseURL())
	if err != nil {
		return failure("check [platform] base_url", "%v", err)
	}
	if base.Scheme == "http" {
		return checkPlain(base)
	}
	var untrusted *tls.CertificateVerificationError
	switch {
	case errors.As(p.contactErr, &untrusted):
		return failure(fmt.Sprintf("have it renewed, set this machine's clock, or install its authority; to look at it: openssl s_client -connect %s", hostPort(base)),
			"the certificate is not valid here: %v", untrusted.Err)
	case p.contactErr != nil:
		return leftOut("the platform was not reached")
	case p.contact.certificate == nil:
		return leftOut("the connection shows no certificate")
	}
	ends := p.contact.certificate.NotAfter
	left := ends.Sub(p.contact.ours)
	text := fmt.Sprintf("the certificate is valid for %d more days, until %s", int(left.Hours()/24), ends.UTC().Format(time.DateOnly))
	if left < shortLife {
		return warning("tell the platform's operators to renew it", "%s", text)
	}
	return found("%s", text)
}

// checkPlain judges a platform without TLS: the token stays on this machine, or travels for all to see.
func checkPlain(base *url.URL) finding {
	ip := net.ParseIP(base.Hostname())
	if base.Hostname() == "localhost" || ip != nil && ip.IsLoopback() {
		return found("plain http, which does not leave this machine")
	}
	return warning(fmt.Sprintf("set [platform] base_url to https://%s", base.Host), "plain http: the token and all data travel in clear")
}

func hostPort(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	return net.JoinHostPort(u.Hostname(), "443")
}

// How far the platform's clock and ours may be apart. Watermarks take the earlier of both, so a little costs nothing; a day
// would be another date.
const (
	skewUnseen = 2 * time.Second // a Date has whole seconds, and the answer took its time
	skewWarned = time.Minute
	skewFailed = time.Hour
)

func checkClock(_ context.Context, p *patient) finding {
	if p.contact.date.IsZero() {
		return leftOut("the platform's answer has no Date")
	}
	skew := p.contact.date.Sub(p.contact.ours)
	if skew.Abs() < skewUnseen {
		return found("both clocks agree")
	}
	text := fmt.Sprintf("the platform's clock is %s ahead of ours", skew.Round(time.Second))
	if skew < 0 {
		text = fmt.Sprintf("the platform's clock is %s behind ours", -skew.Round(time.Second))
	}
	const remedy = "set this machine's clock by NTP (timedatectl status); if it is right, tell the platform's operators"
	switch {
	case skew.Abs() > skewFailed:
		return failure(remedy, "%s", text)
	case skew.Abs() > skewWarned:
		return warning(remedy, "%s", text)
	}
	return found("%s", text)
}

// checkDialect asks for a page the way a sync would.
func checkDialect(ctx context.Context, p *patient) finding {
	if bound := p.meta.BaseURL; bound != "" && bound != p.client.BaseURL() {
		other := &store.OtherPlatformError{Path: p.mirror.Path(), Have: bound, Want: p.client.BaseURL()}
		return failure("set [mirror] path to another file, or [platform] base_url back", "the mirror is another platform's: %s, not %s", other.Have, other.Want)
	}
	if p.tokenFault(ctx) != nil {
		return leftOut("there is no token to ask with")
	}
	remembered := pull.ParseDialect(p.meta.Dialect)
	words := status.DialectOf(p.meta).String()
	page, err := p.probe(ctx, p.firstPage(), remembered.Limit)
	var status *platform.StatusError
	var refused *platform.RefusedError
	const remedy = "solarmirror sync, which finds it anew"
	switch {
	case errors.As(err, &status), errors.As(err, &refused):
		return warning(remedy, "%s: such a page is refused now: %v", words, err)
	case err != nil:
		return leftOut("no page came; see reachability")
	case len(page.Records) > remembered.Limit:
		return warning(remedy, "%s: %d rows came", words, len(page.Records))
	case page.Envelope != remembered.Envelope:
		return found("%s; now answers as %s, which is read as well", words, page.Envelope)
	}
	return found("%s: still so", words)
}
