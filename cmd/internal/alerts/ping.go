package alerts

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// ping is one sign of life, in the manner of healthchecks.io: /start when a job begins, nothing
// when it has succeeded, /fail with the cause when it has failed.
type ping struct{ job, signal, body string }

// pinger sends pings in their order. None is kept beyond the process, and of those that wait
// because the receiver hangs only the last two of each job: older ones are no sign of life.
type pinger struct {
	Options
	ended sync.WaitGroup
	wake  chan struct{}
	ctx   context.Context
	stop  context.CancelFunc

	mu      sync.Mutex // guards what follows
	waiting []ping
	last    bool // nothing more comes
}

func startPinger(o Options) *pinger {
	p := &pinger{Options: o, wake: make(chan struct{}, 1)}
	p.ctx, p.stop = context.WithCancel(context.Background())
	p.ended.Go(p.work)
	return p
}

func (p *pinger) add(next ping) {
	p.mu.Lock()
	of := 0
	for i := len(p.waiting) - 1; i >= 0; i-- {
		if p.waiting[i].job != next.job {
			continue
		}
		if of++; of == 2 {
			p.waiting = append(p.waiting[:i], p.waiting[i+1:]...)
		}
	}
	p.waiting = append(p.waiting, next)
	p.mu.Unlock()
	p.rouse()
}

func (p *pinger) rouse() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// end returns when all is sent, or the time is over.
func (p *pinger) end(within time.Duration) {
	p.mu.Lock()
	p.last = true
	p.mu.Unlock()
	p.rouse()
	timer := time.AfterFunc(within, p.stop)
	p.ended.Wait()
	timer.Stop()
	p.stop()
}

func (p *pinger) next() (next ping, some, last bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) == 0 {
		return ping{}, false, p.last
	}
	next = p.waiting[0]
	p.waiting = p.waiting[1:]
	return next, true, false
}

func (p *pinger) work() {
	for {
		next, some, last := p.next()
		switch {
		case p.ctx.Err() != nil, last:
			return
		case some:
			if err := p.send(p.ctx, next); err != nil {
				p.Log.Warn().Str("job", next.job).AnErr("cause", err).Msg("the ping was not taken")
			}
		default:
			select {
			case <-p.wake:
			case <-p.ctx.Done():
			}
		}
	}
}

// send tries three times, all of them within sendTime.
func (p *pinger) send(ctx context.Context, next ping) error {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	address, err := p.Ping(ctx)
	if err != nil || address == "" {
		return err
	}
	waits := backoff.NewExponentialBackOff(backoff.WithInitialInterval(500 * time.Millisecond))
	return backoff.Retry(func() error { return post(ctx, address, next) }, backoff.WithContext(backoff.WithMaxRetries(waits, 2), ctx))
}

// post sends one ping.
func post(ctx context.Context, address string, next ping) error {
	target, err := url.Parse(strings.ReplaceAll(address, "{job}", slug(next.job)))
	if err != nil {
		return CheckPing(address)
	}
	target = target.JoinPath(next.signal)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target.String(), strings.NewReader(next.body))
	if err != nil {
		return CheckPing(address)
	}
	answer, err := client.Do(request)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("no answer within %v", sendTime)
		}
		return errors.New(harmless(err, address))
	}
	_ = answer.Body.Close()
	if answer.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("the address to ping answered %s", answer.Status)
	}
	return nil
}

// slug is a job as a part of an address.
func slug(job string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '-'
	}, strings.ToLower(job))
}
