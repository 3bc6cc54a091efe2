package alerts

import (
	"context"
	"slices"
	"sync"
	"time"
)

const (
	keepFor   = 3 * day          // an older message tells nobody anything
	leaseTime = 30 * time.Second // longer than a round of sending takes
)

// sendAll sends what is queued to each address, the addresses at the same time. It takes no longer
// than sendTime.
func (w *Watcher) sendAll() {
	queue, mine := w.lease()
	if !mine {
		w.tryAt = time.Now().Add(w.waits.InitialInterval)
		return
	}
	ctx, cancel := context.WithTimeout(w.ctx, sendTime)
	defer cancel()
	addresses, err := w.Addresses(ctx)
	if err != nil {
		w.Log.Warn().Err(err).Msg("the addresses to alert cannot be read; the message is kept and sent later")
	}
	sent := w.sendEach(ctx, addresses, queue)
	failed := err != nil
	w.update(func(s *State) {
		s.SendingUntil = time.Time{}
		s.Queue = slices.DeleteFunc(s.Queue, func(q Queued) bool {
			at := slices.IndexFunc(queue, func(had Queued) bool { return had.Number == q.Number })
			return at >= 0 && err == nil && len(sent[q.Number]) == len(addresses)
		})
		for i := range s.Queue {
			q := &s.Queue[i]
			q.Sent = append(q.Sent, sent[q.Number]...)
			slices.Sort(q.Sent)
			q.Sent = slices.Compact(q.Sent)
			failed = true
		}
	})
	if !failed {
		w.waits.Reset()
		w.tryAt = time.Time{}
		return
	}
	w.tryAt = time.Now().Add(w.waits.NextBackOff())
}

// lease takes the right to send, and drops what is too old. It is not this process's while another
// sends.
func (w *Watcher) lease() (queue []Queued, mine bool) {
	dropped := 0
	w.update(func(s *State) {
		now := w.Now()
		before := len(s.Queue)
		s.Queue = slices.DeleteFunc(s.Queue, func(q Queued) bool { return now.Sub(q.At) > keepFor })
		dropped = before - len(s.Queue)
		if mine = !s.SendingUntil.After(now) || s.SendingUntil.Sub(now) > leaseTime; mine { // the latter: the clock was set back
			s.SendingUntil = now.Add(leaseTime)
			queue = slices.Clone(s.Queue)
		}
	})
	if dropped > 0 {
		w.Log.Warn().Int("messages", dropped).Msg("alerts that could not be sent for three days are dropped")
	}
	return queue, mine
}

// sendEach returns the identities of the addresses that have each message, by its number.
func (w *Watcher) sendEach(ctx context.Context, addresses []string, queue []Queued) map[int64][]string {
	var mu sync.Mutex
	sent := map[int64][]string{}
	var all sync.WaitGroup
	for at, address := range addresses {
		all.Go(func() {
			id := identity(address)
			for _, q := range queue {
				if !slices.Contains(q.Sent, id) {
					if err := send(ctx, address, q.Title, q.Text); err != nil {
						w.Log.Warn().Int("address", at+1).Str("kind", kindOf(address)).AnErr("cause", err).Msg("an alert could not be sent; it is tried again")
						return // the later ones after it
					}
				}
				mu.Lock()
				sent[q.Number] = append(sent[q.Number], id)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return sent
}
