package platform

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"
)

// Company is what POST /company takes for one company. Empty fields are not sent.
type Company struct {
	Name                string         `json:"name,omitempty"`
	Surname             string         `json:"surname,omitempty"`
	Email               string         `json:"email,omitempty"`
	Password            string         `json:"password,omitempty"`
	CPF                 string         `json:"CPF,omitempty"`
	CNPJ                string         `json:"CNPJ,omitempty"`
	Address             CompanyAddress `json:"address,omitzero"`
	Cellphone           string         `json:"cellphone,omitempty"`
	Responsible         string         `json:"responsible,omitempty"`
	HasStateInscription string         `json:"hasStateInscription,omitempty"`
	StateInscription    string         `json:"stateInscription,omitempty"`
}

// CompanyAddress is where a company is.
type CompanyAddress struct {
	CEP          string `json:"CEP,omitempty"`
	State        string `json:"state,omitempty"`
	City         string `json:"city,omitempty"`
	Patio        string `json:"patio,omitempty"` // street name
	Number       string `json:"number,omitempty"`
	Neighborhood string `json:"neighborhood,omitempty"`
	Complement   string `json:"complement,omitempty"`
}

// Format prints no field, whatever the verb: one of them is a password, the others are personal data.
func (c Company) Format(f fmt.State, _ rune) { fmt.Fprint(f, "company(…)") }

// Outcome says what is known about a company after CreateCompany.
type Outcome string

// The outcomes. What is neither clear nor listed is in doubt. A web page is not the platform's
// answer: a proxy wrote it, before or after the platform had the request. 429 alone is clear in any
// form: nothing says it after the fact.
//
//	2xx, valid JSON, success true, no error            Created
//	success false (2xx); 400, 409, 422 with the
//	platform's JSON, success false or an error         Rejected
//	no connection was made, to the platform or through
//	a proxy (CONNECT); begin refused                   Unsent
//	429                                                Throttled
//	401, 403, no usable token                          Unauthorized
//	a web page, time-out, reset, cut or unreadable
//	answer, other statuses (1xx, 3xx, 404, 407, 408,
//	5xx, …), an answer that contradicts itself or has
//	a key twice                                        Doubtful
const (
	Created      Outcome = "done"
	Rejected     Outcome = "rejected"
	Unsent       Outcome = "unsent"
	Throttled    Outcome = "throttled"
	Unauthorized Outcome = "unauthorized"
	Doubtful     Outcome = "ambiguous"
)

// CreateResult is the outcome of one CreateCompany.
type CreateResult struct {
	Outcome Outcome
	Status  int           // of the answer; 0 without one
	Wait    time.Duration // how long the platform asks to be left alone, of Throttled; 0 when it did not say
	Err     error         // why it is not Created; holds nothing of what was sent
}

// cancelGrace is how long an answer is still waited for after ctx ended: to give a POST up half-way leaves a doubt.
const cancelGrace = 8 * time.Second

// maxCompanyAnswer bounds the answer to a POST, in bytes.
const maxCompanyAnswer = 1 << 20

// CreateCompany asks the platform to create one company, and never asks twice: no retries, no redirects, no idempotency header (it would
// let the transport send a POST again), and a connection of its own, since one that was kept alive may turn out dead
// after the request has gone. It waits for its place among all calls; when nothing but dialling is left it calls begin, and an error
// from that ends the call with nothing sent.
func (c *Client) CreateCompany(ctx context.Context, company Company, begin func() error) CreateResult {
	body, err := json.Marshal(map[string][]Company{"create": {company}})
	if err != nil {
		return CreateResult{Outcome: Unsent, Err: errors.New("the company cannot be written as JSON")} // the cause could quote it
	}
	token, err := c.tokens.current(ctx)
	if err != nil && ctx.Err() == nil {
		return CreateResult{Outcome: Unauthorized, Err: &AuthError{Request: Request{Method: http.MethodPost, Path: companyPath}, Err: err}}
	}
	release, err := c.admit(ctx)
	if err != nil {
		return CreateResult{Outcome: Unsent, Err: err}
	}
	defer release()
	if err := begin(); err != nil {
		return CreateResult{Outcome: Unsent, Err: err}
	}
	p := &post{client: c, token: token, secrets: company.secrets(token)}
	started := time.Now()
	result := p.send(ctx, body)
	c.cfg.Observe(Exchange{Method: http.MethodPost, Status: result.Status, Took: time.Since(started), Attempt: 1})
	c.cfg.Log.Debug().Str("path", companyPath).Int("status", result.Status).Str("outcome", string(result.Outcome)).Msg("request")
	if result.Status == http.StatusUnauthorized {
		// The token may have been renewed; the next call shall have the new one.
		_, _ = c.tokens.renew(ctx, token)
	}
	return result
}

const companyPath = apiPrefix + "/company"

// post is one POST under way.
type post struct {
	client  *Client
	token   string
	secrets []string // cut out of whatever the platform says
}

