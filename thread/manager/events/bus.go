// Package events delivers events to subscribers: all events, or those of one thread with its model's speech.
//
// Guarantees: publishing never blocks. Every event has its own number, larger than that of the event before; a
// subscriber that falls behind loses events, and can tell by the numbers or is told so. Its lock is taken last: no
// other lock is taken while it is held.
package events

import (
	"context"
	"sync"
	"time"

	"orchestrator/thread"
)

// Bus delivers events to subscribers. Publishing never blocks: a subscriber that falls behind loses its backlog and
// sees the gap in the next event's Seq. Followers of one thread get its events and its model's speech in one order; see
// follow.go.
type Bus struct {
	mu     sync.Mutex // guards all below
	seq    int64
	subs   map[*subscriber]struct{}
	follow followers
	closed bool
}

// Publish numbers the event and delivers it to every subscriber.
func (b *Bus) Publish(e thread.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	b.seq++
	e.Seq = b.seq
	if e.Status != nil {
		e.Status.Seq = b.seq
	}
	for s := range b.subs {
		if len(s.queue) >= backlog {
			s.queue = nil
		}
		s.queue = append(s.queue, e)
		s.notify()
	}
	b.follow.publish(e)
}

// StartAfter makes the next event's number follow n; call it before the first.
func (b *Bus) StartAfter(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seq = n
}

// Say delivers speech to the followers of a thread.
func (b *Bus) Say(e thread.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.follow.keep(e.ThreadID, *e.Speech)
		b.follow.publish(e)
	}
}

// Newest returns the number of the newest event; 0 before the first.
func (b *Bus) Newest() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.seq
}

// Subscribe returns a channel of the events from now on, closed when ctx or the bus ends.
func (b *Bus) Subscribe(ctx context.Context) <-chan thread.Event {
	out := make(chan thread.Event)
	s := &subscriber{wake: make(chan struct{}, 1)}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		close(out)
		return out
	}
	if b.subs == nil {
		b.subs = make(map[*subscriber]struct{})
	}
	b.subs[s] = struct{}{}
	go b.pump(ctx, out, s.wake, s.take, func() { delete(b.subs, s) })
	return out
}

// SubscribeTo returns a channel of what is published of a thread from now on, and first what its running response has
// said so far.
func (b *Bus) SubscribeTo(ctx context.Context, id thread.ID, now time.Time) <-chan thread.Event {
	out := make(chan thread.Event)
	f := &follower{subscriber: subscriber{wake: make(chan struct{}, 1)}, thread: id}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		close(out)
		return out
	}
	b.follow.add(f, now)
	go b.pump(ctx, out, f.wake, f.take, func() { b.follow.remove(f) })
	return out
}

// pump moves what a reader is told to its channel until ctx or the bus ends: take takes it from the reader's queue,
// remove removes the reader from the bus. Both are called with mu held.
func (b *Bus) pump(
	ctx context.Context, out chan<- thread.Event, wake <-chan struct{}, take func() []thread.Event, remove func(),
) {
	defer close(out)
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		remove()
	}()
	for {
		b.mu.Lock()
		batch := take()
		closed := b.closed
		b.mu.Unlock()
		for _, e := range batch {
			select {
			case out <- e:
			case <-ctx.Done():
				return
			}
		}
		if len(batch) > 0 {
			continue
		}
		if closed {
			return
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return
		}
	}
}

// Close ends all subscriptions once the subscribers have read their backlog.
func (b *Bus) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	for s := range b.subs {
		s.notify()
	}
	b.follow.notify()
}
