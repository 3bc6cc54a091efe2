package platform

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"
)

// Request says which request failed. It is part of every typed failure of this package.
type Request struct {
	Method   string // "" is GET
	Path     string // path and query below the base URL
	Attempts int    // how many times it was sent
}

func (r *Request) locate(path string, attempts int) { r.Path, r.Attempts = path, attempts }

// describe puts what happened between the request and the number of attempts.
func (r Request) describe(what string) string {
	attempts := "1 attempt"
	if r.Attempts != 1 {
		attempts = fmt.Sprintf("%d attempts", r.Attempts)
	}
	return fmt.Sprintf("%s: %s (%s)", r.name(), what, attempts)
}

func (r Request) name() string { return cmp.Or(r.Method, http.MethodGet) + " " + r.Path }

// located is a failure that can be told which request it belongs to, and can leave that out.
type located interface {
	locate(path string, attempts int)
	what() string // what happened, without the request and what to do about it
}

// Cause is what happened in a failure of this package, without the request and the remedy: the same text for every
// request that one fault stops. Of any other error it is the whole text.
func Cause(err error) string {
	var failure located
	if errors.As(err, &failure) {
		return failure.what()
	}
	return err.Error()
}

// Outage reports whether the platform cannot be reached or does not answer as it should: a fault that passes without
// a change on our side.
func Outage(err error) bool {
	var failure located
	var transport *TransportError
	var wait *RetryAfterError
	return errors.As(err, &failure) && transient(failure.(error)) || errors.As(err, &transport) || errors.As(err, &wait)
}

// AuthError means that the platform does not accept the token, or that there is no token that could be sent.
// Repeating the request is useless until the token changes.
type AuthError struct {
	Request
	Status int   // 401 or 403; 0 when nothing was sent for want of a usable token
	Err    error // why there is no usable token; nil when the platform refused it
}

func (e *AuthError) what() string {
	if e.Status == 0 {
		return fmt.Sprintf("nothing was sent, there is no usable token: %v", e.Err)
	}
	return "the platform refused the token with " + statusText(e.Status)
}

func (e *AuthError) Error() string {
	if e.Status == 0 {
		return fmt.Sprintf("%s: %s; set platform.token_file or SOLARMIRROR_PLATFORM_TOKEN", e.name(), e.what())
	}
	remedy := "put a valid token in platform.token_file or SOLARMIRROR_PLATFORM_TOKEN and run the command again"
	if e.Status == http.StatusForbidden {
		remedy = "ask the platform's administrator to give this token access, or set another in platform.token_file or SOLARMIRROR_PLATFORM_TOKEN"
	}
	return e.describe(e.what()) + "; " + remedy
}

func (e *AuthError) Unwrap() error { return e.Err }

// StatusError means that the platform's last answer had a status that is no success.
type StatusError struct {
	Request
	Status   int
	Location string // where a redirect pointed to, without query; redirects are not followed
	Message  string // the platform's own words, shortened; "" when it gave none
}

func (e *StatusError) what() string {
	said := ""
	if e.Message != "" {
		said = fmt.Sprintf(", saying %q", e.Message)
	}
	return "the platform answered " + statusText(e.Status) + said
}

func (e *StatusError) Error() string {
	text := e.describe(e.what())
	switch {
	case e.Location != "":
		return text + fmt.Sprintf("; it points to %s and redirects are not followed: if that is the platform's address, set platform.base_url to it", e.Location)
	case e.Status == http.StatusNotFound:
		return text + "; check platform.base_url"
	case e.Status == http.StatusTooManyRequests:
		return text + "; lower platform.requests_per_second"
	case e.Status >= http.StatusInternalServerError:
		return text + "; the fault is the platform's, run the command again later"
	}
	return text
}

// RefusedError means that the platform answered 200 with "error" set, which is a failure and not an empty page.
type RefusedError struct {
	Request
	Message string // the value of "error", shortened
}

func (e *RefusedError) what() string {
	return fmt.Sprintf("the platform answered 200 but with the error %q", e.Message)
}

func (e *RefusedError) Error() string { return e.describe(e.what()) + "; run the command again later" }