// send makes the one exchange. It ends with the client's time-out, or some time after ctx.
func (p *post) send(ctx context.Context, body []byte) CreateResult {
	timeout := p.client.cfg.Timeout
	exchange, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		grace := time.NewTimer(cancelGrace)
		defer grace.Stop()
		select {
		case <-grace.C:
			cancel()
		case <-exchange.Done():
		}
	})()
	var connected atomic.Bool
	traced := httptrace.WithClientTrace(exchange, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	request, err := http.NewRequestWithContext(traced, http.MethodPost, p.client.cfg.BaseURL+companyPath, bytes.NewReader(body))
	if err != nil {
		return p.result(Unsent, 0, "%v", err)
	}
	request.GetBody = nil // no second body, no second POST
	request.Close = true
	request.Header.Set("Authorization", "Bearer "+p.token)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", p.client.cfg.UserAgent)
	transport := newPostTransport(timeout)
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(request)
	switch {
	case err != nil && !connected.Load():
		return p.result(Unsent, 0, "no connection: %s; %s", p.scrub(err.Error()), lookAtTheNetwork(err))
	case err != nil:
		return p.result(Doubtful, 0, "no answer: %s", p.cause(exchange, err))
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxCompanyAnswer+1))
	cut := ""
	if err != nil {
		cut = p.cause(exchange, err)
	}
	return p.judge(response, answer, cut)
}

// cause says what ended an exchange: the deadline, where that was it, or the network, which may quote what the server sent.
func (p *post) cause(exchange context.Context, err error) string {
	if errors.Is(exchange.Err(), context.DeadlineExceeded) {
		return fmt.Sprintf("none within %v", p.client.cfg.Timeout)
	}
	return shorten(p.scrub(err.Error()), maxQuoted)
}

// newPostTransport returns a transport for one POST: HTTP/1 only, since HTTP/2 has rules of its own for sending again.
func newPostTransport(timeout time.Duration) *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: timeout}).DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		TLSNextProto:           map[string]func(string, *tls.Conn) http.RoundTripper{},
		TLSHandshakeTimeout:    timeout,
		DisableKeepAlives:      true,
		MaxResponseHeaderBytes: 1 << 20,
		OnProxyConnectResponse: func(_ context.Context, proxy *url.URL, _ *http.Request, answer *http.Response) error {
			if isSuccess(answer.StatusCode) {
				return nil
			}
			return fmt.Errorf("the proxy %s answered %s; check HTTPS_PROXY and NO_PROXY", proxy.Host, statusText(answer.StatusCode))
		},
	}
}

// judge turns an answer into an outcome; cut is what ended the reading of its body too early, if so.
func (p *post) judge(response *http.Response, body []byte, cut string) CreateResult {
	status := response.StatusCode
	verdict, fault := readCreation(body)
	switch {
	case status == http.StatusTooManyRequests:
		return p.throttled(response)
	case bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")):
		return p.result(Doubtful, status, "the answer %s is a web page: a proxy or gateway wrote it, and the platform may have created the company", statusText(status))
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return CreateResult{Outcome: Unauthorized, Status: status, Err: &AuthError{Request: Request{Method: http.MethodPost, Path: companyPath, Attempts: 1}, Status: status}}
	case status == http.StatusBadRequest, status == http.StatusConflict, status == http.StatusUnprocessableEntity:
		switch {
		case cut != "" || fault != "":
		case verdict.success != nil && *verdict.success:
			return p.result(Doubtful, status, "the answer %s contradicts itself: it says success", statusText(status))
		case verdict.success != nil || verdict.hasError:
			return p.result(Rejected, status, "the platform refused it with %s%s", statusText(status), p.quote(body))
		}
		return p.result(Doubtful, status, "the answer %s is not in the platform's form: a proxy or gateway may have written it", statusText(status))
	case !isSuccess(status):
		return p.result(Doubtful, status, "the platform answered %s%s", statusText(status), p.quote(body))
	case cut != "":
		return p.result(Doubtful, status, "the answer %s was cut off: %s", statusText(status), cut)
	case fault != "":
		return p.result(Doubtful, status, "the answer %s cannot be read: %s", statusText(status), fault)
	case verdict.success == nil:
		return p.result(Doubtful, status, "the answer %s does not say whether it succeeded%s", statusText(status), p.quote(body))
	case !*verdict.success:
		return p.result(Rejected, status, "the platform answered %s without success%s", statusText(status), p.quote(body))
	case verdict.hasError:
		return p.result(Doubtful, status, "the answer %s contradicts itself: it says success and holds an error%s", statusText(status), p.quote(body))
	}
	return CreateResult{Outcome: Created, Status: status}
}

func (p *post) throttled(response *http.Response) CreateResult {
	cfg := p.client.cfg
	serverDate, _ := http.ParseTime(response.Header.Get("Date"))
	wait := retryAfter(response.Header.Get("Retry-After"), serverDate, cfg.Now())
	p.client.hold.extend(min(wait, cfg.MaxRetryWait))
	result := p.result(Throttled, response.StatusCode, "the platform answered %s", statusText(response.StatusCode))
	result.Wait = wait
	return result
}

func (p *post) result(outcome Outcome, status int, format string, args ...any) CreateResult {
	return CreateResult{Outcome: outcome, Status: status, Err: fmt.Errorf(format, args...)}
}

// quote returns the platform's own words, ready to follow a sentence; "" when it has none.
func (p *post) quote(body []byte) string {
	// Cut before shortening: half a password is no match for a whole one.
	words := excerpt(p.scrub(serverMessage(body)))
	if words == "" {
		return ""
	}
	return fmt.Sprintf(", saying %q", words)
}
