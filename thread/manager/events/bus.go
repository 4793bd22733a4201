// Package events delivers events to subscribers: all events, or those of one thread with its model's speech.
//
// What an event means to people follows it at once, as a happening of the event log, which the bus keeps.
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
	"orchestrator/thread/ground/backlog"
	"orchestrator/thread/manager/eventlog"
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
	log    eventlog.Log
	teller eventlog.Teller
	// changed holds a token when the log has changed since somebody looked; nil if nobody does.
	changed chan struct{}
	forgot  int // threads that were dropped from the log
}

// Publish numbers the event and delivers it to every subscriber.
func (b *Bus) Publish(e thread.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	b.deliver(e)
	told, later := b.teller.Tell(e)
	for _, h := range told {
		b.happened(h)
	}
	if later {
		time.AfterFunc(eventlog.Settle, func() { b.silent(e.ThreadID, e.At.Add(eventlog.Settle)) })
	}
}

// deliver numbers an event and delivers it. mu is held.
func (b *Bus) deliver(e thread.Event) {
	b.seq++
	e.Seq = b.seq
	if e.Status != nil {
		e.Status.Seq = b.seq
	}
	for s := range b.subs {
		if len(s.queue) >= mostBehind {
			s.queue = nil
		}
		s.queue = append(s.queue, e)
		s.wake.Notify()
	}
	b.follow.publish(e)
}

// happened adds a happening to the log, with the number that its event gets. mu is held.
func (b *Bus) happened(h thread.Happening) {
	h.Seq = b.seq + 1
	b.log.Add(h)
	b.change()
	b.deliver(thread.Event{At: h.At, Kind: thread.EventHappened, ThreadID: h.Thread, Happening: &h})
}

// silent tells that a thread asks if what it asks is still not known.
func (b *Bus) silent(id thread.ID, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if h, asks := b.teller.Silent(id, now); asks && !b.closed {
		b.happened(h)
	}
}

// change tells who keeps the log that it has changed. mu is held.
func (b *Bus) change() {
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

// StartAfter makes the next event's number follow n; call it before the first. What happened before now is not told.
func (b *Bus) StartAfter(n int64, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seq, b.teller.Start = n, now
}

// Keep puts the log that an earlier run has left before what happened since, and returns a channel that has a token
// whenever the log has changed, closed with the bus. The next event's number follows those of the log.
func (b *Bus) Keep(earlier []thread.Happening) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	since := b.log
	b.log = eventlog.Log{}
	for _, h := range earlier {
		b.log.Add(h)
		b.seq = max(b.seq, h.Seq)
	}
	for _, h := range since.Find(thread.HappeningQuery{Limit: eventlog.Most}, "").Happenings {
		b.log.Add(h)
	}
	b.changed = make(chan struct{}, 1)
	if b.closed {
		close(b.changed)
	}
	return b.changed
}

// Forgot counts the calls of Forget.
func (b *Bus) Forgot() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.forgot
}

// Happenings returns what a query asks for, of one thread if id is set.
func (b *Bus) Happenings(q thread.HappeningQuery, id thread.ID) thread.HappeningList {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.log.Find(q, id)
}

// Forget drops from the log what is about a thread.
func (b *Bus) Forget(id thread.ID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.log.Forget(id)
	b.forgot++
	b.change()
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
	s := &subscriber{wake: backlog.NewWake()}
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
	f := &follower{subscriber: subscriber{wake: backlog.NewWake()}, thread: id}
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
func (b *Bus) pump(ctx context.Context, out chan<- thread.Event, wake backlog.Wake, take func() []thread.Event, remove func()) {
	defer close(out)
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		remove()
	}()
	backlog.Move(ctx, out, wake, func() ([]thread.Event, bool) {
		b.mu.Lock()
		defer b.mu.Unlock()
		return take(), b.closed
	})
}

// Close ends all subscriptions once the subscribers have read their backlog.
func (b *Bus) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.changed != nil && !b.closed {
		close(b.changed)
	}
	b.closed = true
	for s := range b.subs {
		s.wake.Notify()
	}
	b.follow.notify()
}
