package platform

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// call is one List: one or more attempts at the same request.
type call struct {
	client   *Client
	list     string // the resource's name
	source   string // path and query below the base URL
	limit    int
	policy   RetryPolicy
	attempts int
	renewed  bool // the token source was asked again; it is asked once
}

// answer is what an attempt brought, before it is judged.
type answer struct {
	status     int
	header     http.Header
	body       []byte
	buffer     *bytes.Buffer // what body lies in, if that can be used again
	sentAt     time.Time     // by Config.Now
	serverDate time.Time     // zero when unknown
	took       time.Duration // 0: nothing was sent
}

// run attempts the request until it succeeds, fails for good, or the policy's attempts are used up.
func (c *call) run(ctx context.Context) (*Page, error) {
	operation := func() (*Page, error) {
		page, err := c.attemptRenewing(ctx)
		if err != nil && !transient(err) {
			return nil, backoff.Permanent(err)
		}
		return page, err
	}
	notify := func(err error, wait time.Duration) {
		c.client.cfg.Log.Warn().Str("path", c.source).Int("attempt", c.attempts).Dur("wait_ms", max(wait, c.client.hold.remaining())).
			Str("cause", Cause(err)).Msg("request failed, trying again") // the line names the request, and the remedy is under way
	}
	page, err := backoff.RetryNotifyWithData(operation, c.policy.backOff(ctx), notify)
	if err == nil {
		return page, nil
	}
	if _, typed := err.(located); !typed {
		err = fmt.Errorf("GET %s: %w", c.source, err)
	}
	return nil, err
}

// attemptRenewing attempts once, and once more with a renewed token if the platform refuses the present one.
func (c *call) attemptRenewing(ctx context.Context) (*Page, error) {
	token, page, err := c.attempt(ctx)
	refused, ok := err.(*AuthError)
	if !ok || refused.Status != http.StatusUnauthorized || c.renewed {
		return page, err
	}
	c.renewed = true
	changed, renewErr := c.client.tokens.renew(ctx, token)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if renewErr != nil {
		c.client.cfg.Log.Warn().Str("path", c.source).AnErr("cause", renewErr).Msg("token refused, and no other to be had")
	}
	if !changed {
		return nil, err
	}
	_, page, err = c.attempt(ctx)
	return page, err
}

// attempt sends the request once and judges the answer. It returns the token it used, and fails with a typed failure
// or ctx's bare error.
func (c *call) attempt(ctx context.Context) (token string, page *Page, err error) {
	defer func() {
		if failure, ok := err.(located); ok {
			failure.locate(c.source, c.attempts)
		}
	}()
	token, err = c.client.tokens.current(ctx)
	if ctx.Err() != nil {
		return "", nil, ctx.Err()
	}
	if err != nil {
		return "", nil, &AuthError{Err: err}
	}
	got, err := c.exchange(ctx, token)
	if err == nil {
		page, err = c.judge(got, token)
	}
	if got.took > 0 {
		told := Exchange{Method: http.MethodGet, List: c.list, Status: got.status, Took: got.took, Attempt: c.attempts}
		if transient(err) {
			told.Failure = Cause(err)
		}
		c.client.cfg.Observe(told)
	}
	return token, page, err
}

// exchange waits for its turn, sends the request and reads the answer. After an error, what is known of the
// answer comes with it.
func (c *call) exchange(ctx context.Context, token string) (answer, error) {
	release, err := c.client.admit(ctx)
	if err != nil {
		return answer{}, err
	}
	defer release()
	c.attempts++

	timeout := c.client.cfg.Timeout
	attemptCtx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	started := time.Now()
	got, err := c.send(attemptCtx, token)
	got.took = time.Since(started)
	c.client.cfg.Log.Debug().Str("path", c.source).Int("status", got.status).Int("bytes", len(got.body)).
		Dur("took_ms", got.took).Int("attempt", c.attempts).AnErr("error", err).Msg("request")

	switch {
	case err == nil:
		return got, nil
	case ctx.Err() != nil:
		return got, ctx.Err()
	case attemptCtx.Err() != nil:
		return got, &TransportError{Timeout: timeout, Err: err}
	}
	if _, typed := err.(located); typed {
		return got, err
	}
	return got, &TransportError{Err: err}
}

