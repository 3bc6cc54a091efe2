package main

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"sync"
	"time"
)

// publishBesideSync measures two re-syncs in which every record has changed, and during the second of which the mirror is published, and
// compares how long the records took that were written until it was.
func (b *bench) publishBesideSync(ctx context.Context, size int) error {
	alone, err := b.resyncAll(ctx, size, func() {})
	if err != nil {
		return err
	}
	var publishing sync.WaitGroup
	var published outcome
	var ended time.Time
	var publishErr error
	beside, err := b.resyncAll(ctx, size, func() {
		publishing.Go(func() {
			published, publishErr = measureCommand(b.program(ctx, b.file(ours), unlimited, "publish"))
			ended = time.Now()
		})
	})
	publishing.Wait()
	if err := errors.Join(err, publishErr, removeDatabase(b.file("published"))); err != nil {
		return err
	}
	records := beside.recordsAt(ended)
	lost := 1 - alone.until(records).Seconds()/beside.until(records).Seconds()
	b.decide(size, "a sync at full speed loses 20 % of it at most to `publish`",
		fmt.Sprintf("%.0f %% of %s while %d records were written", 100*lost, seconds(published.Load.Wall), records), lost <= 0.2)
	b.decide(size, "RSS of `publish` under 128 MiB", mebibytes(published.PeakRSS), published.PeakRSS < 128<<20)
	return nil
}

// resyncAll has every record change and be read again. It calls first after the first commit.
func (b *bench) resyncAll(ctx context.Context, size int, first func()) (p pace, err error) {
	b.version++
	if err := b.platform.set(setting{Records: size, Every: 1, Version: b.version}); err != nil {
		return nil, err
	}
	us, _ := findContender(ours)
	_, err = measure(ctx, us, task{URL: b.platform.URL, DB: b.file(ours)}, func(records int64) {
		if p = append(p, commit{time.Now(), records}); len(p) == 1 {
			first()
		}
	})
	return p, err
}

// pace is how a sync went on: its commits.
type pace []commit

type commit struct {
	at      time.Time
	records int64 // committed until then
}

// recordsAt returns how many were committed at a time, of the last one if the sync was over by then.
func (p pace) recordsAt(at time.Time) int64 {
	n := sort.Search(len(p), func(i int) bool { return p[i].at.After(at) })
	return p[max(n-1, 1)].records
}

// until returns how long after the first commit so many records were committed.
func (p pace) until(records int64) time.Duration {
	n := sort.Search(len(p), func(i int) bool { return p[i].records >= records })
	return p[min(n, len(p)-1)].at.Sub(p[0].at)
}

// publishBesideSlowSync measures how much of its limit a sync of a platform that allows few requests makes use of while the mirror is
// published. One that is over before the publishing tells nothing.
func (b *bench) publishBesideSlowSync(ctx context.Context, size int) (err error) {
	b.version++
	if err := b.platform.set(setting{Records: size, Every: 1, Version: b.version, Latency: latency}); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := b.program(ctx, b.file(ours), perSecond, "sync", "--full", "orders", "budgets")
	if err := cmd.Start(); err != nil {
		return err
	}
	over := make(chan struct{})
	go func() {
		_ = cmd.Wait() // it is killed at the end
		close(over)
	}()
	time.Sleep(10 * latency) // it is under way by then
	before, err := b.platform.traffic()
	if err != nil {
		return err
	}
	published, err := measureCommand(b.program(ctx, b.file(ours), unlimited, "publish"))
	if err := errors.Join(err, removeDatabase(b.file("published"))); err != nil {
		return err
	}
	after, err := b.platform.traffic()
	if err != nil {
		return err
	}
	select {
	case <-over:
		return nil
	default:
	}
	cancel()
	<-over
	share := float64(after.Requests-before.Requests) / after.Last.Sub(before.Last).Seconds() / perSecond
	b.decide(size, "a sync at 5 requests/s loses 20 % of that at most to `publish`",
		fmt.Sprintf("%.0f %% of %s", 100*(1-share), seconds(published.Load.Wall)), share >= 0.8)
	return nil
}
