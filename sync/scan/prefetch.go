package scan

import (
	"context"
	"slices"
	"sync"
	"time"

	"solarmirror/sync/platform"
)

// prefetch fetches the spans that come next, and identifies their records, while the present one is
// being looked at. It belongs to one goroutine.
type prefetch struct {
	Source
	slots chan struct{} // one entry per span being fetched
	// beforeWait is called before get waits for a page, unless that comes shortly; its error
	// becomes get's. Nil when nobody wants to know.
	beforeWait func() error

	queue   []*future
	ctx     context.Context // of everything in the queue
	cancel  context.CancelFunc
	last    chan struct{} // begun of the last future of the queue that was started; nil when none was
	running sync.WaitGroup
}

// future is a span on its way.
type future struct {
	span  span
	begun chan struct{} // closed when it has its slot, which is when the next span may have one
	done  chan struct{}
	page  *platform.Page
	rows  []Record // of the page
	err   error
}

// get returns the page of a span and its records, and has those that are planned after it fetched
// meanwhile. What was fetched ahead for another plan is thrown away.
func (p *prefetch) get(ctx context.Context, at span, then []span) (*platform.Page, []Record, error) {
	plan := append([]span{at}, then...)
	if !p.follows(plan) {
		p.discard()
	}
	if p.cancel == nil {
		p.ctx, p.cancel = context.WithCancel(ctx)
	}
	for _, s := range plan[len(p.queue):] {
		p.start(s)
	}
	first := p.queue[0]
	p.queue = p.queue[1:]
	if err := p.wait(first); err != nil {
		return nil, nil, err
	}
	return first.page, first.rows, first.err
}

// shortWait is how long a wait may be that is not worth a commit: each costs a fixed amount for
// every table.
const shortWait = 20 * time.Millisecond

// wait waits for a page.
func (p *prefetch) wait(f *future) error {
	select {
	case <-f.done:
		return nil
	default:
	}
	if p.beforeWait != nil {
		select {
		case <-f.done:
			return nil
		case <-time.After(shortWait):
		}
		if err := p.beforeWait(); err != nil {
			return err
		}
	}
	<-f.done
	return nil
}

// follows says whether what is under way is the beginning of the plan.
func (p *prefetch) follows(plan []span) bool {
	if len(p.queue) > len(plan) {
		return false
	}
	return slices.EqualFunc(p.queue, plan[:len(p.queue)], func(f *future, s span) bool { return f.span == s })
}

// start has a span fetched after those before it have begun, when a slot is free.
func (p *prefetch) start(s span) {
	f := &future{span: s, begun: make(chan struct{}), done: make(chan struct{})}
	ready := p.last
	p.queue, p.last = append(p.queue, f), f.begun
	ctx := p.ctx
	p.running.Go(func() {
		defer close(f.done)
		if ready != nil {
			<-ready
		}
		p.slots <- struct{}{}
		close(f.begun)
		if f.err = ctx.Err(); f.err == nil {
			f.page, f.err = p.fetch(ctx, s)
		}
		<-p.slots
		if f.err != nil {
			return
		}
		f.rows = make([]Record, len(f.page.Records))
		for i, raw := range f.page.Records {
			f.rows[i] = p.Identify(raw)
		}
	})
}

func (s Source) fetch(ctx context.Context, at span) (*platform.Page, error) {
	if at.way > 0 {
		return s.Again(ctx, at.way, at.page, at.limit)
	}
	return s.Fetch(ctx, at.page, at.limit)
}

// discard cancels what is under way and waits for it to end.
func (p *prefetch) discard() {
	if p.cancel == nil {
		return
	}
	p.cancel()
	p.running.Wait()
	p.queue, p.last, p.cancel = nil, nil, nil
}