// send does one HTTP exchange. After a fault in the body, what is known of the answer comes with the error.
func (c *call) send(ctx context.Context, token string) (answer, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.client.cfg.BaseURL+c.source, nil)
	if err != nil {
		return answer{}, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", c.client.cfg.UserAgent)
	got := answer{sentAt: c.client.cfg.Now().UTC()}
	response, err := c.client.transport.RoundTrip(request)
	if err != nil {
		return got, err
	}
	defer response.Body.Close()
	got.status, got.header = response.StatusCode, response.Header
	if date, err := http.ParseTime(response.Header.Get("Date")); err == nil {
		got.serverDate = date.UTC()
	}
	if !isSuccess(got.status) {
		// Only the platform's words are wanted of it, and there may be none: the status has said enough.
		got.body, _ = io.ReadAll(io.LimitReader(response.Body, maxErrorBody))
		return got, nil
	}
	got.buffer, err = readBody(response, c.client.cfg.MaxBody)
	got.body = got.buffer.Bytes()
	return got, err
}

// maxErrorBody is how much is read of an answer that is no success.
const maxErrorBody = 64 << 10

func isSuccess(status int) bool { return status >= 200 && status < 300 }

// bodies are buffers to read bodies into: new memory for each page would have to be cleared first.
var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// readBody reads a whole body of at most limit bytes, which are counted after decompression. After an error, what was read comes with it.
func readBody(response *http.Response, limit int64) (*bytes.Buffer, error) {
	buffer := bodies.Get().(*bytes.Buffer)
	buffer.Reset()
	if size := response.ContentLength; size > 0 && size <= limit {
		// Grow would at least double what is there, for a page that is a little longer than the one before.
		if need := int(size) + bytes.MinRead; need > buffer.Cap() {
			buffer = bytes.NewBuffer(make([]byte, 0, need+need/8))
		}
	}
	_, err := buffer.ReadFrom(io.LimitReader(response.Body, limit+1))
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return buffer, &BodyError{Reason: fmt.Sprintf("the body was cut off after %d bytes", buffer.Len())}
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.As(err, &corrupt):
		return buffer, &BodyError{Reason: "the body cannot be decompressed", Err: err}
	case err == nil && int64(buffer.Len()) > limit:
		return buffer, &BodyError{
			Reason: fmt.Sprintf("the body is longer than %d bytes", limit),
			Remedy: "lower platform.page_limit, or raise platform.max_body",
		}
	}
	return buffer, err
}

// judge turns an answer into a page or a failure, and obeys its Retry-After.
func (c *call) judge(got answer, token string) (*Page, error) {
	switch {
	case got.status == http.StatusUnauthorized, got.status == http.StatusForbidden:
		return nil, &AuthError{Status: got.status}
	case !isSuccess(got.status):
		return nil, c.judgeStatus(got, token)
	}
	found, err := parseList(got.body, c.client.cfg.Envelope, c.limit)
	if refused, ok := err.(*RefusedError); ok {
		refused.Message = quotable(refused.Message, token)
	}
	if err != nil {
		return nil, err
	}
	return &Page{
		Records: found.records, Envelope: found.kind, Total: found.total, HasTotal: found.hasTotal, TotalNote: found.note,
		Source: c.source, FetchedAt: got.sentAt, ServerDate: got.serverDate, Attempts: c.attempts, Bytes: len(got.body), buffer: got.buffer,
	}, nil
}

func (c *call) judgeStatus(got answer, token string) error {
	if transientStatus(got.status) {
		wait := retryAfter(got.header.Get("Retry-After"), got.serverDate, c.client.cfg.Now())
		if longest := c.client.cfg.MaxRetryWait; wait > longest {
			return &RetryAfterError{Status: got.status, Wait: wait, Max: longest}
		}
		c.client.hold.extend(wait)
	}
	failure := &StatusError{Status: got.status, Message: quotable(serverMessage(got.body), token)}
	if got.status < 400 {
		failure.Location = shorten(withoutToken(redirectTarget(got.header.Get("Location")), token), maxQuoted)
	}
	return failure
}

// redirectTarget returns an address without what may be secret in it: user, query and fragment.
func redirectTarget(location string) string {
	u, err := url.Parse(location)
	if err != nil {
		return ""
	}
	u.User, u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = nil, "", false, "", ""
	return u.String()
}
