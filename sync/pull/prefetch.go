package pull

import (
	"context"
	"slices"
	"sync"

	"solarmirror/sync/platform"
)

// prefetch fetches the spans that come next while the present one is being looked at. It belongs to one goroutine.
type prefetch struct {
	fetch func(ctx context.Context, s span) (*platform.Page, error)
	// beforeWait is called before get waits for a page; its error becomes get's. Nil when nobody wants to know.
	beforeWait func() error

	queue   []*future
	ctx     context.Context // of everything in the queue
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// future is a span on its way.
type future struct {
	span span
	done chan struct{}
	page *platform.Page
	err  error
}

// get returns the page of a span, and has those that are planned after it fetched meanwhile. What was fetched ahead for
// another plan is thrown away.
func (p *prefetch) get(ctx context.Context, at span, then []span) (*platform.Page, error) {
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
		return nil, err
	}
	return first.page, first.err
}

// wait waits for a page.
func (p *prefetch) wait(f *future) error {
	select {
	case <-f.done:
		return nil
	default:
	}
	if p.beforeWait != nil {
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

func (p *prefetch) start(s span) {
	f := &future{span: s, done: make(chan struct{})}
	p.queue = append(p.queue, f)
	ctx := p.ctx
	p.running.Go(func() {
		f.page, f.err = p.fetch(ctx, s)
		close(f.done)
	})
}

// discard cancels what is under way and waits for it to end.
func (p *prefetch) discard() {
	if p.cancel == nil {
		return
	}
	p.cancel()
	p.running.Wait()
	p.queue, p.cancel = nil, nil
}
