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
	go b.pump(ctx, s, out)
	return out
}

// pump moves a subscriber's events to its channel until ctx or the bus ends.
func (b *Bus) pump(ctx context.Context, s *subscriber, out chan<- thread.Event) {
	defer close(out)
	defer func() {
		b.mu.Lock()
		delete(b.subs, s)
		b.mu.Unlock()
	}()
	for {
		b.mu.Lock()
		batch := s.queue
		s.queue = nil
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
		case <-s.wake:
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

// SubscribeTo returns a channel of the events of a thread from now on.
func (b *Bus) SubscribeTo(ctx context.Context, id thread.ID, now time.Time) <-chan thread.Event {
	out := make(chan thread.Event)
	f := &follower{subscriber: subscriber{wake: make(chan struct{}, 1)}}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		close(out)
		return out
	}
	if b.follow.by == nil {
		b.follow.by = make(map[thread.ID]map[*follower]struct{})
	}
	if b.follow.by[id] == nil {
		b.follow.by[id] = make(map[*follower]struct{})
	}
	b.follow.by[id][f] = struct{}{}
	if s := b.follow.said[id]; s != nil {
		f.queueEvent(thread.Event{
			At: now, Kind: thread.EventSpeech, ThreadID: id, Speech: &thread.Speech{
				Request: s.request, Text: string(s.text), Missed: s.over,
			},
		})
	}
	go b.pumpTo(ctx, id, f, out)
	return out
}

// pumpTo moves a follower's events to its channel until ctx or the bus ends.
func (b *Bus) pumpTo(ctx context.Context, id thread.ID, f *follower, out chan<- thread.Event) {
	defer close(out)
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.follow.by[id], f)
		if len(b.follow.by[id]) == 0 {
			delete(b.follow.by, id)
		}
	}()
	for {
		b.mu.Lock()
		batch := f.queue
		f.queue, f.size = nil, 0
		if len(batch) == 0 && f.missed {
			f.missed = false
			batch = []thread.Event{{Kind: thread.EventSpeech, ThreadID: id,
				Speech: &thread.Speech{Request: f.lost, Missed: true}}}
		}
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
		case <-f.wake:
		case <-ctx.Done():
			return
		}
	}
}