// BodyError means that a success had a body that is no complete JSON document holding a list.
type BodyError struct {
	Request
	Reason string // what is wrong with the body, without any of it
	Remedy string // what can be done about it; "" when only trying later is left
	Err    error  // the error met while reading; may be nil
}

func (e *BodyError) what() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %v", e.Reason, e.Err)
	}
	return e.Reason
}

func (e *BodyError) Error() string {
	return e.describe(e.what()) + "; " + cmp.Or(e.Remedy, "run the command again later")
}

func (e *BodyError) Unwrap() error { return e.Err }

// EnvelopeError means that a valid JSON answer does not hold its list where this client looks for one.
type EnvelopeError struct {
	Request
	Want string   // the envelope the configuration pins, or "auto"
	Saw  string   // the kind of answer: "an object", "a string", "the envelope \"data\"", …
	Keys []string // the member names seen, those inside "data" as "data.name"; names only, shortened
}

func (e *EnvelopeError) what() string {
	keys := ""
	if len(e.Keys) > 0 {
		keys = " with the keys " + strings.Join(e.Keys, ", ")
	}
	wanted := "no list where one is known to be"
	if e.Want != EnvelopeAuto {
		wanted = fmt.Sprintf("not the pinned envelope %q", e.Want)
	}
	return fmt.Sprintf("the answer is %s%s, %s", e.Saw, keys, wanted)
}

func (e *EnvelopeError) Error() string {
	return e.describe(e.what()) + "; check platform.base_url and platform.envelope"
}

// RetryAfterError means that the platform asked to be left alone for longer than the configuration allows waiting.
type RetryAfterError struct {
	Request
	Status int
	Wait   time.Duration // how long the platform asked for
	Max    time.Duration // the longest wait allowed
}

func (e *RetryAfterError) what() string {
	return fmt.Sprintf("the platform answered %s and asks to wait %v, longer than the %v allowed", statusText(e.Status), e.Wait, e.Max)
}

func (e *RetryAfterError) Error() string {
	return e.describe(e.what()) + "; run the command again after that, or raise platform.max_retry_wait"
}

// TransportError means that no complete answer arrived: no connection, a lost one, or a time-out.
type TransportError struct {
	Request
	Timeout time.Duration // the deadline of an attempt when that was what ended it, otherwise 0
	Err     error
}

func (e *TransportError) what() string {
	if e.Timeout > 0 {
		return fmt.Sprintf("no complete answer within %v", e.Timeout)
	}
	if op, ok := e.Err.(*net.OpError); ok {
		anyPort := *op
		anyPort.Source = nil // our own port is another one each time
		return anyPort.Error()
	}
	return fmt.Sprint(e.Err)
}

func (e *TransportError) Error() string {
	text := e.describe(e.what())
	if e.Timeout > 0 {
		return text + "; check the network, or raise platform.timeout"
	}
	if e.untrusted() {
		return text + "; check platform.base_url, and that the system trusts the platform's certificate authority"
	}
	return text + "; " + lookAtTheNetwork(e.Err)
}

// lookAtTheNetwork is what to do when there was no connection.
func lookAtTheNetwork(err error) string {
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		return "raise the limit of open files (`ulimit -n`)"
	}
	return "check the network and platform.base_url with \"solarmirror doctor\""
}

func (e *TransportError) Unwrap() error { return e.Err }

// untrusted reports whether the server's certificate was refused, which no repetition will mend.
func (e *TransportError) untrusted() bool {
	var cert *tls.CertificateVerificationError
	return errors.As(e.Err, &cert)
}

func statusText(status int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
}

// maxQuoted is how many bytes of the platform's own words an error may carry.
const maxQuoted = 200

// quotable makes an excerpt of the platform's words and cuts the token out of them.
func quotable(text, token string) string { return excerpt(withoutToken(text, token)) }

func withoutToken(text, token string) string {
	if token == "" {
		return text
	}
	return strings.ReplaceAll(text, token, "[token]")
}

// excerpt is as much of the platform's own words as an error may carry: errors are logged and kept.
func excerpt(text string) string { return shorten(withoutPersonalData(text), maxQuoted) }

// shorten keeps at most limit bytes of text, valid UTF-8, and marks what was cut.
func shorten(text string, limit int) string {
	if len(text) <= limit {
		return strings.ToValidUTF8(text, "\uFFFD")
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}
