package platform

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// backOff returns the waits of one call. It is neither shared nor reused: a BackOff is not goroutine-safe. The elapsed
// time is not limited, since the number of attempts is.
func (p RetryPolicy) backOff(ctx context.Context) backoff.BackOff {
	waits := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(p.Initial),
		backoff.WithMaxInterval(p.Max),
		backoff.WithMultiplier(2),
		backoff.WithMaxElapsedTime(0),
	)
	return backoff.WithContext(backoff.WithMaxRetries(waits, uint64(p.Attempts-1)), ctx)
}

// transient reports whether the same request may well succeed when it is sent again. An attempt's own time-out is a
// TransportError and transient; the caller's ended context is neither.
func transient(err error) bool {
	switch err := err.(type) {
	case *StatusError:
		return transientStatus(err.Status)
	case *RefusedError, *BodyError:
		return true
	case *TransportError:
		return !err.untrusted()
	}
	return false
}

func transientStatus(status int) bool {
	return status == http.StatusRequestTimeout || status == http.StatusTooManyRequests || status >= http.StatusInternalServerError
}

// retryAfter reads the header Retry-After: seconds, or a date counted from the server's own Date when there is one. 0
// stands for none, for one in the past and for garbage.
func retryAfter(header string, serverDate, now time.Time) time.Duration {
	header = strings.TrimSpace(header)
	if header != "" && strings.Trim(header, "0123456789") == "" {
		seconds, err := strconv.ParseInt(header, 10, 64)
		if err != nil || seconds > int64(math.MaxInt64/time.Second) {
			return math.MaxInt64
		}
		return time.Duration(seconds) * time.Second
	}
	date, err := http.ParseTime(header)
	if err != nil {
		return 0
	}
	if !serverDate.IsZero() {
		now = serverDate
	}
	return max(0, date.Sub(now))
}

// hold keeps all requests of a client back for as long as the platform asked. It goes by the machine's monotonic clock
// and not by Config.Now: what the platform named is a length of time.
type hold struct {
	mu    sync.Mutex
	until time.Time
}

// extend holds for wait from now on, unless it already holds for longer.
func (h *hold) extend(wait time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if until := time.Now().Add(wait); until.After(h.until) {
		h.until = until
	}
}

func (h *hold) remaining() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Until(h.until)
}

// wait returns when nothing is held any more, also when the hold was extended meanwhile, or with ctx's error.
func (h *hold) wait(ctx context.Context) error {
	for {
		left := h.remaining()
		if left <= 0 {
			return ctx.Err()
		}
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}
